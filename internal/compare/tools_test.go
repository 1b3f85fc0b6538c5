package compare

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/stats"
)

const (
	iperfJSON  = `{"start":{"version":"iperf 3.12"},"intervals":[{"sum":{"bits_per_second":1}}],"end":{"sum_sent":{"bytes":9,"bits_per_second":95e8,"sender":true},"sum_received":{"bytes":9,"bits_per_second":94e8,"sender":true}}}`
	iperfBidir = `{"start":{},"intervals":[],"end":{"sum_received":{"bytes":9,"bits_per_second":7e9},"sum_received_bidir_reverse":{"bytes":9,"bits_per_second":9e9}}}`
	iperfUDP   = `{"start":{},"intervals":[],"end":{"sum":{"bytes":9,"bits_per_second":1e9,"lost_percent":10}}}`
	hyperJSON  = `{"results":[{"command":"sleep 1","mean":1,"times":[1.01,1.02,1.03],"exit_codes":[0,0,1]},{"command":"sleep 2","times":[2.01,2.02],"exit_codes":[0,0]}]}`
	fioJSON    = "fio: this platform does not support process shared mutexes\n" + `{"fio version":"fio-3.33","jobs":[{"jobname":"a","error":0,"read":{"iops":100,"bw_bytes":4096},"write":{"iops":50,"bw_bytes":2048}},{"jobname":"b","error":5,"read":{"iops":1},"write":{}}]}`
	goText     = "goos: linux\nBenchmarkParse-8   \t 1000\t  1200 ns/op\t  56 B/op\t  7 allocs/op\nBenchmarkParse-8   \t 1000\t  1300.5 ns/op\t  56 B/op\t  7 allocs/op\nPASS\n"
	wrkText    = "Running 10s test @ http://localhost/\n  2 threads and 10 connections\n  100 requests in 10.0s, 1MB read\n  Socket errors: connect 0, read 5, write 0, timeout 1\nRequests/sec:  98765.43\nTransfer/sec:      1.00MB\n"
)

func TestTools(t *testing.T) {
	for _, c := range []struct {
		tool, text, which string
		values            []float64
		unit              string
		better            stats.Direction
		warning           string
	}{
		{"iperf3", iperfJSON, "", []float64{94e8}, "bit/s", stats.HigherIsBetter, ""},
		{"iperf3", iperfUDP, "", []float64{9e8}, "bit/s", stats.HigherIsBetter, "10 % of the datagrams"},
		{"iperf3", iperfBidir, "", []float64{16e9}, "bit/s", stats.HigherIsBetter, ""},
		{"hyperfine", hyperJSON, "sleep 1", []float64{1.01, 1.02, 1.03}, "s", stats.LowerIsBetter, "1 of 3 runs failed"},
		{"fio", fioJSON, "", []float64{151}, "1/s", stats.HigherIsBetter, "the job b failed with error 5"},
		{"fio", fioJSON, "bw_bytes", []float64{6144}, "byte/s", stats.HigherIsBetter, "error 5"},
		{"go test -bench", goText, "", []float64{1200, 1300.5}, "ns/op", stats.LowerIsBetter, ""},
		{"go test -bench", goText, "Parse-8 allocs/op", []float64{7, 7}, "allocs/op", stats.LowerIsBetter, ""},
		{"wrk", wrkText, "", []float64{98765.43}, "1/s", stats.HigherIsBetter, "read 5"},
	} {
		o, known, err := ReadTool("f", []byte(c.text), c.which)
		if err != nil || !known || o.Tool != c.tool || !slices.Equal(o.Values, c.values) || o.Unit != c.unit || o.Better != c.better {
			t.Errorf("%s: %+v, known %v, %v", c.tool, o, known, err)
		}
		if all := strings.Join(o.Warnings, "\n"); !strings.Contains(all, c.warning) || c.warning == "" && all != "" {
			t.Errorf("%s warns %q, want %q", c.tool, all, c.warning)
		}
	}
}

func TestToolsRefuse(t *testing.T) {
	for text, want := range map[string]string{
		`{"start":{},"intervals":[],"end":{},"error":"unable to connect"}`: "the run failed: unable to connect",
		`{"start":{},"intervals":[],"end":{}}`:                             "did the run end",
		hyperJSON:                                                          "results of 2: sleep 1, sleep 2",
	} {
		if _, known, err := ReadTool("f", []byte(text), ""); !known || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: known %v, %v; want %q", text, known, err, want)
		}
	}
	for _, text := range []string{"", "1\n2\n", `[1,2]`, `{"a":1}`, "x,y\n1,2\n", "Benchmark"} {
		if o, known, err := ReadTool("f", []byte(text), ""); known || err != nil {
			t.Errorf("%q is taken for %s (%v)", text, o.Tool, err)
		}
	}
}

func TestSides(t *testing.T) {
	file := func(name, text string) File { return File{name, []byte(text)} }
	a, err := ReadSide([]File{file("a1", iperfJSON), file("a2", iperfJSON)}, Input{})
	if err != nil || len(a.Values) != 2 || a.Name != "a1 and 1 more" {
		t.Fatal(a, err)
	}
	if _, err := ReadSide([]File{file("a1", iperfJSON), file("a2", wrkText)}, Input{}); err == nil {
		t.Error("throughput and requests are one sample")
	}
	if _, err := ReadSide([]File{file("a1", "1\n2\n"), file("a2", wrkText)}, Input{}); err == nil {
		t.Error("numbers and requests are one sample")
	}
	plain, err := ReadSide([]File{file("p", "1\n2\n3\n"), file("q", "4\n")}, Input{})
	if err != nil || !slices.Equal(plain.Values, []float64{1, 2, 3, 4}) || plain.Of != nil {
		t.Error(plain, err)
	}
	wrk, err := ReadSide([]File{file("w", wrkText)}, Input{})
	if err != nil {
		t.Fatal(err)
	}
	if metric, better, err := Agree([]Side{a, a, plain}); err != nil || metric != "throughput at the receiver, bit/s (iperf3)" || better != stats.HigherIsBetter {
		t.Error(metric, better, err)
	}
	if _, _, err := Agree([]Side{a, wrk}); err == nil {
		t.Error("iperf3's and wrk's numbers are compared")
	}
}

func FuzzTools(f *testing.F) {
	for _, text := range []string{iperfJSON, iperfUDP, iperfBidir, hyperJSON, fioJSON, goText, wrkText} {
		f.Add([]byte(text), "")
	}
	f.Fuzz(func(t *testing.T, data []byte, which string) {
		o, known, err := ReadTool("f", data, which)
		if known && err == nil && (len(o.Values) == 0 || o.Unit == "" || o.Metric == "" || o.Better == "") {
			t.Errorf("%+v", o)
		}
	})
}
