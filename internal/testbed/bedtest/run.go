package bedtest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"linerate/internal/lab"
	"linerate/internal/load"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Parse reads a study.
func Parse(t testing.TB, text string) study.Spec {
	t.Helper()
	s, err := study.Parse("sim.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// On brings up a simulated testbed in every mode.
func On(sim *Simulated) func(context.Context, testbed.Mode) (testbed.Bed, error) {
	return func(_ context.Context, mode testbed.Mode) (testbed.Bed, error) {
		sim.Mode = mode
		return sim, nil
	}
}

// Run runs a task and returns its trials, and the stored files.
func Run(t testing.TB, l *lab.Lab, task lab.Task) (trials []study.Trial, kept map[string][]byte, out lab.Outcome, err error) {
	t.Helper()
	kept = map[string][]byte{}
	l.Keep = func(name string, data []byte) error { kept[name] = data; return nil }
	out, err = l.Run(t.Context(), task, func(tr study.Trial) error { trials = append(trials, tr); return nil }, nil)
	return trials, kept, out, err
}

// Refuse simulates a machine that lacks a setting.
func Refuse(name string) func(setting.Setting) string {
	return func(s setting.Setting) string {
		if s.Name == name {
			return "no such sysctl"
		}
		return ""
	}
}

// ToldAlike checks that the arms of each instance have the same count of the machine's drops.
func ToldAlike(t *testing.T, trials []study.Trial) {
	t.Helper()
	told := map[string]uint64{} // by instance
	for _, tr := range trials {
		of := fmt.Sprintf("%s, block %d, attempt %d", tr.Part, tr.Block, tr.Observed.Interleaved.Attempt)
		n := tr.Observed.Drops["softnet.dropped"]
		if told[of] == 0 {
			told[of] = n
		}
		if n == 0 || n != told[of] {
			t.Errorf("%s, %s: reported %d of %d", of, tr.Variant, n, told[of])
		}
	}
}

// Drifting raises all metrics of each block by a thousandth over the previous block's, like a
// machine's drift: with constant values a study cannot tell an effect from rounding.
func Drifting(trials []study.Trial) []study.Trial {
	for _, t := range trials {
		for name, v := range t.Metrics {
			t.Metrics[name] = v * (1 + 0.001*float64(t.Block))
		}
	}
	return trials
}

// Turns is the simulation with an engine that sends over several lanes in turn,
// on a machine whose speed varies between slices.
type Turns struct {
	*Simulated
	// Opened counts the created slicers.
	Opened int
}

var _ load.Interleaver = (*Turns)(nil)

// NewSlicer returns a slicer for the simulated arms.
func (t *Turns) NewSlicer(load.Spec, int) (load.Slicer, error) {
	t.Opened++
	return &slicer{t.Simulated}, nil
}

type slicer struct{ sim *Simulated }

func (s *slicer) Close() error { return nil }

// Run advances the clock by the plan's limit.
func (s *slicer) Run(ctx context.Context, lanes []load.Lane, p load.SlicePlan) (load.Sliced, error) {
	if err := ctx.Err(); err != nil {
		return load.Sliced{}, err
	}
	out := load.Sliced{Engine: "simulated", Lanes: make([]load.LaneAccount, len(lanes)), Seconds: p.Limit.Seconds()}
	rng := rand.New(rand.NewPCG(s.sim.Seed, uint64(s.sim.resets)))
	speed := 1.0
	for i, lane := range p.Order {
		if p.Before != nil && i%max(1, p.Turn) == 0 {
			if err := p.Before(int(lane)); err != nil {
				return out, err
			}
		}
		speed = min(1.6, max(0.7, speed*math.Exp(0.002*rng.NormFloat64())))
		each := speed * (BypassNS + s.sim.arms[lanes[lane].From.Device])
		frames := uint32(math.Ceil(float64(p.Slice) / each))
		one := load.Slice{Lane: int(lane), Frames: frames, NS: uint32(each * float64(frames)), At: uint32(i * 500)}
		if s.sim.fault.Contention > rng.Float64() {
			one.Flags |= load.Switched
		}
		out.Slices = append(out.Slices, one)
		l := &out.Lanes[lane]
		l.TxPackets += uint64(frames)
		if s.sim.fault.NothingRx {
			s.sim.dropped[lanes[lane].From.Device] += uint64(frames)
		} else {
			l.RxPackets += uint64(frames)
			s.sim.count(uint64(frames), uint64(frames))
		}
		l.Lost = l.TxPackets - l.RxPackets
	}
	s.sim.clock += p.Limit
	return out, nil
}
