package xdpload

import (
	"fmt"

	"linerate/internal/load"
)

// perFlow reads the accounts of individual flows.
func (r *Receiver) perFlow() (out []load.FlowReceived, err error) {
	var table receiveReceiveTable
	if err := r.objs.Table.Get(&table); err != nil {
		return nil, fmt.Errorf("read the receiver's table: %w", err)
	}
	perSlot := len(table.Page) / slots
	for at, page := range table.Page {
		if page == 0 || page*pageFlows > r.objs.Flows.MaxEntries() {
			continue // beyond the pool: its frames were untracked
		}
		for i := range uint32(pageFlows) {
			one, err := r.flow((page-1)*pageFlows+i, at%perSlot*pageFlows+int(i))
			if err != nil {
				return nil, err
			}
			if one.Received > 0 {
				out = append(out, one)
			}
		}
	}
	return out, nil
}

// flow returns the account at an index of the map.
func (r *Receiver) flow(place uint32, number int) (load.FlowReceived, error) {
	var f receiveReceiveFlow
	var d receiveReceiveDelays
	if err := r.objs.Flows.Lookup(place, &f); err != nil {
		return load.FlowReceived{}, fmt.Errorf("read the account of flow %d: %w", number, err)
	}
	if err := r.objs.Delays.Lookup(place, &d); err != nil {
		return load.FlowReceived{}, fmt.Errorf("read the delays of flow %d: %w", number, err)
	}
	kept := min(int(d.Trains), len(d.Delay))
	return load.FlowReceived{Flow: number, Received: f.Received, Expected: uint64(f.Next), Delays: d.Delay[:kept]}, nil
}
