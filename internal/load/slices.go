package load

import (
	"context"
	"fmt"
	"time"

	"linerate/internal/port"
)

// MaxLanes is how many lanes one Slicer can send over.
const MaxLanes = 16

// Lane is one way from a generator's port to a receiver's: through a DUT, or
// through none. All lanes of a Slicer start in one place and end in one.
type Lane struct{ From, To port.Port }

// SliceFlag says what disturbed a slice. The values are those of
// bpf/slices.bpf.c.
type SliceFlag uint8

// What can disturb a slice.
const (
	// Switched: the CPU ran something else meanwhile: another program, or
	// the chain's own softirq work in ksoftirqd.
	Switched SliceFlag = 1 << iota
	// Underway: not all frames had arrived at the slice's end that were sent
	// in it: they were lost, or are still on their way.
	Underway
	// Leftover: frames of the lane before were still on their way.
	Leftover
)

// Slice is one stretch of traffic over one lane, without its guard.
type Slice struct {
	Lane   int
	Flags  SliceFlag
	Frames uint32
	NS     uint32
	At     uint32 // µs from the start of the run to the slice's
}

// SlicePlan is what a Slicer is to do.
type SlicePlan struct {
	// Order names the lane of each slice: whole rounds, each with every lane
	// once, or Turn times in a row. The run ends with it, or with the round
	// in which Limit has passed since the end of the first, if there are Least
	// slices by then.
	Order []uint8
	Turn  int // 0: 1
	Limit time.Duration
	// Least is how many slices are sent however long they take: a slow machine
	// needs more time to tell as much.
	Least int
	Slice time.Duration // a slice's least measured time
	Guard int           // frames of a lane before its slice, not measured
	Warm  int           // the same before its first slice
	// Before, if not nil, is called before each turn with its lane, while no
	// traffic runs.
	Before func(lane int) error
}

// Over reports whether the run ends before the i-th slice, given the time since
// the end of the first of its rounds of round slices.
func (p SlicePlan) Over(i, round int, since time.Duration) bool {
	return i >= max(round, p.Least) && i%round == 0 && since >= p.Limit
}

// LaneAccount is what was sent over a lane and what arrived, guards included:
// received + lost = sent.
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

// Plus adds the account of the lane's other way.
func (a LaneAccount) Plus(b LaneAccount) LaneAccount {
	return LaneAccount{
		TxPackets: a.TxPackets + b.TxPackets, TxBytes: a.TxBytes + b.TxBytes, RxPackets: a.RxPackets + b.RxPackets, RxBytes: a.RxBytes + b.RxBytes,
		Lost: a.Lost + b.Lost, Duplicated: a.Duplicated + b.Duplicated, Reordered: a.Reordered + b.Reordered, Flows: a.Flows + b.Flows,
	}
}

// Sliced is the result of a run of a Slicer.
type Sliced struct {
	Engine  string
	Slices  []Slice
	Lanes   []LaneAccount
	Seconds float64 // from the first frame to the end of the last slice
}

// Interleaver is an Engine that can send over several lanes in turn.
type Interleaver interface {
	// NewSlicer prepares to send spec over up to n lanes. The spec's device,
	// stream, rate and limit do not matter: a Slicer sends as fast as it can.
	// With spec.Back each lane carries both directions at once, its frames
	// leaving by one end and by the other in turn; it then counts as two, and a
	// LaneAccount is of both.
	NewSlicer(spec Spec, n int) (Slicer, error)
}

// Ways is how many directions a spec has: 1 or 2.
func (s Spec) Ways() int {
	if s.Back != nil {
		return 2
	}
	return 1
}

// Slicer sends one Spec over several lanes in turn, slice by slice, all from
// one CPU, and measures the time per frame of each slice. What is slow happens
// in NewSlicer and not in Run.
type Slicer interface {
	Run(ctx context.Context, lanes []Lane, plan SlicePlan) (Sliced, error)
	Close() error
}

// NewSlicer takes the first engine that can send over several lanes in turn.
func (a *auto) NewSlicer(spec Spec, n int) (Slicer, error) {
	return first(a, "sending", func(e Engine) (Slicer, error) {
		i, ok := e.(Interleaver)
		if !ok {
			return nil, NotHere(fmt.Errorf("engine %s sends over one lane only", e.Name()))
		}
		return i.NewSlicer(spec, n)
	})
}
