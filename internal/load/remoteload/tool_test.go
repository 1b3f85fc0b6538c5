package remoteload

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/host/localhost"
	"linerate/internal/load"
	"linerate/internal/port"
	"linerate/internal/tooltext"
)

// counted is this machine with counters that a test moves.
func counted(c *Counts) Machine {
	return Machine{Host: &localhost.Runner{}, Count: func(context.Context, string) (Counts, error) { return *c, nil }}
}

func pattern(t *testing.T, text string) func(string) (tooltext.Account, error) {
	t.Helper()
	p, err := tooltext.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	return p.Read
}

var spec = load.Spec{Device: "ix0", Sizes: []int{64}, Flows: load.FlowSpace{Count: 1, Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1"), SrcPort: 1024, DstPort: 9}}

func TestSentAndReceived(t *testing.T) {
	var at Counts
	e := &ToolEngine{Tool: Tool{Name: "tool", Generate: Command([]string{"/bin/sh", "-c", "echo Sent 1000 frames of {size} from {src} in {seconds} s"}),
		Sent: pattern(t, `Sent (?P<packets>\d+) frames of 64 from 198.18.0.1 in (?P<seconds>\S+)`)}, Generator: counted(&at), Receiver: counted(&at)}
	rx, err := e.NewReceiver("ix1", nil, load.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	gen, err := e.NewGenerator(spec, port.Here)
	if err != nil {
		t.Fatal(err)
	}
	offer := load.Offer{Rate: load.Rate{PPS: 600}, Limit: load.Limit{Duration: 2 * time.Second}}
	sent, err := gen.Run(context.Background(), offer, nil)
	if err != nil || sent.TxPackets != 1000 || sent.Seconds != 2 || sent.TxPPS != 500 || sent.Unsent != 200 || sent.PacingError < 0.16 || sent.PacingError > 0.17 || len(sent.Warnings) != 0 {
		t.Errorf("%+v, %v", sent, err)
	}
	at.Received += 990
	got, err := rx.Finish(context.Background(), time.Second)
	if err != nil || got.RxPackets != 990 || *got.Lost != 10 || *got.TxPackets != 1000 || got.RxPPS != 495 {
		t.Errorf("%+v, %v", got, err)
	}
	// What machines say of their own accord is no traffic; what the interface
	// counts beside the program is heard.
	if err := rx.Reset(); err != nil {
		t.Fatal(err)
	}
	e.Generator.Count = func(context.Context, string) (Counts, error) { at.Sent += 700; return at, nil }
	if sent, err = gen.Run(context.Background(), offer, nil); err != nil || len(sent.Warnings) != 1 || !strings.Contains(sent.Warnings[0], "ix0 counts 700") {
		t.Errorf("%+v, %v", sent, err)
	}
	at.Received += 1003
	if got, err = rx.Finish(context.Background(), time.Second); err != nil || got.RxPackets != 1000 || *got.Lost != 0 || got.Foreign != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Two directions at once: each side sends and receives, and each receiver closes
// the account of its own stream.
func TestBothDirections(t *testing.T) {
	var left, right Counts
	e := &ToolEngine{Tool: Tool{Name: "tool", Generate: Command([]string{"echo", "{dev} sent {packets} from {src} port {sport} to {dst_last} port {dport}"}),
		Sent: pattern(t, `ix0 sent (?P<packets>\d+) from 198.18.0.1 port 1024 to 198.19.0.1 port 9|ix1 sent (?P<packets>\d+) from 198.19.0.1 port 9 to 198.18.0.1 port 1024`)}, Generator: counted(&left), Receiver: counted(&right)}
	there, back := spec, spec
	there.Stream, back.Stream = 1, 2
	back.Device, back.Side, back.Flows.Reply = "ix1", port.ReceiverSide, true
	var rx [2]load.Receiver
	for i, w := range []load.Watch{{Stream: 1}, {Stream: 2, Side: port.GeneratorSide}} {
		var err error
		if rx[i], err = e.NewReceiver("ix", nil, w); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range []load.Spec{there, back} {
		gen, err := e.NewGenerator(s, port.Here)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = gen.Run(context.Background(), load.Offer{Limit: load.Limit{Packets: uint64(1000 * (i + 1))}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	left.Received, right.Received = 1900, 999
	for i, lost := range []uint64{1, 100} {
		if got, err := rx[i].Finish(context.Background(), time.Second); err != nil || *got.Lost != lost {
			t.Errorf("direction %d: %+v, %v", i, got, err)
		}
	}
}

// A receiver runs until it is asked to end, and tells then.
func TestReceiverThatTells(t *testing.T) {
	var at Counts
	e := &ToolEngine{Tool: Tool{Name: "tool", Generate: Command([]string{"true"}), Ready: "listening",
		Receive: Command([]string{"/bin/sh", "-c", `trap 'echo had 700; exit 3' INT; echo listening on {dev}; while :; do sleep 0.05; done`}),
		Sent:    pattern(t, `(?P<packets>x)`), Got: pattern(t, `had (?P<packets>\d+)`)}, Generator: counted(&at), Receiver: counted(&at)}
	rx, err := e.NewReceiver("ix1", nil, load.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := rx.Finish(context.Background(), time.Second); err != nil || got.RxPackets != 700 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := errors.Join(rx.Reset(), rx.Close()); err != nil {
		t.Error(err)
	}
	e.Tool.Receive = Command([]string{"/bin/sh", "-c", "echo no such device; exit 2"})
	if _, err := e.NewReceiver("ix1", nil, load.Watch{}); err == nil || !strings.Contains(err.Error(), "failed with status 2: no such device") {
		t.Errorf("a receiver that does not start: %v", err)
	}
}

func TestEndsAndFailures(t *testing.T) {
	var at Counts
	run := func(ctx context.Context, stops bool, argv ...string) (load.Sent, error) {
		e := &ToolEngine{Tool: Tool{Name: "tool", Generate: Command(argv), Sent: pattern(t, `(?P<packets>\d+) sent`), Stops: stops}, Generator: counted(&at), Receiver: counted(&at)}
		gen, err := e.NewGenerator(spec, port.Here)
		if err != nil {
			return load.Sent{}, err
		}
		return gen.Run(ctx, load.Offer{Limit: load.Limit{Duration: time.Second}}, nil) // in which a shell on a busy machine sets its trap
	}
	ctx := context.Background()
	if s, err := run(ctx, true, "/bin/sh", "-c", `trap 'echo 5 sent; exit 1' INT; while :; do sleep 0.05; done`); err != nil || s.TxPackets != 5 {
		t.Errorf("one that is interrupted: %+v, %v", s, err)
	}
	if s, err := run(ctx, true, "/bin/sh", "-c", `trap 'sleep 3; echo 5 sent; exit 1' INT; while :; do sleep 0.05; done`); err != nil || s.TxPackets != 5 {
		t.Errorf("one that is interrupted: %+v, %v", s, err)
	}
	if _, err := run(ctx, false, "no-such-program"); err == nil || !strings.Contains(err.Error(), "no program no-such-program there") || hint.Of(err) == "" {
		t.Errorf("one that is not there: %v", err)
	}
	if _, err := run(ctx, false, "/bin/sh", "-c", "echo 5 sent; echo broken; exit 4"); err == nil || !strings.Contains(err.Error(), "failed with status 4: broken") {
		t.Errorf("one that fails: %v", err)
	}
	if _, err := run(ctx, false, "echo", "'nothing' $(touch /tmp/pwned)"); err == nil || !strings.Contains(err.Error(), `its last line is "'nothing' $(touch /tmp/pwned)"`) {
		t.Errorf("one that says nothing: %v", err)
	}
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if _, err := run(short, false, "sleep", "60"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one that nobody waits for: %v", err)
	}
}

// What an interrupted generator leaves in its rings was not sent, and is not lost; an
// interface that counts a part of what it sends is not believed, and heard.
func TestLeftInRings(t *testing.T) {
	for _, c := range []struct {
		stops         bool
		pps, counted  uint64
		sent, warning uint64
	}{
		{true, 0, 9000, 9000, 0}, {true, 0, 4000, 10000, 1}, {true, 0, 0, 10000, 0},
		{true, 0, 10050, 10000, 1}, {true, 50000, 9000, 10000, 1}, {false, 0, 9000, 10000, 1},
	} {
		var at Counts
		e := &ToolEngine{Tool: Tool{Name: "tool", Generate: Command([]string{"echo", "10000 sent"}), Sent: pattern(t, `(?P<packets>\d+) sent`), Stops: c.stops}, Generator: counted(&at)}
		e.Generator.Count = func(context.Context, string) (Counts, error) {
			was := at
			at.Sent += c.counted
			return was, nil
		}
		gen, err := e.NewGenerator(spec, port.Here)
		if err != nil {
			t.Fatal(err)
		}
		s, err := gen.Run(context.Background(), load.Offer{Rate: load.Rate{PPS: c.pps}, Limit: load.Limit{Duration: time.Second}}, nil) // in which a shell on a busy machine sets its trap
		if err != nil || s.TxPackets != c.sent || len(s.Warnings) != int(c.warning) {
			t.Errorf("%+v: %+v, %v", c, s, err)
		}
	}
}

// A generator's time begins when it says that it sends, however long its start
// takes; one that ends before that is told, and what it said last.
func TestGeneratorGetsReady(t *testing.T) {
	var at Counts
	run := func(script string) (load.Sent, error) {
		e := &ToolEngine{Tool: Tool{Name: "tool", Generate: Command([]string{"/bin/sh", "-c", script}), Ready: "Ready...",
			Sent: pattern(t, `(?P<packets>\d+) sent`), Stops: true}, Generator: counted(&at), Receiver: counted(&at)}
		gen, err := e.NewGenerator(spec, port.Here)
		if err != nil {
			return load.Sent{}, err
		}
		return gen.Run(context.Background(), load.Offer{Limit: load.Limit{Duration: 50 * time.Millisecond}}, nil)
	}
	s, err := run(`trap 'echo 1 sent; exit' INT; sleep 1; trap 'echo 7 sent; exit' INT; echo Ready...; while :; do sleep 0.05; done`)
	if err != nil || s.TxPackets != 7 {
		t.Errorf("one that takes a second to begin: %+v, %v", s, err)
	}
	_, err = run(`echo "ix0 is busy"; exit 1`)
	if err == nil || !strings.Contains(err.Error(), "ix0 is busy") || !strings.Contains(err.Error(), "ended before it began") {
		t.Errorf("one that never begins: %v", err)
	}
}

// TestQuickIsReady: a program whose end is heard of before its word did begin.
func TestQuickIsReady(t *testing.T) {
	synctest.Test(t, readyAtOnce)
}

func readyAtOnce(t *testing.T) {
	p := &program{name: "tool", ended: make(chan struct{}), news: make(chan struct{}), stop: func() bool { return true },
		pipe: &host.Pipe{In: nothing{}, Wait: func() error { return nil }, End: func() {}}}
	begun := make(chan error, 1)
	go func() { begun <- p.await(context.Background(), "Ready...") }()
	synctest.Wait() // it waits
	p.mu.Lock()
	p.text.WriteString("Ready...\n7 sent\n")
	p.mu.Unlock()
	close(p.ended)
	if err := <-begun; err != nil {
		t.Error(err)
	}
}

// nothing takes what it is told.
type nothing struct{}

func (nothing) Write(b []byte) (int, error) { return len(b), nil }
func (nothing) Close() error                { return nil }

func TestPktGenLine(t *testing.T) {
	tool := PktGen([]string{"-p", "2"}, []string{"-p", "3"})
	s := spec
	s.Flows.SrcSpan, s.Flows.DstSpan, s.Flows.Count = 20, 100, 2000
	argv, err := tool.Generate(Job{s, load.Offer{Rate: load.Rate{PPS: 1000}, Limit: load.Limit{Packets: 400}}})
	want := "pkt-gen -N -f tx -i ix0 -w 2 -l 60 -4 -s 198.18.0.1:1024-198.18.0.20:1024 -d 198.19.0.1:9-198.19.0.100:9 -R 500 -n 400 -p 2" // each thread keeps the pace
	if err != nil || strings.Join(argv, " ") != want {
		t.Errorf("%v, %v; want %s", argv, err, want)
	}
	if said := "781.214125 start_threads [2697] Wait 2 secs for phy reset\n783.214349 main [3095] Ready...\n"; tool.Ready == "" || !strings.Contains(said, tool.Ready) {
		t.Errorf("it is ready by %q, and says %q", tool.Ready, said)
	}
	for _, c := range []struct {
		offer load.Offer
		end   string
		idle  time.Duration
	}{
		{load.Offer{Rate: load.Rate{PPS: 1000}, Limit: load.Limit{Duration: 1500 * time.Millisecond}}, "-R 500 -n 1500 -p 2", 2 * time.Second},
		{load.Offer{Limit: load.Limit{Duration: time.Second}}, "198.19.0.100:9 -p 2", 0},
	} {
		if argv, err = tool.Generate(Job{s, c.offer}); err != nil || !strings.HasSuffix(strings.Join(argv, " "), c.end) || tool.Idle(c.offer) != c.idle {
			t.Errorf("%+v: %v, %v, begins after %v", c.offer, argv, err, tool.Idle(c.offer))
		}
	}
	for _, words := range [][]string{nil, {"-p4"}, {"-a", "2", "-p", "4"}, {"-p", "many"}, {"-p"}} {
		argv, err := PktGen(words, nil).Generate(Job{s, load.Offer{Rate: load.Rate{PPS: 1000}}})
		want := map[bool]string{true: " -R 250 ", false: " -R 1000 "}[slices.Contains(words, "4") || slices.Contains(words, "-p4")]
		if err != nil || !strings.Contains(strings.Join(argv, " ")+" ", want) {
			t.Errorf("with %q: %v, %v; want %s", words, argv, err, want)
		}
	}
	s.Flows.Src, s.Flows.Dst = netip.MustParseAddr("2001:2::1"), netip.MustParseAddr("2001:2:0:8000::1")
	s.Flows.Count = 4000
	if argv, err = tool.Generate(Job{Spec: s}); err != nil || !strings.Contains(strings.Join(argv, " "), "-6 -s [2001:2::1]:1024-[2001:2::14]:1025 -d [2001:2:0:8000::1]:9-[2001:2:0:8000::64]:9") {
		t.Errorf("%v, %v", argv, err)
	}
	if argv, err = tool.Receive(Job{Spec: s}); err != nil || strings.Join(argv, " ") != "pkt-gen -N -f rx -i ix0 -w 2 -p 3" {
		t.Errorf("%v, %v", argv, err)
	}
	s.Flows.Count = 4001
	e := &ToolEngine{Tool: tool}
	if _, err := e.NewGenerator(s, nil); err == nil || hint.Of(err) == "" {
		t.Errorf("more flows than addresses: %v", err)
	}
	s.Flows.Random = true
	if _, err := e.NewGenerator(s, nil); err == nil || !strings.Contains(err.Error(), "random order") {
		t.Error(err)
	}
	s.Sizes = []int{64, 128}
	if _, err := e.NewGenerator(s, nil); err == nil || !strings.Contains(err.Error(), "one size") {
		t.Error(err)
	}
}
