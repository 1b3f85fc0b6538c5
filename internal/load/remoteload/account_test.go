package remoteload

import (
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/port"
	"linerate/internal/tooltext"
)

// saying is a generator of a tool whose account is a fixed one.
func saying(a tooltext.Account) *toolGenerator {
	e := &ToolEngine{Tool: Tool{Name: "tool", Sent: func(string) (tooltext.Account, error) { return a, nil }}}
	return &toolGenerator{e, &e.Generator, load.Spec{Device: "ix0", Sizes: []int{128}}}
}

// TestAccountOfSlowAndFast: a tool that is off its pace is off by as much either way, and what it
// had due and did not send is counted.
func TestAccountOfSlowAndFast(t *testing.T) {
	second := load.Limit{Duration: time.Second}
	for name, c := range map[string]struct {
		said    tooltext.Account
		offer   load.Offer
		counted uint64
		want    load.Sent
	}{
		"on its pace":         {tooltext.Account{Counted: true, Packets: 1000, Seconds: 1}, load.Offer{Rate: load.Rate{PPS: 1000}, Limit: second}, 1000, load.Sent{TxPackets: 1000, TxPPS: 1000}},
		"half as fast":        {tooltext.Account{Counted: true, Packets: 500, Seconds: 1}, load.Offer{Rate: load.Rate{PPS: 1000}, Limit: second}, 500, load.Sent{TxPackets: 500, TxPPS: 500, PacingError: 0.5, Unsent: 500}},
		"half as fast again":  {tooltext.Account{Counted: true, Packets: 1500, Seconds: 1}, load.Offer{Rate: load.Rate{PPS: 1000}, Limit: second}, 1500, load.Sent{TxPackets: 1500, TxPPS: 1500, PacingError: 0.5}},
		"so many frames":      {tooltext.Account{Counted: true, Packets: 500, Seconds: 2}, load.Offer{Rate: load.Rate{PPS: 1000}, Limit: load.Limit{Packets: 500, Duration: time.Second}}, 500, load.Sent{TxPackets: 500, TxPPS: 250, PacingError: 0.75}},
		"a time it tells not": {tooltext.Account{Counted: true, Packets: 500}, load.Offer{Limit: load.Limit{Duration: 2 * time.Second}}, 500, load.Sent{TxPackets: 500, TxPPS: 250}},
		"frames it tells not": {tooltext.Account{Seconds: 1}, load.Offer{Limit: second}, 777, load.Sent{TxPackets: 777, TxPPS: 777}},
	} {
		s, err := saying(c.said).account("", c.offer, c.counted)
		if err != nil || s.TxPackets != c.want.TxPackets || s.TxPPS != c.want.TxPPS || s.PacingError != c.want.PacingError || s.Unsent != c.want.Unsent || s.TxBytes != 128*s.TxPackets || len(s.Warnings) > 0 {
			t.Errorf("%s: %+v, %v; want %+v", name, s, err, c.want)
		}
	}
	s, err := saying(tooltext.Account{Counted: true, Packets: 1000, Seconds: 1}).account("", load.Offer{Limit: second}, 900)
	if err != nil || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "says it sent 1000 frames, and ix0 counts 900") {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestDiffer: a few frames are a machine's own, and so is one in a thousand.
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

// TestBalance: what was sent and did not arrive is lost; a few frames more than were sent are what
// machines say of themselves, many more are not.
func TestBalance(t *testing.T) {
	for _, c := range []struct {
		tx, rx                uint64
		wantRx, foreign, lost uint64
	}{{1000, 1000, 1000, 0, 0}, {1000, 990, 990, 0, 10}, {1000, 1020, 1000, 20, 0}, {1000, 1021, 1021, 0, 0}, {0, 5, 0, 5, 0}, {1000, 0, 0, 0, 1000}} {
		g := load.Received{RxPackets: c.rx, Seconds: 2}
		(&toolReceiver{}).close(&g, load.Sent{TxPackets: c.tx, TxBytes: 64 * c.tx})
		if g.RxPackets != c.wantRx || g.Foreign != c.foreign || *g.Lost != c.lost || *g.TxPackets != c.tx || g.RxPPS != float64(c.wantRx)/2 || c.tx > 0 && g.RxBytes != 64*c.wantRx {
			t.Errorf("%+v: %+v, lost %d", c, g, *g.Lost)
		}
	}
}

// TestStreamsOfATool: what generators of one stream did since its receiver was reset is added up, and
// another stream's is not.
func TestStreamsOfATool(t *testing.T) {
	var e ToolEngine
	e.add(1, load.Sent{TxPackets: 5, TxBytes: 50, Seconds: 1})
	e.add(1, load.Sent{TxPackets: 7, TxBytes: 70, Seconds: 2})
	e.add(2, load.Sent{TxPackets: 100})
	if s := e.sent(1); s.TxPackets != 12 || s.TxBytes != 120 || s.Seconds != 3 {
		t.Errorf("%+v", s)
	}
	e.forget(1)
	if e.sent(1).TxPackets != 0 || e.sent(2).TxPackets != 100 || e.sent(3).TxPackets != 0 {
		t.Error("what was forgotten, or another's")
	}
}

// TestWords: what stands for a template's placeholders, each where it is asked for and nothing else;
// replies have the ends changed.
func TestWords(t *testing.T) {
	job := Job{Spec: load.Spec{Device: "ix0", Sizes: []int{128}, SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, DstMAC: net.HardwareAddr{2, 0, 0, 0, 0, 2},
		Flows: load.FlowSpace{Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1"), SrcSpan: 20, SrcPort: 1024, DstPort: 9}},
		Offer: load.Offer{Rate: load.Rate{BPS: 1_024_000}, Limit: load.Limit{Duration: 1500 * time.Millisecond, Packets: 42}}}
	template := []string{"gen", "-i", "{dev}", "{src}-{src_last}:{sport}", "{dst}-{dst_last}:{dport}", "{src_mac}>{dst_mac}", "{size}x{packets}@{pps} for {seconds}s", "{nothing} $(id)"}
	want := "gen|-i|ix0|198.18.0.1-198.18.0.20:1024|198.19.0.1-198.19.0.1:9|02:00:00:00:00:01>02:00:00:00:00:02|128x42@1000 for 1.5s|{nothing} $(id)"
	if argv, err := Command(template)(job); err != nil || strings.Join(argv, "|") != want {
		t.Errorf("%s, %v", strings.Join(argv, "|"), err)
	}
	job.Spec.Flows.Reply = true
	if argv, _ := Command([]string{"{src}-{src_last}:{sport}>{dst}-{dst_last}:{dport}"})(job); argv[0] != "198.19.0.1-198.19.0.1:9>198.18.0.1-198.18.0.20:1024" {
		t.Errorf("replies: %s", argv)
	}
	if argv, _ := Command([]string{"{size}/{pps}"})(Job{Spec: load.Spec{Flows: job.Spec.Flows}}); argv[0] != "0/0" {
		t.Errorf("a receiver's job: %s", argv)
	}
}

// TestPktGenThreads: as many as the testbed's words say, the last of them; other words have none.
func TestPktGenThreads(t *testing.T) {
	for words, want := range map[string]float64{"": 1, "-p 4": 4, "-p4": 4, "-p 4 -p 2": 2, "-p": 1, "-p x": 1, "-p 0": 1, "-c 8": 1, "-p 2 -p x": 2} {
		if got := threadsOf(strings.Fields(words)); got != want {
			t.Errorf("%q: %g threads", words, got)
		}
	}
}

// TestPktGenRefuses what it would do otherwise than asked.
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
		argv, err := PktGen(nil, nil).Generate(Job{Spec: load.Spec{Device: "ix0", Sizes: []int{64}, Flows: f}})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want %q", name, argv, err, c.want)
		}
		if name == "two source ports" && !slices.Contains(argv, "198.18.0.1:1024-198.18.0.2:1025") {
			t.Errorf("%s: %v", name, argv)
		}
	}
	if argv, err := PktGen(nil, []string{"-p", "3"}).Receive(Job{Spec: load.Spec{Device: "ix1"}}); err != nil || strings.Join(argv, " ") != "pkt-gen -N -f rx -i ix1 -w 2 -p 3" {
		t.Errorf("%v, %v", argv, err)
	}
}

// TestToolsLimits: what no tool does is refused with what to leave out, before anything runs.
func TestToolsLimits(t *testing.T) {
	e := &ToolEngine{Tool: Tool{Name: "tool", Generate: Command([]string{"x"})}}
	for advice, change := range map[string]func(*load.Spec){
		"one size": func(s *load.Spec) { s.Sizes = []int{64, 128} }, "remove order: random": func(s *load.Spec) { s.Flows.Random = true }, "remove elephant": func(s *load.Spec) { s.Flows.Elephant = 0.5 },
	} {
		s := load.Spec{Sizes: []int{64}}
		change(&s)
		if _, err := e.NewGenerator(s, port.Here); err == nil || !strings.Contains(hint.Of(err), advice) {
			t.Errorf("%v (%s), want %q", err, hint.Of(err), advice)
		}
	}
	for side, want := range map[port.Side]*Machine{port.GeneratorSide: &e.Generator, port.ReceiverSide: &e.Receiver} {
		if at(side, &e.Generator, &e.Receiver, nil) != want {
			t.Errorf("side %v is another machine", side)
		}
	}
	if e.Available() != nil || e.Name() != "tool" {
		t.Error("a tool")
	}
}
