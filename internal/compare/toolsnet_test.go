package compare

import (
	"bytes"
	"compress/gzip"
	"slices"
	"strings"
	"testing"

	"linerate/internal/stats"
)

// What these tools print, in form; the numbers are made up.
const (
	iperfBidir = `{"start":{},"intervals":[],"end":{"sum_received":{"bytes":9,"bits_per_second":7e9},"sum_received_bidir_reverse":{"bytes":9,"bits_per_second":9e9}}}`
	iperfOut   = "Connecting to host 198.18.0.2, port 5201\n[  5]   0.00-1.00   sec  1.86 GBytes  15.9 Gbits/sec    2   2.37 MBytes\n- - -\n" +
		"[  5]   0.00-10.00  sec  1.86 GBytes  15.9 Gbits/sec    2             sender\n[  5]   0.00-10.04  sec  1.85 GBytes  15.8 Gbits/sec                  receiver\n\niperf Done.\n"
	iperfThree = "Connecting to host 198.18.0.2, port 5201\n[  5]   0.00-10.00  sec  18.6 GBytes  5.00 Gbits/sec                  receiver\n" +
		"[  7]   0.00-10.00  sec  18.6 GBytes  4.00 Gbits/sec                  receiver\n[SUM]   0.00-10.00  sec  18.6 GBytes  9.00 Gbits/sec                  receiver\n"
	iperfLoses = "Connecting to host 198.18.0.2, port 5201\n[  5]   0.00-1.00   sec  35.8 MBytes   300 Mbits/sec  0.000 ms  0/1155 (0%)  sender\n" +
		"[  5]   0.00-1.00   sec  30.4 MBytes   255 Mbits/sec  0.034 ms  173/1155 (15%)  receiver\n"
	iperfTwoWays = "Connecting to host 198.18.0.2, port 5201\n[  5][TX-C]   0.00-1.00   sec   600 MBytes  5.03 Gbits/sec                  receiver\n" +
		"[  7][RX-C]   0.00-1.00   sec   605 MBytes  5.06 Gbits/sec                  receiver\n"
	flentJSON = `{"metadata":{"SERIES_META":{"Ping (ms) ICMP":{"UNITS":"ms","MEAN_VALUE":0.5},"TCP upload":{"UNITS":"Mbits/s"}},"TOTAL_LENGTH":6},"results":{"Ping (ms) ICMP":[0.4,0.6],"TCP upload":[null,900,950,null]},"x_values":[0,0.2,0.4,0.6],"version":4}`
	trexJSON  = `{"0":{"ipackets":990,"opackets":1000,"rx_pps":500.5},"1":{"ipackets":1000,"opackets":1000,"rx_pps":499.5},"flow_stats":{},"global":{"rx_pps":1000},"total":{"ipackets":1990,"opackets":2000,"rx_pps":1000}}`
	trexEnded = `{"0":{"ipackets":1000,"opackets":1000,"rx_pps":0},"global":{}}`
	csitMRR   = `{"version":"1.4.0","test_id":"a.b","passed":true,"result":{"type":"mrr","receive_rate":{"rate":{"avg":20.5e6,"stdev":1e3,"unit":"pps","values":[20e6,21e6]}}}}`
	csitNDR   = `{"version":"1.4.0","test_id":"a.b","passed":false,"message":"a reason","result":{"type":"ndrpdr","ndr":{"lower":{"rate":{"unit":"pps","value":10e6}},"upper":{"rate":{"unit":"pps","value":11e6}}},"pdr":{"lower":{"rate":{"unit":"pps","value":12e6}},"upper":{"rate":{"unit":"pps","value":13e6}}}}}`
	csitLoss  = `{"test_id":"a.b","result":{"type":"reconf","loss":{"packet":{"unit":"packets","value":1},"time":{"unit":"s","value":0.25}},"aggregate_rate":{}}}`
	fioNewest = "a: (g=0): rw=randrw, bs=(R) 4096B-4096B\n...\nfio-3.33\nStarting 2 processes\n\na: (groupid=0, jobs=1): err= 0: pid=5502: Mon Jan  1 00:00:00 2024\n" +
		"  read: IOPS=74.2k, BW=290MiB/s (304MB/s)(291MiB/1006msec)\n  write: IOPS=800, BW=288KiB/s (302kB/s)(290MiB/1006msec); 0 zone resets\n" +
		"a: (groupid=0, jobs=1): err= 5 (file:io.c, func=full, error=x): pid=5503: Mon Jan  1 00:00:00 2024\n  read: IOPS=57.1k, BW=223MiB/s (234MB/s)(225MiB/1008msec)\n"
	fioOldest = "test: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=4\nfio-2.1.3\nStarting 1 process\n\n" +
		"test: (groupid=0, jobs=1): err= 0: pid=7506: Mon Jan  1 00:00:00 2016\n  read : io=1536.0MB, bw=41006KB/s, iops=10251, runt= 38357msec\n"
)

func TestToolsOfNetworks(t *testing.T) {
	for _, c := range []struct {
		tool, text, which, metric string
		values                    []float64
		unit                      string
		better                    stats.Direction
		warning                   string
	}{
		{"iperf3", iperfBidir, "", "both directions", []float64{16e9}, "bit/s", stats.HigherIsBetter, ""},
		{"iperf3", iperfOut, "", "receiver", []float64{15.8e9}, "bit/s", stats.HigherIsBetter, "rounds"},
		{"iperf3", iperfThree, "", "receiver", []float64{9e9}, "bit/s", stats.HigherIsBetter, "rounds"},
		{"iperf3", iperfLoses, "", "receiver", []float64{255e6}, "bit/s", stats.HigherIsBetter, "15 % of the datagrams"},
		{"iperf3", iperfTwoWays, "", "both directions", []float64{10.09e9}, "bit/s", stats.HigherIsBetter, "rounds"},
		{"flent", flentJSON, "TCP upload", "mean of TCP upload", []float64{925}, "Mbit/s", stats.HigherIsBetter, ""},
		{"flent", flentJSON, "Ping (ms) ICMP", "mean of Ping", []float64{0.5}, "ms", stats.LowerIsBetter, ""},
		{"TRex", trexJSON, "", "packets received", []float64{1000}, "1/s", stats.HigherIsBetter, "0.5 % of the packets were lost"},
		{"TRex", trexJSON, "loss", "share", []float64{0.5}, "%", stats.LowerIsBetter, ""},
		{"TRex", `{"type":"x","stats":` + trexEnded + `}`, "ipackets", "in all", []float64{1000}, "packets", stats.HigherIsBetter, ""},
		{"FD.io CSIT", csitMRR, "", "trials", []float64{20e6, 21e6}, "1/s", stats.HigherIsBetter, ""},
		{"FD.io CSIT", csitNDR, "", "PDR", []float64{12e6}, "1/s", stats.HigherIsBetter, "the test failed: a reason"},
		{"FD.io CSIT", csitNDR, "ndr", "NDR", []float64{10e6}, "1/s", stats.HigherIsBetter, "failed"},
		{"FD.io CSIT", csitLoss, "", "reconfiguration", []float64{0.25}, "s", stats.LowerIsBetter, ""},
		{"fio", fioNewest, "", "operations", []float64{132_100}, "1/s", stats.HigherIsBetter, "failed with error 5"},
		{"fio", fioNewest, "bw_bytes", "read and written", []float64{538_302_000}, "byte/s", stats.HigherIsBetter, "rounds"},
		{"fio", fioOldest, "", "operations", []float64{10251}, "1/s", stats.HigherIsBetter, "rounds"},
		{"fio", fioOldest, "bw_bytes", "read and written", []float64{41006 * 1024}, "byte/s", stats.HigherIsBetter, "rounds"},
	} {
		o, known, err := ReadTool("f", []byte(c.text), c.which)
		same := slices.EqualFunc(o.Values, c.values, func(a, b float64) bool { return a-b < 1e-6*b && b-a < 1e-6*b })
		if err != nil || !known || o.Tool != c.tool || !same || o.Unit != c.unit || o.Better != c.better || !strings.Contains(o.Metric, c.metric) {
			t.Errorf("%s %s: %+v, known %v, %v", c.tool, c.which, o, known, err)
		}
		if all := strings.Join(o.Warnings, "\n"); !strings.Contains(all, c.warning) || c.warning == "" && all != "" {
			t.Errorf("%s warns %q, want %q", c.tool, all, c.warning)
		}
	}
}

func TestToolsOfNetworksRefuse(t *testing.T) {
	for text, want := range map[string]string{
		trexEnded: "rx_pps is of the moment",
		flentJSON: "results of 2: Ping (ms) ICMP, TCP upload",
		`{"metadata":{"SERIES_META":{}},"results":{"x":[1]}}`:                                    "the unit of x",
		`{"test_id":"a","result":{"type":"unknown"}}`:                                            "did the run end",
		"Connecting to host 198.18.0.2, port 5201\niperf3: error - broken\n0 bits/sec\n":         "did the run end",
		`{"test_id":"a","result":{"type":"mrr","receive_rate":{"rate":{"values":[1],"a":"b"}}}}`: "no unit",
	} {
		if _, known, err := ReadTool("f", []byte(text), ""); !known || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: known %v, %v; want %q", text, known, err, want)
		}
	}
	for _, text := range []string{`{"0":{"a":1},"opackets":3}`, `{"0":{"opackets":3}}`, `{"metadata":{},"results":{}}`} {
		if o, known, _ := ReadTool("f", []byte(text), ""); known {
			t.Errorf("%q is taken for %s", text, o.Tool)
		}
	}
}

// TestCompressedOutput: flent's files are compressed, and what would not end is not read.
func TestCompressedOutput(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(flentJSON)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if o, known, err := ReadTool("f", b.Bytes(), "TCP upload"); err != nil || !known || o.Tool != "flent" {
		t.Errorf("%+v %v %v", o, known, err)
	}
	if _, known, err := ReadTool("f", b.Bytes()[:b.Len()/2], ""); known && err == nil {
		t.Error("half a file is read")
	}
}
