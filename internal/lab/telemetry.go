package lab

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"linerate/internal/drop"
	"linerate/internal/load"
	"linerate/internal/port"
	"linerate/internal/profile"
	"linerate/internal/study"
	"linerate/internal/study/forward"
	"linerate/internal/testbed"
)

// Instruments look into a machine while traffic runs, and disturb it. Each
// begins, or says why it cannot, and is ended by what it returns.
type Instruments interface {
	// Profile samples CPUs; empty: all.
	Profile(ctx context.Context, cpus []int) (end func() (*profile.Profile, error), err error)
	// Count counts the hardware's events on CPUs, and says which it has not.
	Count(cpus []int) (end func() ([]study.PerPacket, []study.Missing, error), err error)
	// Reasons counts what the kernel drops in a DUT, by the reason it gives.
	Reasons(dut port.Place) (end func() (drop.Counters, error), err error)
}

// inside looks into every variant that the study wants looked into.
func (r *Session) inside(ctx context.Context) error {
	if r.Instruments == nil {
		return nil
	}
	for {
		in, ok := study.InsideNext(r.task.Spec, r.task.Telemetry, r.task.Done, r.skip)
		if !ok {
			return nil
		}
		if err := r.enter(ctx, in.Part); err != nil {
			return err
		}
		if r.skip(in.Part) {
			continue
		}
		start := r.Machine.Now()
		t, err := r.look(ctx, in)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("look into %s, part %s: %w", in.Variant, in.Part.Name, err)
		}
		t.Start, t.Seconds = start.UTC(), r.Machine.Now().Sub(start).Seconds()
		if r.Looked != nil {
			if err := r.Looked(t); err != nil {
				return err
			}
		}
		r.task.Telemetry = append(r.task.Telemetry, t)
	}
}

// look sets a variant up once and runs its traffic under each instrument.
func (r *Session) look(ctx context.Context, in study.Inside) (study.Telemetry, error) {
	t := study.Telemetry{Part: in.Part.Name, Mode: in.Part.Mode, Variant: in.Variant}
	variant, _ := r.task.Spec.Variant(in.Variant)
	if t.Unavailable = r.here().Why(variant); t.Unavailable != "" {
		return t, nil
	}
	_, err := r.bed.Reset(ctx, variant.Apply())
	var un *testbed.ErrUnavailable
	if errors.As(err, &un) {
		t.Unavailable = un.Error()
		return t, nil
	}
	if err != nil {
		return t, fmt.Errorf("set up the variant: %w", err)
	}
	c, err := r.chain(testbed.WaysOf(r.bed), in.Part, r.bed.DUTThread())
	if err != nil {
		return t, err
	}
	defer c.close()
	offer, err := forward.Offer(in.Part, in.Profile)
	if err != nil {
		return t, err
	}
	if err := c.warm(ctx, offer.Rate, in.Part.Warmup); err != nil {
		t.Unavailable = err.Error()
		return t, nil //nolint:nilerr // as a trial that measured nothing
	}
	l := &looking{run: r, chain: c, t: &t, rate: offer.Rate}
	return t, errors.Join(l.profile(ctx, in.Profile), l.count(ctx, in.Count), l.reasons(ctx, in.Count))
}

// looking is a variant that is up, and what is seen of it.
type looking struct {
	run   *Session
	chain *chain
	t     *study.Telemetry
	rate  load.Rate
}

// cpus are where the DUT works.
func (l *looking) cpus() []int {
	if cpu := l.run.bed.Describe().CPUs.DUT; cpu >= 0 {
		return []int{cpu}
	}
	return nil
}

// send runs traffic from a rested DUT.
func (l *looking) send(ctx context.Context, seconds float64) (ran, error) {
	if err := l.run.bed.Settle(ctx); err != nil {
		return ran{}, err
	}
	if err := l.chain.rx.Reset(); err != nil {
		return ran{}, err
	}
	limit := load.Limit{Duration: time.Duration(seconds * float64(time.Second))}
	return l.chain.run(ctx, load.Offer{Rate: l.rate, Limit: limit}, 0, nil)
}

func (l *looking) lacks(what string, err error) {
	l.t.Missing = append(l.t.Missing, study.Missing{What: what, Why: err.Error()})
}

// profile keeps where the time went.
func (l *looking) profile(ctx context.Context, seconds float64) error {
	end, err := l.run.Instruments.Profile(ctx, l.cpus())
	if err != nil {
		l.lacks("profile", err)
		return nil
	}
	_, failed := l.send(ctx, seconds)
	p, err := end()
	if err = errors.Join(failed, err); err != nil {
		l.lacks("profile", err)
		return nil
	}
	l.t.Stacks = p
	return l.keep(p)
}

// keep hands a profile's files on.
func (l *looking) keep(p *profile.Profile) error {
	var pprof, folded bytes.Buffer
	if err := errors.Join(p.WritePprof(&pprof), p.WriteFolded(&folded)); err != nil {
		return err
	}
	name := fmt.Sprintf("profile-%s-%s", l.t.Part, l.t.Variant)
	sum := sha256.Sum256(pprof.Bytes())
	l.t.Profile = &study.ProfileFiles{Pprof: name + ".pb.gz", Folded: name + ".folded", SHA256: hex.EncodeToString(sum[:]), Event: p.Event, Samples: p.Samples}
	if l.run.Keep == nil {
		return nil
	}
	return errors.Join(l.run.Keep(l.t.Profile.Pprof, pprof.Bytes()), l.run.Keep(l.t.Profile.Folded, folded.Bytes()))
}

// count reads the CPU's counters over traffic.
func (l *looking) count(ctx context.Context, seconds float64) error {
	end, err := l.run.Instruments.Count(l.cpus())
	if err != nil {
		l.lacks("counters", err)
		return nil
	}
	got, failed := l.send(ctx, seconds)
	counts, lack, err := end()
	l.t.Missing = append(l.t.Missing, lack...)
	if err = errors.Join(failed, err); err != nil {
		l.lacks("counters", err)
		return nil
	}
	for _, c := range counts {
		c.Packets = got.received.RxPackets
		l.t.PerPacket = append(l.t.PerPacket, c)
	}
	return nil
}

// reasons asks the kernel why it drops what it drops.
func (l *looking) reasons(ctx context.Context, seconds float64) error {
	bed, open := l.run.bed.(testbed.Open)
	if !open {
		return nil
	}
	end, err := l.run.Instruments.Reasons(bed.DUT().In)
	if err != nil {
		l.lacks("drop reasons", err)
		return nil
	}
	dead, err := watchDrops(dropsOf(l.run.bed))
	if err != nil {
		return err
	}
	got, failed := l.send(ctx, seconds)
	counted, err := dead.since()
	why, unread := end()
	if err := errors.Join(failed, err, unread); err != nil {
		l.lacks("drop reasons", err)
		return nil
	}
	a := drop.AttributeReasons(got.sent.TxPackets, got.received.RxPackets, got.received.Dropped, counted, why)
	l.t.Drops, l.t.Reasons = &a, why
	return nil
}
