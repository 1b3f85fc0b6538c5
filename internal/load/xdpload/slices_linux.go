package xdpload

import (
	"errors"
	"fmt"
	"time"

	"linerate/internal/load"

	"github.com/cilium/ebpf"
)

// account reads what was measured, sent and received.
func (s *slicer) account(lanes int, run uint16) (load.Sliced, error) {
	state, err := s.state()
	if err != nil {
		return load.Sliced{}, err
	}
	out := load.Sliced{Engine: Name, Seconds: float64(state.Now-state.Start) / 1e9}
	if out.Slices, err = s.entries(int(state.Index)); err != nil {
		return out, err
	}
	for deadline := time.Now().Add(drainFor); ; time.Sleep(5 * time.Millisecond) {
		lost, err := s.lanes(&out, lanes, run)
		if err != nil || lost == 0 || time.Now().After(deadline) {
			return out, err
		}
	}
}

// entries reads the first n slices.
func (s *slicer) entries(n int) ([]load.Slice, error) {
	if n == 0 {
		return nil, nil
	}
	keys, entries := make([]uint32, n), make([]slicesSlicesEntry, n)
	var cursor ebpf.MapBatchCursor
	got, err := s.objs.Entries.BatchLookup(&cursor, keys, entries, nil)
	if err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) || got < n {
		return nil, fmt.Errorf("read %d slices, got %d: %w", n, got, err)
	}
	slices := make([]load.Slice, n)
	for i, e := range entries {
		slices[i] = load.Slice{Lane: int(e.Lane), Flags: load.SliceFlag(e.Flags), Frames: e.Frames, NS: e.Ns, At: e.At}
	}
	return slices, nil
}

// lanes completes the lanes' accounts, and returns how many frames have not
// arrived.
func (s *slicer) lanes(out *load.Sliced, n int, run uint16) (lost uint64, err error) {
	var sent [load.MaxLanes]slicesSlicesLane
	if err := s.objs.Lanes.Get(&sent); err != nil {
		return 0, fmt.Errorf("read the lanes: %w", err)
	}
	streams, err := s.rx.streams()
	if err != nil {
		return 0, err
	}
	out.Lanes = make([]load.LaneAccount, n)
	for i := range n * s.spec.Ways() {
		a := load.LaneAccount{TxPackets: sent[i].Sent, TxBytes: sent[i].Bytes + 4*sent[i].Sent}
		for _, r := range streams {
			if r.Of == (load.StreamRun{Stream: uint16(firstStream + i), Run: run}) {
				a.RxPackets, a.RxBytes, a.Duplicated, a.Reordered, a.Flows = r.Received, r.Bytes, r.Duplicated, r.Reordered, r.Flows
			}
		}
		a.Lost = a.TxPackets - min(a.TxPackets, a.RxPackets)
		l := &out.Lanes[i/s.spec.Ways()]
		*l = l.Plus(a)
		lost += a.Lost
	}
	return lost, nil
}
