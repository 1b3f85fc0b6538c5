package bedtest

import (
	"context"
	"math"
	"math/rand/v2"

	"linerate/internal/load"
)

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
