package compare

import (
	"slices"
	"strings"
	"testing"

	"linerate/internal/stats"
)

const (
	iperfJSON = `{"start":{"version":"iperf 3.12"},"intervals":[{"sum":{"bits_per_second":1}}],"end":{"sum_sent":{"bytes":9,"bits_per_second":95e8,"sender":true},"sum_received":{"bytes":9,"bits_per_second":94e8,"sender":true}}}`
	iperfUDP  = `{"start":{},"intervals":[],"end":{"sum":{"bytes":9,"bits_per_second":1e9,"lost_percent":10}}}`
	ohaJSON   = `{"summary":{"successRate":0.99,"total":10,"requestsPerSec":12345.5},"latencyPercentiles":{"p50":0.01},"statusCodeDistribution":{"200":90,"503":9}}`
	hyperJSON = `{"results":[{"command":"sleep 1","mean":1,"times":[1.01,1.02,1.03],"exit_codes":[0,0,1]},{"command":"sleep 2","times":[2.01,2.02],"exit_codes":[0,0]}]}`
	fioJSON   = "fio: this platform does not support process shared mutexes\n" + `{"fio version":"fio-3.33","jobs":[{"jobname":"a","error":0,"read":{"iops":100,"bw_bytes":4096},"write":{"iops":50,"bw_bytes":2048}},{"jobname":"b","error":5,"read":{"iops":1},"write":{}}]}`
	goText    = "goos: linux\nBenchmarkParse-8   \t 1000\t  1200 ns/op\t  56 B/op\t  7 allocs/op\nBenchmarkParse-8   \t 1000\t  1300.5 ns/op\t  56 B/op\t  7 allocs/op\nPASS\n"
	wrkText   = "Running 10s test @ http://localhost/\n  2 threads and 10 connections\n  100 requests in 10.0s, 1MB read\n  Socket errors: connect 0, read 5, write 0, timeout 1\nRequests/sec:  98765.43\nTransfer/sec:      1.00MB\n"
	h2Text    = "starting benchmark...\nfinished in 1.05s, 9523.81 req/s, 1.20MB/s\nrequests: 10000 total, 10000 started, 10000 done, 9998 succeeded, 2 failed, 0 errored, 0 timeout\n"
	netText   = "MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to localhost () port 0 AF_INET\nRecv   Send    Send\nSocket Socket  Message  Elapsed\nSize   Size    Size     Time     Throughput\nbytes  bytes   bytes    secs.    10^6bits/sec\n\n131072  16384  16384    10.00    9415.21\n"
	netRR     = "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 () port 0 AF_INET to localhost () port 0 AF_INET : first burst 0\nLocal /Remote\nSocket Size   Request  Resp.   Elapsed  Trans.\nSend   Recv   Size     Size    Time     Rate\nbytes  Bytes  bytes    bytes   secs.    per sec\n\n16384  131072 1        1       10.00    23456.78\n16384  131072\n"
	// As netperf 2.7.1 printed them in a namespace.
	netCPU  = "MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 198.18.0.1 () port 0 AF_INET\nRecv   Send    Send                          Utilization       Service Demand\nSocket Socket  Message  Elapsed              Send     Recv     Send    Recv\nSize   Size    Size     Time     Throughput  local    remote   local   remote\nbytes  bytes   bytes    secs.    10^6bits/s  % S      % S      us/KB   us/KB\n\n131072  16384  16384    1.00       9526.15   100.00   100.00   1.720   1.720  \n" //nolint:misspell // netperf's own word
	netUDP  = "MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 198.18.0.1 () port 0 AF_INET\nSocket  Message  Elapsed      Messages                \nSize    Size     Time         Okay Errors   Throughput\nbytes   bytes    secs            #      #   10^6bits/sec\n\n212992    1400   1.00       196866      0    2203.62\n212992           1.00       103054           1153.53\n\n"
	netCRR  = "MIGRATED TCP Connect/Request/Response TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 198.18.0.1 () port 0 AF_INET\nLocal /Remote\nSocket Size   Request  Resp.   Elapsed  Trans.\nSend   Recv   Size     Size    Time     Rate         \nbytes  Bytes  bytes    bytes   secs.    per sec   \n\n16384  131072 1        1       1.00     13874.95   \n16384  131072\n"
	netOmni = "OMNI Send TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 198.18.0.1 () port 0 AF_INET\nLocal       Remote      Local  Elapsed Throughput Throughput  \nSend Socket Recv Socket Send   Time               Units       \nSize        Size        Size   (sec)                          \nFinal       Final                                             \n4194304     1509276     16384  1.00    9501.68    10^6bits/s  \n"
	netWide = "MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 198.18.0.1 () port 0 AF_INET : +/-15.000% @ 95% conf. \n!!! WARNING\n!!! Desired confidence was not achieved within the specified iterations.\n!!! Confidence intervals: Throughput      : 82.189%\n!!!                       Local CPU util  : 0.000%\n\nRecv   Send    Send                          \nSocket Socket  Message  Elapsed              \nSize   Size    Size     Time     Throughput  \nbytes  bytes   bytes    secs.    10^6bits/sec  \n\n131072  16384  16384    1.00     4446.40   \n"
	pktText = "Params: count 10\nResult: OK: 1234(c1000+d234) usec, 10000000 (60byte,0frags)\n  8101234pps 3888Mb/sec (3888592320bps) errors: 0\nResult: OK: 1234(c1000+d234) usec, 10000000 (60byte,0frags)\n  1000000pps 480Mb/sec (480000000bps) errors: 3\n"
	critCSV = "group,function,value,throughput_num,throughput_type,sample_measured_value,unit,iteration_count\nfib,rec,20,,,5000,ns,10\nfib,rec,20,,,10500,ns,20\n"
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
		{"oha", ohaJSON, "", []float64{12345.5}, "1/s", stats.HigherIsBetter, "1 % of the requests failed"},
		{"hyperfine", hyperJSON, "sleep 1", []float64{1.01, 1.02, 1.03}, "s", stats.LowerIsBetter, "1 of 3 runs failed"},
		{"fio", fioJSON, "", []float64{151}, "1/s", stats.HigherIsBetter, "the job b failed with error 5"},
		{"fio", fioJSON, "bw_bytes", []float64{6144}, "byte/s", stats.HigherIsBetter, "error 5"},
		{"go test -bench", goText, "", []float64{1200, 1300.5}, "ns/op", stats.LowerIsBetter, ""},
		{"go test -bench", goText, "Parse-8 allocs/op", []float64{7, 7}, "allocs/op", stats.LowerIsBetter, ""},
		{"wrk", wrkText, "", []float64{98765.43}, "1/s", stats.HigherIsBetter, "read 5"},
		{"h2load", h2Text, "", []float64{9523.81}, "1/s", stats.HigherIsBetter, "2 requests failed"},
		{"netperf", netText, "", []float64{9415.21}, "Mbit/s", stats.HigherIsBetter, ""},
		{"netperf", netText + netText, "", []float64{9415.21, 9415.21}, "Mbit/s", stats.HigherIsBetter, ""},
		{"criterion", `{"sampling_mode":"Linear","iters":[10,20],"times":[5000,10500]}`, "", []float64{500, 525}, "ns", stats.LowerIsBetter, ""},
		{"criterion", strings.ReplaceAll(critCSV, ",ns,", ",cycles,"), "", []float64{500, 525}, "cycles", stats.LowerIsBetter, ""},
		{"netperf", netCPU, "", []float64{9526.15}, "Mbit/s", stats.HigherIsBetter, ""},
		{"netperf", netUDP, "", []float64{1153.53}, "Mbit/s", stats.HigherIsBetter, "47.7 % of the datagrams were lost"},
		{"netperf", netCRR, "", []float64{13874.95}, "1/s", stats.HigherIsBetter, ""},
		{"netperf", netOmni, "", []float64{9501.68}, "Mbit/s", stats.HigherIsBetter, ""},
		{"netperf", netWide, "", []float64{4446.4}, "Mbit/s", stats.HigherIsBetter, "82.189 %"},
		{"netperf", netRR, "", []float64{23456.78}, "1/s", stats.HigherIsBetter, ""},
		{"netperf", "THROUGHPUT=9415.21\nTHROUGHPUT_UNITS=10^6bits/s\n", "", []float64{9415.21}, "Mbit/s", stats.HigherIsBetter, ""},
		{"pktgen", pktText, "", []float64{9101234}, "1/s", stats.HigherIsBetter, "3 packets could not be sent"},
		{"criterion", critCSV, "", []float64{500, 525}, "ns", stats.LowerIsBetter, ""},
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
		strings.Replace(netText, "10^6bits/sec", "KBytes/sec", 1):          "not in 10^6bits/sec",
		strings.Replace(critCSV, ",10\n", ",0\n", 1):                       "is no time",
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
	a, err := ReadSide([]File{file("a1", netText), file("a2", netText)}, Input{})
	if err != nil || len(a.Values) != 2 || a.Name != "a1 and 1 more" {
		t.Fatal(a, err)
	}
	if _, err := ReadSide([]File{file("a1", netText), file("a2", netRR)}, Input{}); err == nil {
		t.Error("throughput and transactions are one sample")
	}
	if _, err := ReadSide([]File{file("a1", "1\n2\n"), file("a2", netRR)}, Input{}); err == nil {
		t.Error("numbers and transactions are one sample")
	}
	plain, err := ReadSide([]File{file("p", "1\n2\n3\n"), file("q", "4\n")}, Input{})
	if err != nil || !slices.Equal(plain.Values, []float64{1, 2, 3, 4}) || plain.Of != nil {
		t.Error(plain, err)
	}
	own, err := ReadSide([]File{file("h.json", hyperJSON)}, Input{Column: "results.1.times"})
	if err != nil || !slices.Equal(own.Values, []float64{2.01, 2.02}) {
		t.Error(own, err)
	}
	wrk, err := ReadSide([]File{file("w", wrkText)}, Input{})
	if err != nil {
		t.Fatal(err)
	}
	if metric, better, err := Agree([]Side{a, a, plain}); err != nil || metric != "throughput, Mbit/s (netperf)" || better != stats.HigherIsBetter {
		t.Error(metric, better, err)
	}
	if _, _, err := Agree([]Side{a, wrk}); err == nil {
		t.Error("netperf's and wrk's numbers are compared")
	}
}

func FuzzTools(f *testing.F) {
	for _, text := range []string{iperfJSON, iperfUDP, ohaJSON, hyperJSON, fioJSON, goText, wrkText, h2Text, netText, netRR, pktText, critCSV,
		iperfBidir, iperfOut, iperfThree, flentJSON, trexJSON, csitMRR, csitNDR, csitLoss, fioNewest, fioOldest} {
		f.Add([]byte(text), "")
	}
	f.Fuzz(func(t *testing.T, data []byte, which string) {
		o, known, err := ReadTool("f", data, which)
		if known && err == nil && (len(o.Values) == 0 || o.Unit == "" || o.Metric == "" || o.Better == "") {
			t.Errorf("%+v", o)
		}
	})
}
