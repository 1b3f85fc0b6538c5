package tooltext

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"linerate/internal/hint"
)

// The captures are of the public netbenches archive; those of FreeBSD 14.0's pkt-gen are
// of a tap on Linux: interrupted, with averages (-A, units normalised), and what it
// forgot.
func TestPktGen(t *testing.T) {
	for _, c := range []struct {
		file    string
		packets uint64
		seconds float64
		closed  bool
	}{
		{"fbsd15.sender", 1000000000, 67.21, true},
		{"fbsd10.sender", 80000000, 94.72, true},
		{"fbsd16-inet6.sender", 80000000, 55.98, true},
		{"fbsd13.receiver", 136627299, 67.30, true},
		{"fbsd14-interrupted.sender", 820520, 4.98, true},
		{"fbsd14-average.sender", 6000, 0.03, true},
		{"fbsd15.receiver", 0, 0, false},
	} {
		data, err := os.ReadFile("testdata/" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		a, err := PktGen(string(data))
		if (err == nil) != c.closed || err != nil && !errors.Is(err, ErrUnclosed) {
			t.Errorf("%s: %v", c.file, err)
		}
		if c.closed && (a.Packets != c.packets || a.Seconds != c.seconds || !a.Counted) {
			t.Errorf("%s: %+v", c.file, a)
		}
		if !c.closed && (a.Packets < 100e6 || a.Counted) {
			t.Errorf("%s: its intervals come to %+v", c.file, a)
		}
	}
	if a, err := PktGen("Received 12 packets 720 bytes 3 events 60 bytes each in -1.00 seconds.\n"); err != nil || a.Packets != 12 || a.Seconds != 0 {
		t.Errorf("a receiver of little: %+v, %v", a, err)
	}
	forgot, err := os.ReadFile("testdata/fbsd14-lost.receiver")
	if err != nil {
		t.Fatal(err)
	}
	if a, err := PktGen(string(forgot)); err == nil || !strings.Contains(err.Error(), "counted 6 packets on the way") || a.Packets != 6 || a.Counted {
		t.Errorf("a receiver that forgot: %+v, %v", a, err)
	}
	failed := "881.494448 sender_body [1701] start, fd 3 main_fd 3\n881.6 sender_body [1801] poll error on 3 ring 0-0\n881.9 main_thread [2780] 0 pps (0 pkts 0 bps in 1000872 usec) 0.00 avg_batch 0 min_space\n881.9 main_thread [2812] ouch, thread 0 exited with error\nSent 12 packets 720 bytes 3 events 60 bytes each in -881.49 seconds.\n"
	if a, err := PktGen(failed); err == nil || !strings.Contains(err.Error(), "could not go on: poll error on 3 ring 0-0") || a.Counted || hint.Of(err) == "" {
		t.Errorf("a thread that failed: %+v, %v", a, err)
	}
	none := "784.171651 main_thread [2785] 0 pps (0 pkts 0 bps in 890210 usec) 0.00 avg_batch 99999 min_space\nReceived nothing.\n"
	if a, err := PktGen(none); err != nil || a.Packets != 0 || !a.Counted {
		t.Errorf("a receiver of nothing: %+v, %v", a, err)
	}
	if a, err := PktGen("001.0 main_thread [2786] 1.500 Mpps (1.500 Mpkts 720.0 Mbps in 1000000 usec) 5.0 avg_batch 0 min_space\n"); err == nil || a.Packets != 1500000 || a.Seconds != 1 {
		t.Errorf("an interval with prefixes: %+v, %v", a, err)
	}
	if a, err := PktGen("001.0 main_thread [2781] 1500 pps [avg/std 1400/100 pps](3000 pkts 720000 bps in 2000000 usec) 5.0 avg_batch 0 min_space\n"); err == nil || a.Packets != 3000 || a.Seconds != 2 {
		t.Errorf("an interval with averages (-A): %+v, %v", a, err)
	}
}

func TestPatterns(t *testing.T) {
	iperf := `{"start":{"version":"3"},"end":{"streams":[{"udp":{"packets":1e3}}],"sum":{"packets":9000,"seconds":2.5,"name":"x"}}}`
	for _, c := range []struct {
		pattern, text, want string
		packets             uint64
		seconds, pps        float64
	}{
		{`Sent (?P<packets>\d+) in (?P<seconds>[0-9.]+)`, "Sent 1 in 1\nSent 20 in 2.5 s\n", "", 20, 2.5, 0},
		{`(?P<pps>[0-9.]+) pps`, "1200.5 pps", "", 0, 0, 1200.5},
		{`json packets=$.end.sum.packets seconds=$.end.sum.seconds`, iperf, "", 9000, 2.5, 0},
		{`json packets=$.end.streams[0].udp.packets`, iperf, "", 1000, 0, 0},
		{`json packets=$.end.streams[7].udp.packets`, iperf, "no number at $.end.streams.7", 0, 0, 0},
		{`json packets=$.end.sum.name`, iperf, "no number at", 0, 0, 0},
		{`json packets=$.end`, "connect failed: refused", "no JSON document", 0, 0, 0},
		{`(?P<packets>\d+)`, "connect failed: refused\n", `its last line is "connect failed: refused"`, 0, 0, 0},
		{`(?P<packets>\d+)`, "", "it printed nothing", 0, 0, 0},
		{`(?P<packets>\S+)`, "99999999999999999999", "is no number of packets", 0, 0, 0},
		{`(?P<packets>\S+) (?P<seconds>\S+)`, "1 NaN", "is no number of seconds", 0, 0, 0},
		{`(?P<packets>\S+) (?P<seconds>\S+)`, "1.5 2", "is no number of packets", 0, 0, 0},
		{`(?P<pps>\S+)`, "-5", "is no number of packets per second", 0, 0, 0},
	} {
		p, err := Compile(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		a, err := p.Read(c.text)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s in %q: %v, want %q", c.pattern, c.text, err, c.want)
			}
			continue
		}
		if err != nil || a.Packets != c.packets || a.Seconds != c.seconds || a.PPS != c.pps || a.Counted != (c.packets > 0) {
			t.Errorf("%s: %+v, %v", c.pattern, a, err)
		}
	}
}

func TestRefusedPatterns(t *testing.T) {
	for _, c := range []struct{ pattern, want, advice string }{
		{"(", "not a regular expression", ""},
		{`\d+`, "names no group that counts", "(?P<packets>"},
		{`(?P<packet>\d+)`, `unknown quantity "packet"`, "packets"},
		{`json packets=end.sum`, "no path into a JSON document", "packets=$."},
		{`json packets=$.a..b`, "no path into", ""},
		{`json packets=$.a[99999]`, "no path into", ""},
		{`json seconds=$.a`, "names no group", ""},
		{strings.Repeat("x", 5000), "longer than", ""},
	} {
		_, err := Compile(c.pattern)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(hint.Of(err), c.advice) {
			t.Errorf("%.40s: %v (hint %q), want %q", c.pattern, err, hint.Of(err), c.want)
		}
	}
}

// sound fails when an account is outside what is believed.
func sound(t *testing.T, a Account) {
	if a.Packets > maxPackets+1e15 || math.IsNaN(a.Seconds) || a.Seconds < 0 || math.IsNaN(a.PPS) || a.PPS < 0 {
		t.Fatalf("%+v", a)
	}
}

func FuzzPktGen(f *testing.F) {
	for _, name := range []string{"fbsd15.sender", "fbsd10.sender", "fbsd13.receiver"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data[max(0, len(data)-2000):]))
	}
	f.Add("Received 1 packets 1 bytes 1 events 1 bytes each in -. seconds.")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := PktGen(text)
		if err == nil {
			sound(t, a)
		}
	})
}

func FuzzPattern(f *testing.F) {
	f.Add(`(?P<packets>\d+) (?P<seconds>\S+)`, "1 2")
	f.Add(`json packets=$.a[0].b`, `{"a":[{"b":1e400}]}`)
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, err := Compile(pattern)
		if err != nil {
			return
		}
		if a, err := p.Read(text); err == nil {
			sound(t, a)
		}
	})
}
