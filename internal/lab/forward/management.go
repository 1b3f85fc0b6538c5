package forward

import (
	"context"
	"errors"
	"fmt"
	"time"

	"linerate/internal/port"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/wait"
)

// Manager creates probers that test whether a DUT is still usable, from a port of the
// generator, at the DUT's ingress; cpu is where the DUT's programs run.
type Manager interface {
	Open(from, dut port.Port, cpu int) (study.Prober, error)
	// Flood creates a flooder of the DUT's own service, with a thread on cpu.
	Flood(from, dut port.Port, cpu int) (study.Flooder, error)
}

// asking is a prober, or nothing if the part requests none.
type asking struct{ study.Prober }

// prober opens the prober that a part requests.
func (u *Setup) prober(dut testbed.Arm) (asking, error) {
	if !u.Part.Usable || u.Manager == nil || dut.Inside.In == nil {
		return asking{}, nil
	}
	p, err := u.Manager.Open(dut.Generator, dut.Inside, u.Bed.Describe().CPUs.DUT)
	if err != nil {
		return asking{}, fmt.Errorf("probe the DUT's management: %w", err)
	}
	return asking{p}, nil
}

// settled is how long a generator may take, generously, until it sends.
const settled = 100 * time.Millisecond

// during probes during a run of traffic that begins now, or until ctx is done; answered
// returns when the last answer has arrived.
func (a asking) during(ctx context.Context, traffic time.Duration) (answered func()) {
	if a.Prober == nil || traffic <= settled {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if wait.For(ctx, settled) != nil {
			return
		}
		a.Start()
		_ = wait.For(ctx, traffic-settled) // it also stops early
		a.Stop()
	}()
	return func() { <-done }
}

// note records the results, and ends the probing.
func (a *asking) note(o *study.Observation) error {
	if a.Prober == nil {
		return nil
	}
	defer a.close()
	m, err := a.Account()
	if err != nil {
		return fmt.Errorf("probe the DUT's management: %w", err)
	}
	o.Management = &m
	return nil
}

func (a *asking) close() {
	if a.Prober != nil {
		a.Prober.Close()
		a.Prober = nil
	}
}

// flood replaces measure in a part that floods: nothing is forwarded, and the
// result is whether the DUT still answers.
func (u *Setup) flood(ctx context.Context, o *study.Observation) (failed, err error) {
	o.Flooded = true
	offer, err := study.OfferOf(u.Part, u.Part.Seconds)
	if err != nil {
		return nil, err
	}
	dut := u.Bed.DUT()
	if u.Manager == nil || dut.Inside.In == nil {
		return errors.New("nothing to flood: this testbed's DUT has no service"), nil
	}
	cpus := u.Bed.Describe().CPUs
	f, err := u.Manager.Flood(dut.Generator, dut.Inside, cpus.Generator)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ask, err := u.prober(dut)
	if err != nil {
		return nil, err
	}
	defer ask.close()
	again, err := u.Check(u.CPUs())
	if err != nil {
		return nil, err
	}
	dead, err := watchDrops(dut.AllDrops)
	if err != nil {
		return nil, err
	}
	contention := u.Machine.Watch(dut.Thread, cpus.DUT)
	asked := ask.during(ctx, offer.Limit.Duration)
	o.Sent, failed = f.Run(ctx, offer)
	o.Contention = contention().Seconds()
	asked()
	if o.Drops, err = dead.since(); err != nil {
		return nil, err
	}
	if o.CPUs, err = again(); err != nil {
		return nil, err
	}
	return failed, ask.note(o)
}
