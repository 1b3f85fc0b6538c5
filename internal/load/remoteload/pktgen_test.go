package remoteload

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/port"
)

// said returns a summary as pkt-gen prints it.
func said(packets int, seconds string) string {
	return fmt.Sprintf("Sent %d packets 64000 bytes 3 events 124 bytes each in %s seconds.\n", packets, seconds)
}

// sender returns a generator without a running program.
func sender() *pktGenerator {
	return &pktGenerator{&PktGen{}, load.Spec{Device: "ix0", Sizes: []int{128}}}
}

// TestAccountOfSlowAndFast: a deviation from the pace is reported in either direction, and frames that
// were due but not sent are counted.
func TestAccountOfSlowAndFast(t *testing.T) {
	second := load.Limit{Duration: time.Second}
	for name, c := range map[string]struct {
		said    string
		offer   load.Offer
		counted uint64
		want    load.Sent
	}{
		"on its pace":         {said(1000, "1.00"), load.Offer{Rate: load.Rate{PPS: 1000}, Limit: second}, 1000, load.Sent{TxPackets: 1000, TxPPS: 1000}},
		"half as fast":        {said(500, "1.00"), load.Offer{Rate: load.Rate{PPS: 1000}, Limit: second}, 500, load.Sent{TxPackets: 500, TxPPS: 500, PacingError: 0.5, Unsent: 500}},
		"half as fast again":  {said(1500, "1.00"), load.Offer{Rate: load.Rate{PPS: 1000}, Limit: second}, 1500, load.Sent{TxPackets: 1500, TxPPS: 1500, PacingError: 0.5}},
		"so many frames":      {said(500, "2.00"), load.Offer{Rate: load.Rate{PPS: 1000}, Limit: load.Limit{Packets: 500, Duration: time.Second}}, 500, load.Sent{TxPackets: 500, TxPPS: 250, PacingError: 0.75}},
		"a time it tells not": {said(500, "-1.00"), load.Offer{Limit: load.Limit{Duration: 2 * time.Second}}, 500, load.Sent{TxPackets: 500, TxPPS: 250}},
	} {
		s, err := sender().account(c.said, c.offer, c.counted)
		if err != nil || s.TxPackets != c.want.TxPackets || s.TxPPS != c.want.TxPPS || s.PacingError != c.want.PacingError || s.Unsent != c.want.Unsent || s.TxBytes != 128*s.TxPackets || len(s.Warnings) > 0 {
			t.Errorf("%s: %+v, %v; want %+v", name, s, err, c.want)
		}
	}
	s, err := sender().account(said(1000, "1.00"), load.Offer{Rate: load.Rate{PPS: 1000}, Limit: second}, 900)
	if err != nil || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "says it sent 1000 frames, and ix0 counts 900") {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestDiffer: a difference of a few frames, or of one in a thousand, can be the machine's own traffic.
func TestDiffer(t *testing.T) {
	for _, c := range []struct {
		a, b uint64
		want bool
	}{{100, 100, false}, {120, 100, false}, {121, 100, true}, {79, 100, true}, {1_001_020, 1_000_000, false}, {1_001_021, 1_000_000, true}, {998_980, 1_000_000, false}, {998_979, 1_000_000, true}} {
		if got := differ(c.a, c.b); got != c.want {
			t.Errorf("%d and %d differ: %v", c.a, c.b, got)
		}
	}
}

// TestBalance: frames that were sent but did not arrive are lost; a few more than were sent are the
// machines' own traffic, many more are an error.
func TestBalance(t *testing.T) {
	for _, c := range []struct {
		tx, rx                uint64
		wantRx, foreign, lost uint64
	}{{1000, 1000, 1000, 0, 0}, {1000, 990, 990, 0, 10}, {1000, 1020, 1000, 20, 0}, {1000, 1021, 1021, 0, 0}, {0, 5, 0, 5, 0}, {1000, 0, 0, 0, 1000}} {
		g := load.Received{RxPackets: c.rx, Seconds: 2}
		(&pktReceiver{}).close(&g, load.Sent{TxPackets: c.tx, TxBytes: 64 * c.tx})
		if g.RxPackets != c.wantRx || g.Foreign != c.foreign || *g.Lost != c.lost || *g.TxPackets != c.tx || g.RxPPS != float64(c.wantRx)/2 || c.tx > 0 && g.RxBytes != 64*c.wantRx {
			t.Errorf("%+v: %+v, lost %d", c, g, *g.Lost)
		}
	}
}

// TestStreams: what the generators of a stream sent since its receiver was reset is added up, without
// other streams.
func TestStreams(t *testing.T) {
	var e PktGen
	e.add(1, load.Sent{TxPackets: 5, TxBytes: 50, Seconds: 1})
	e.add(1, load.Sent{TxPackets: 7, TxBytes: 70, Seconds: 2})
	e.add(2, load.Sent{TxPackets: 100})
	if s := e.sent(1); s.TxPackets != 12 || s.TxBytes != 120 || s.Seconds != 3 {
		t.Errorf("%+v", s)
	}
	e.forget(1)
	if e.sent(1).TxPackets != 0 || e.sent(2).TxPackets != 100 || e.sent(3).TxPackets != 0 {
		t.Error("frames before the reset, or of another stream, are counted")
	}
}

// TestPktGenThreads: the last -p among the testbed's extra arguments counts; without one there is none.
func TestPktGenThreads(t *testing.T) {
	for words, want := range map[string]float64{"": 1, "-p 4": 4, "-p4": 4, "-p 4 -p 2": 2, "-p": 1, "-p x": 1, "-p 0": 1, "-c 8": 1, "-p 2 -p x": 2} {
		if got := threadsOf(strings.Fields(words)); got != want {
			t.Errorf("%q: %g threads", words, got)
		}
	}
}

// TestPktGenRefuses: what pkt-gen cannot do as requested is refused.
func TestPktGenRefuses(t *testing.T) {
	base := load.FlowSpace{Count: 4, SrcSpan: 2, DstSpan: 2, Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1"), SrcPort: 1024, DstPort: 9}
	for name, c := range map[string]struct {
		change func(*load.FlowSpace)
		want   string
	}{
		"as it can":              {func(*load.FlowSpace) {}, ""},
		"two source ports":       {func(f *load.FlowSpace) { f.Count = 8 }, ""},
		"half a port":            {func(f *load.FlowSpace) { f.Count = 6 }, "combines all addresses"},
		"fewer flows":            {func(f *load.FlowSpace) { f.Count = 3 }, "combines all addresses"},
		"two destination ports":  {func(f *load.FlowSpace) { f.DstPorts = 2 }, "combines all addresses"},
		"ports that are no more": {func(f *load.FlowSpace) { f.SrcPort, f.Count = 65535, 8 }, "combines all addresses"},
		"replies":                {func(f *load.FlowSpace) { f.Reply = true }, "one direction"},
	} {
		f := base
		c.change(&f)
		argv, err := (&PktGen{}).sending(job{spec: load.Spec{Device: "ix0", Sizes: []int{64}, Flows: f}})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want %q", name, argv, err, c.want)
		}
		if name == "two source ports" && !slices.Contains(argv, "198.18.0.1:1024-198.18.0.2:1025") {
			t.Errorf("%s: %v", name, argv)
		}
	}
}

// TestPktGenLimits: unsupported loads are refused with advice on what to leave out, before anything runs.
func TestPktGenLimits(t *testing.T) {
	e := &PktGen{}
	for advice, change := range map[string]func(*load.Spec){
		"one size": func(s *load.Spec) { s.Sizes = []int{64, 128} }, "remove order: random": func(s *load.Spec) { s.Flows.Random = true }, "remove elephant": func(s *load.Spec) { s.Flows.Elephant = 0.5 },
	} {
		s := load.Spec{Sizes: []int{64}}
		change(&s)
		if _, err := e.NewGenerator(s, port.Here); err == nil || !strings.Contains(hint.Of(err), advice) {
			t.Errorf("%v (%s), want %q", err, hint.Of(err), advice)
		}
	}
}
