package xdpload

import (
	"fmt"
	"syscall"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"linerate/internal/load/wire"
)

// refusedCounter counts redirected frames that a device refuses.
type refusedCounter struct {
	objs  refusedObjects
	links []link.Link
}

func newRefusedCounter(d wire.Device, port, refusals *ebpf.Map) (*refusedCounter, error) {
	r := &refusedCounter{}
	spec, err := loadRefused()
	if err != nil {
		return nil, fmt.Errorf("read the program that counts refused frames: %w", err)
	}
	config := refusedRefusedConfig{Ifindex: uint32(d.Index), Netns: d.Netns, Map: ^uint32(0)}
	if info, err := port.Info(); err == nil {
		if id, ok := info.ID(); ok {
			config.Map = uint32(id)
		}
	}
	if err := spec.Variables[refusedVarConfig].Set(config); err != nil {
		return nil, fmt.Errorf("configure the program that counts refused frames: %w", err)
	}
	shared := &ebpf.CollectionOptions{MapReplacements: map[string]*ebpf.Map{refusedMapRefusals: refusals}}
	if err := spec.LoadAndAssign(&r.objs, shared); err != nil {
		return nil, loadError("load the program that counts refused frames", err)
	}
	for _, p := range []*ebpf.Program{r.objs.Refused, r.objs.TurnedAway} {
		l, err := link.AttachTracing(link.TracingOptions{Program: p, AttachType: ebpf.AttachTraceRawTp})
		if err != nil {
			r.Close()
			return nil, loadError("attach the program that counts refused frames", err)
		}
		r.links = append(r.links, l)
	}
	return r, nil
}

// Count returns how many frames were refused so far, and the last error, or nil.
func (r *refusedCounter) Count() (n uint64, reason error) {
	var v refusedRefusals
	if r.objs.Refusals.Lookup(uint32(0), &v) != nil {
		return 0, nil
	}
	if v.Error < 0 {
		reason = syscall.Errno(-v.Error)
	}
	return v.Refused, reason
}

// Close detaches the program.
func (r *refusedCounter) Close() error {
	for _, l := range r.links {
		l.Close()
	}
	return r.objs.Close()
}
