package remoteload

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
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
)

// counted returns this machine with counters that the test controls.
func counted(c *Counts) Machine {
	return Machine{Host: &localhost.Runner{}, Count: func(context.Context, string) (Counts, error) { return *c, nil }}
}

// acting returns an engine whose pkt-gen is a script; $2 is tx or rx.
func acting(t *testing.T, c *Counts, script string) *PktGen {
	t.Helper()
	program := t.TempDir() + "/pkt-gen"
	if err := os.WriteFile(program, []byte("#!/bin/sh\nshift 2\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return &PktGen{program: program, Generator: counted(c), Receiver: counted(c)}
}

// sends returns the end of a script that reports n sent frames when it is interrupted.
func sends(n int) string {
	return fmt.Sprintf(`trap 'echo "%s"; exit 1' INT; echo Ready...; while :; do sleep 0.05; done`, strings.TrimSpace(said(n, "2.00")))
}

var spec = load.Spec{Device: "ix0", Sizes: []int{64}, Flows: load.FlowSpace{Count: 1, Src: netip.MustParseAddr("198.18.0.1"), Dst: netip.MustParseAddr("198.19.0.1"), SrcPort: 1024, DstPort: 9}}

func TestSentAndReceived(t *testing.T) {
	var at Counts
	e := acting(t, &at, `[ $1 = rx ] && set -- 990 || set -- 1000; `+strings.Replace(sends(7), " 7 ", " $1 ", 1))
	rx, err := e.NewReceiver("ix1", nil, load.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	gen, err := e.NewGenerator(spec, port.Here)
	if err != nil {
		t.Fatal(err)
	}
	offer := load.Offer{Rate: load.Rate{PPS: 600}, Limit: load.Limit{Duration: 2 * time.Second}}
	sent, err := gen.Run(context.Background(), offer)
	if err != nil || sent.TxPackets != 1000 || sent.Seconds != 2 || sent.TxPPS != 500 || sent.Unsent != 200 || sent.PacingError < 0.16 || sent.PacingError > 0.17 || len(sent.Warnings) != 0 {
		t.Errorf("%+v, %v", sent, err)
	}
	got, err := rx.Finish(context.Background(), time.Second)
	if err != nil || got.RxPackets != 990 || *got.Lost != 10 || *got.TxPackets != 1000 || got.RxPPS != 495 || len(got.Warnings) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	// Counters that differ from pkt-gen's numbers give a warning.
	if err := rx.Reset(); err != nil {
		t.Fatal(err)
	}
	at.Received += 700
	if got, err = rx.Finish(context.Background(), time.Second); err != nil || got.RxPackets != 990 || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "ix1 counts 700") {
		t.Errorf("%+v, %v", got, err)
	}
	if err := errors.Join(rx.Reset(), rx.Close()); err != nil {
		t.Error(err)
	}
	if _, err := acting(t, &at, "echo no such device; exit 2").NewReceiver("ix1", nil, load.Watch{}); err == nil || !strings.Contains(err.Error(), "failed with status 2: no such device") {
		t.Errorf("a receiver that does not start: %v", err)
	}
}

func TestEndsAndFailures(t *testing.T) {
	var at Counts
	run := func(ctx context.Context, e *PktGen, seconds time.Duration) (load.Sent, error) {
		gen, err := e.NewGenerator(spec, port.Here)
		if err != nil {
			return load.Sent{}, err
		}
		return gen.Run(ctx, load.Offer{Limit: load.Limit{Duration: seconds * time.Second, Packets: 5}}) // in a second a shell on a busy machine sets its trap
	}
	ctx := context.Background()
	if s, err := run(ctx, acting(t, &at, strings.Replace(sends(5), "'echo", "'sleep 3; echo", 1)), 1); err != nil || s.TxPackets != 5 {
		t.Errorf("an interrupted program: %+v, %v", s, err)
	}
	if _, err := run(ctx, &PktGen{program: "no-such-program", Generator: counted(&at)}, 0); err == nil || !strings.Contains(err.Error(), "there is no program no-such-program") || hint.Of(err) == "" {
		t.Errorf("a missing program: %v", err)
	}
	if _, err := run(ctx, acting(t, &at, "echo broken; exit 4"), 0); err == nil || !strings.Contains(err.Error(), "failed with status 4: broken") {
		t.Errorf("a failing program: %v", err)
	}
	if _, err := run(ctx, acting(t, &at, "echo nothing"), 0); !errors.Is(err, errUnclosed) {
		t.Errorf("a program without output: %v", err)
	}
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if _, err := run(short, acting(t, &at, "sleep 60"), 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a program that is not waited for: %v", err)
	}
}

// TestLeftInRings: frames that an interrupted generator leaves in its rings were not sent, and are not
// lost; an interface that counts only a part is ignored, with a warning.
func TestLeftInRings(t *testing.T) {
	for _, c := range []struct {
		pps, counted  uint64
		sent, warning uint64
	}{{0, 9000, 9000, 0}, {0, 4000, 10000, 1}, {0, 0, 10000, 0}, {0, 10050, 10000, 1}, {50000, 9000, 10000, 1}} {
		s, err := sender().account(said(10000, "1.00"), load.Offer{Rate: load.Rate{PPS: c.pps}, Limit: load.Limit{Duration: time.Second}}, c.counted)
		if err != nil || s.TxPackets != c.sent || len(s.Warnings) != int(c.warning) {
			t.Errorf("%+v: %+v, %v", c, s, err)
		}
	}
}

// TestGeneratorGetsReady: a generator's time begins when it reports that it sends, however long it takes
// to start; if it exits before that, the error includes its last output.
func TestGeneratorGetsReady(t *testing.T) {
	var at Counts
	run := func(script string) (load.Sent, error) {
		e := acting(t, &at, script)
		gen, err := e.NewGenerator(spec, port.Here)
		if err != nil {
			return load.Sent{}, err
		}
		return gen.Run(context.Background(), load.Offer{Limit: load.Limit{Duration: 50 * time.Millisecond}})
	}
	s, err := run("trap 'echo too early; exit' INT; sleep 1; " + sends(7))
	if err != nil || s.TxPackets != 7 {
		t.Errorf("a generator that takes a second to start: %+v, %v", s, err)
	}
	_, err = run(`echo "ix0 is busy"; exit 1`)
	if err == nil || !strings.Contains(err.Error(), "ix0 is busy") || !strings.Contains(err.Error(), "ended before it started") {
		t.Errorf("a generator that never starts: %v", err)
	}
}

// TestQuickIsReady: a program whose exit is seen before its output did start.
func TestQuickIsReady(t *testing.T) {
	synctest.Test(t, readyAtOnce)
}

func readyAtOnce(t *testing.T) {
	p := &program{name: "tool", ended: make(chan struct{}), news: make(chan struct{}), stop: func() bool { return true },
		pipe: &host.Pipe{In: nothing{}, Wait: func() error { return nil }, End: func() {}}}
	begun := make(chan error, 1)
	go func() { begun <- p.await(context.Background(), "Ready...") }()
	synctest.Wait() // until it waits
	p.mu.Lock()
	p.text.WriteString("Ready...\n7 sent\n")
	p.mu.Unlock()
	close(p.ended)
	if err := <-begun; err != nil {
		t.Error(err)
	}
}

// nothing discards its input.
type nothing struct{}

func (nothing) Write(b []byte) (int, error) { return len(b), nil }
func (nothing) Close() error                { return nil }

func TestPktGenLine(t *testing.T) {
	tool := &PktGen{Generate: []string{"-p", "2"}, Receive: []string{"-p", "3"}}
	s := spec
	s.Flows.SrcSpan, s.Flows.DstSpan, s.Flows.Count = 20, 100, 2000
	argv, err := tool.sending(job{s, load.Offer{Rate: load.Rate{PPS: 1000}, Limit: load.Limit{Packets: 400}}})
	want := "pkt-gen -N -f tx -i ix0 -w 2 -l 60 -4 -s 198.18.0.1:1024-198.18.0.20:1024 -d 198.19.0.1:9-198.19.0.100:9 -R 500 -n 400 -p 2" // the pace is per thread
	if err != nil || strings.Join(argv, " ") != want {
		t.Errorf("%v, %v; want %s", argv, err, want)
	}
	if said := "781.214125 start_threads [2697] Wait 2 secs for phy reset\n783.214349 main [3095] Ready...\n"; !strings.Contains(said, pktGenReady) {
		t.Errorf("it is ready by %q, and says %q", pktGenReady, said)
	}
	for _, c := range []struct {
		offer load.Offer
		end   string
		idle  time.Duration
	}{
		{load.Offer{Rate: load.Rate{PPS: 1000}, Limit: load.Limit{Duration: 1500 * time.Millisecond}}, "-R 500 -n 1500 -p 2", 2 * time.Second},
		{load.Offer{Limit: load.Limit{Duration: time.Second}}, "198.19.0.100:9 -p 2", 0},
	} {
		if argv, err = tool.sending(job{s, c.offer}); err != nil || !strings.HasSuffix(strings.Join(argv, " "), c.end) || pktGenIdle(c.offer) != c.idle {
			t.Errorf("%+v: %v, %v, begins after %v", c.offer, argv, err, pktGenIdle(c.offer))
		}
	}
	for _, words := range [][]string{nil, {"-p4"}, {"-a", "2", "-p", "4"}, {"-p", "many"}, {"-p"}} {
		argv, err := (&PktGen{Generate: words}).sending(job{s, load.Offer{Rate: load.Rate{PPS: 1000}}})
		want := map[bool]string{true: " -R 250 ", false: " -R 1000 "}[slices.Contains(words, "4") || slices.Contains(words, "-p4")]
		if err != nil || !strings.Contains(strings.Join(argv, " ")+" ", want) {
			t.Errorf("with %q: %v, %v; want %s", words, argv, err, want)
		}
	}
	s.Flows.Src, s.Flows.Dst = netip.MustParseAddr("2001:2::1"), netip.MustParseAddr("2001:2:0:8000::1")
	s.Flows.Count = 4000
	if argv, err = tool.sending(job{spec: s}); err != nil || !strings.Contains(strings.Join(argv, " "), "-6 -s [2001:2::1]:1024-[2001:2::14]:1025 -d [2001:2:0:8000::1]:9-[2001:2:0:8000::64]:9") {
		t.Errorf("%v, %v", argv, err)
	}
	if argv = tool.receiving("ix0"); strings.Join(argv, " ") != "pkt-gen -N -f rx -i ix0 -w 2 -p 3" {
		t.Errorf("%v, %v", argv, err)
	}
	s.Flows.Count = 4001
	if _, err := tool.NewGenerator(s, nil); err == nil || hint.Of(err) == "" {
		t.Errorf("more flows than addresses: %v", err)
	}
}
