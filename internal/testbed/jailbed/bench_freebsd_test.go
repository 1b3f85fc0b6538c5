package jailbed

import (
	"context"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"linerate/internal/cputime"
	"linerate/internal/load"
	"linerate/internal/load/packetload"
	"linerate/internal/load/wire"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// BenchmarkCost compares the repeatability of two measures of a DUT's cost: the CPU time that the kernel
// accounts to the threads that move the frames, and the elapsed time while generator, DUT and receiver
// share one CPU at full load. An arm is compared with itself and with one that has a hundred rules.
func BenchmarkCost(b *testing.B) {
	clock := wire.NewClock()
	passes := func() (time.Duration, error) { return time.Duration(clock.Now()), nil }
	for _, m := range []struct {
		name  string
		spent packetload.Spent
		pin   bool
	}{{"counted", Spent, false}, {"counted, pinned", Spent, true}, {"passed, pinned", passes, true}} {
		b.Run(m.name, func(b *testing.B) { benchmarkCost(b, m.spent, m.pin) })
	}
}

const benchRounds = 60

func benchmarkCost(b *testing.B, spent packetload.Spent, pin bool) {
	ctx := context.Background()
	bed := raise(b, testbed.Cost)
	in := study.Instance{Control: "none", Arms: []string{"none", "again", "rules", study.BypassLane}}
	rules := []setting.Setting{{Mechanism: setting.Firewall, Rules: &setting.Rules{Linear: 100}}}
	arms, err := bed.Raise(ctx, []testbed.Settings{{Name: "none"}, {Name: "again"}, {Name: "rules", Settings: rules}, {Name: "bypass", Bypass: true}})
	if err != nil {
		b.Fatal(err)
	}
	if pin {
		defer onCPU(b, "0")()
	}
	var lanes []load.Lane
	for _, a := range arms {
		if a.Unavailable != nil {
			b.Fatal(a.Unavailable)
		}
		lanes = append(lanes, load.Lane{From: a.Generator, To: a.Receiver})
	}
	from := arms[0].Generator
	spec := load.Spec{SrcMAC: from.MAC, DstMAC: from.Peer, Sizes: []int{64}, CPUs: []int{0},
		Flows: load.FlowSpace{Count: 1000, Src: v4[0], Dst: v4[1]}}
	s, err := packetload.InterleavingBPF(bed.Door, spent).(load.Interleaver).NewSlicer(spec, len(lanes))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		plan := load.SlicePlan{Order: study.Rounds(study.Part{}, 1, 1, 1, len(lanes), benchRounds*len(lanes)), Slice: 350 * time.Microsecond,
			Limit: time.Hour, Guard: 128, Warm: 2048}
		start := time.Now()
		got, err := s.Run(ctx, lanes, plan)
		if err != nil {
			b.Fatal(err)
		}
		in.Slices = got.Slices
		l := in.Condense()
		for i, name := range []string{"none", "again", "rules", "bypass"} {
			if name != "none" {
				b.ReportMetric(100*l[i].LogRatio.Float(), name+"_log%")
				b.ReportMetric(100*l[i].SE.Float(), name+"_se%")
			}
			b.Logf("%s: log ratio %.4f, standard error %.4f, %d good rounds of %d, %s",
				name, l[i].LogRatio.Float(), l[i].SE.Float(), l[i].GoodRounds, l[i].Rounds, l[i].Disturbed)
		}
		b.Logf("%v", time.Since(start))
	}
}

// onCPU pins the threads that move the frames; undo unpins them.
func onCPU(b *testing.B, cpus string) (undo func()) {
	all, err := cputime.Threads(mover)
	if err != nil {
		b.Fatal(err)
	}
	set := func(list string) {
		for _, t := range all {
			if out, err := exec.Command("/usr/bin/cpuset", "-l", list, "-t", strconv.Itoa(t.TID)).CombinedOutput(); err != nil {
				b.Fatalf("pin thread %d: %v: %s", t.TID, err, out)
			}
		}
	}
	set(cpus)
	return func() { set("all") }
}
