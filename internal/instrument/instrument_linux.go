package instrument

import (
	"context"
	"fmt"
	"time"

	"linerate/internal/drop"
	"linerate/internal/port"
	"linerate/internal/profile"
	"linerate/internal/show"
)

// hertz is how often a CPU is sampled: often enough that a second tells a
// point from two, and off the round numbers of the kernel's timers.
const hertz = 3989

// longest is how long a profile may take: the caller ends it before.
const longest = 10 * time.Minute

// packets are functions below which the kernel, or the generator within it,
// works for packets: a stack with none of them is another program's.
var packets = []string{"net_rx_action", "napi_threaded_poll", "bpf_prog_test_run_xdp", "packet_sendmsg"}

// Profile samples CPUs until it is ended. Only the time that packets took is
// kept, where there is any: not what the CPUs did for other programs.
func (Local) Profile(ctx context.Context, cpus []int) (end func() (*profile.Profile, error), err error) {
	ctx, cancel := context.WithCancel(ctx)
	type result struct {
		p   *profile.Profile
		err error
	}
	done := make(chan result, 1)
	sampling := make(chan struct{})
	go func() {
		p, err := Record(ctx, RecordOptions{CPUs: cpus, Hertz: hertz, Time: longest, Ready: func() { close(sampling) }})
		done <- result{p, err}
	}()
	select {
	case <-sampling:
	case r := <-done:
		cancel()
		return nil, r.err
	}
	return func() (*profile.Profile, error) {
		cancel()
		r := <-done
		if r.err != nil {
			return nil, r.err
		}
		return ofPackets(r.p), nil
	}, nil
}

func ofPackets(p *profile.Profile) *profile.Profile {
	own := p.Through(packets)
	if own == nil {
		return p
	}
	other := 100 - 100*float64(own.Total())/float64(p.Total())
	own.Notes = append(own.Notes, fmt.Sprintf("%s of the time was idle, or other programs', and is left out.", show.Percent(other)))
	return own
}

// Reasons counts the packets dropped in the namespace of a place.
func (Local) Reasons(dut port.Place) (end func() (drop.Counters, error), err error) {
	c, err := CountDrops(dut)
	if err != nil {
		return nil, err
	}
	return func() (drop.Counters, error) {
		defer c.Close()
		return c.Read()
	}, nil
}
