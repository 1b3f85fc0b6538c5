package xdpload

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"linerate/internal/labtest"
	"linerate/internal/load"
	"linerate/internal/load/wire/wiretest"
)

// BenchmarkReceiver sends at full speed and reports the time per frame, by the kernel's accounting, of the
// receiver's program and of the generator's. Both include the kernel's own clock readings.
func BenchmarkReceiver(b *testing.B) {
	labtest.Need(b)
	stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
	if err != nil {
		labtest.Lacking(b, "%v", err)
	}
	defer stats.Close()
	for _, flows := range []int{1, 2000, 100_000} {
		b.Run(strconv.Itoa(flows), func(b *testing.B) {
			gen, sink := wiretest.New(b)
			r, err := New().NewReceiver(sink.Device, sink.In, load.Watch{Stream: -1, MaxFlows: 1 << 17})
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			g, err := New().NewGenerator(spec(gen, sink, flows, 64), gen.In)
			if err != nil {
				b.Fatal(err)
			}
			defer g.Close()
			rx, tx := r.(*Receiver).objs.Receive, g.(*Generator).workers[0].objs.Generate
			for b.Loop() {
				if _, err := g.Run(context.Background(), load.Offer{Limit: load.Limit{Duration: 200 * time.Millisecond}}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(perRun(b, rx), "rx-ns/frame")
			b.ReportMetric(perRun(b, tx), "tx-ns/frame")
		})
	}
}

func perRun(b *testing.B, p *ebpf.Program) float64 {
	s, err := p.Stats()
	if err != nil || s.RunCount == 0 {
		b.Fatal(err, "no runs")
	}
	return float64(s.Runtime.Nanoseconds()) / float64(s.RunCount)
}
