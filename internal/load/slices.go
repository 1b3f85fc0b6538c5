package load

import (
	"context"
	"fmt"
	"time"

	"linerate/internal/port"
)

// MaxLanes is the largest number of lanes of a Slicer.
const MaxLanes = 16

// Lane is a path from a generator's port to a receiver's, through a DUT or
// none. All lanes of a Slicer start in one place and end in one place.
type Lane struct{ From, To port.Port }

// SliceFlag is the cause of a slice's disturbance. Its values match
// bpf/slices.bpf.c.
type SliceFlag uint8

// Causes of disturbance.
const (
	// Switched: the CPU ran something else: another program, or the chain's
	// own softirq work in ksoftirqd.
	Switched SliceFlag = 1 << iota
	// Underway: not all frames of the slice had arrived at its end: they were
	// lost, or are late.
	Underway
	// Leftover: frames of the previous lane were still in flight.
	Leftover
)

// Slice is a stretch of traffic over one lane, without its guard frames.
type Slice struct {
	Lane   int
	Flags  SliceFlag
	Frames uint32
	NS     uint32
	At     uint32 // µs from the start of the run to the start of the slice
}

// SlicePlan is a plan for a Slicer.
type SlicePlan struct {
	// Order gives the lane of each slice: complete rounds, each with every
	// lane once, or Turn times in a row. The run ends at its end, or after the
	// round in which Limit has passed since the end of the first round, if
	// there are Least slices by then.
	Order []uint8
	Turn  int // 0: 1
	Limit time.Duration
	// Least is the number of slices sent in any case: a slow machine needs
	// more time for the same precision.
	Least int
	Slice time.Duration // minimum measured duration of a slice
	Guard int           // frames on a lane before each slice, not measured
	Warm  int           // frames on a lane before its first slice, not measured
	// Before, if not nil, is called before each turn with its lane, while no
	// traffic runs.
	Before func(lane int) error
}

// Over reports whether the run ends before the i-th slice, given the number of
// slices in a round and the time since the end of the first round.
func (p SlicePlan) Over(i, round int, since time.Duration) bool {
	return i >= max(round, p.Least) && i%round == 0 && since >= p.Limit
}

// LaneAccount counts what was sent over a lane and what arrived, including
// guard frames: received + lost = sent.
type LaneAccount struct {
	TxPackets  uint64 `json:"tx_packets"`
	TxBytes    uint64 `json:"tx_bytes"` // with FCS
	RxPackets  uint64 `json:"rx_packets"`
	RxBytes    uint64 `json:"rx_bytes"`
	Lost       uint64 `json:"lost"`
	Duplicated uint64 `json:"duplicated"`
	Reordered  uint64 `json:"reordered"`
	Flows      uint64 `json:"flows_seen"`
}

// Plus adds the account of the lane's other direction.
func (a LaneAccount) Plus(b LaneAccount) LaneAccount {
	return LaneAccount{
		TxPackets: a.TxPackets + b.TxPackets, TxBytes: a.TxBytes + b.TxBytes, RxPackets: a.RxPackets + b.RxPackets, RxBytes: a.RxBytes + b.RxBytes,
		Lost: a.Lost + b.Lost, Duplicated: a.Duplicated + b.Duplicated, Reordered: a.Reordered + b.Reordered, Flows: a.Flows + b.Flows,
	}
}

// Sliced is the result of a Slicer's run.
type Sliced struct {
	Engine  string
	Slices  []Slice
	Lanes   []LaneAccount
	Seconds float64 // from the first frame to the end of the last slice
}

// Interleaver is an Engine that can send over several lanes in turn.
type Interleaver interface {
	// NewSlicer prepares to send spec over up to n lanes. It ignores the spec's
	// device, stream, rate and limit: a Slicer sends as fast as it can. With
	// spec.Back each lane carries both directions, with frames leaving from
	// both ends alternately; it then counts as two lanes, and its LaneAccount
	// covers both directions.
	NewSlicer(spec Spec, n int) (Slicer, error)
}

// Ways returns the number of directions of a spec: 1 or 2.
func (s Spec) Ways() int {
	if s.Back != nil {
		return 2
	}
	return 1
}

// Slicer sends one Spec over several lanes in turn, slice by slice, all from
// one CPU, and measures the time per frame of each slice. Slow work belongs in
// NewSlicer, not in Run.
type Slicer interface {
	Run(ctx context.Context, lanes []Lane, plan SlicePlan) (Sliced, error)
	Close() error
}

// NewSlicer uses the first engine that can send over several lanes in turn.
func (a *auto) NewSlicer(spec Spec, n int) (Slicer, error) {
	return first(a, "sending", func(e Engine) (Slicer, error) {
		i, ok := e.(Interleaver)
		if !ok {
			return nil, NotHere(fmt.Errorf("engine %s sends over one lane only", e.Name()))
		}
		return i.NewSlicer(spec, n)
	})
}
