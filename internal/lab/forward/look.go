package forward

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"linerate/internal/drop"
	"linerate/internal/lab"
	"linerate/internal/load"
	"linerate/internal/profile"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Look satisfies lab.Looker.
func (r *Runner) Look(ctx context.Context, s *lab.Session, in study.Inside) (study.Telemetry, error) {
	u := r.setup(s, in.Part)
	t := study.Telemetry{Part: in.Part.Name, Mode: in.Part.Mode, Variant: in.Variant}
	variant, _ := u.Spec().Variant(in.Variant)
	if t.Unavailable = u.Here().Why(variant); t.Unavailable != "" {
		return t, nil
	}
	_, err := u.Bed.Reset(ctx, variant.Apply())
	var un *testbed.ErrUnavailable
	if errors.As(err, &un) {
		t.Unavailable = un.Error()
		return t, nil
	}
	if err != nil {
		return t, fmt.Errorf("set up the variant: %w", err)
	}
	c, err := u.Chain(testbed.WaysOf(u.Bed), u.Bed.DUTThread())
	if err != nil {
		return t, err
	}
	defer c.Close()
	offer, err := study.OfferOf(in.Part, in.Profile)
	if err != nil {
		return t, err
	}
	if err := c.warm(ctx, offer.Rate, in.Part.Warmup); err != nil {
		t.Unavailable = err.Error()
		return t, nil //nolint:nilerr // as a trial that measured nothing
	}
	l := &looking{Setup: u, chain: c, t: &t, rate: offer.Rate}
	return t, errors.Join(l.profile(ctx, in.Profile), l.count(ctx, in.Count), l.reasons(ctx, in.Count))
}

// looking is a variant that is up, and what is seen of it.
type looking struct {
	*Setup
	chain *Chain
	t     *study.Telemetry
	rate  load.Rate
}

// cpus are where the DUT works.
func (l *looking) cpus() []int {
	if cpu := l.Bed.Describe().CPUs.DUT; cpu >= 0 {
		return []int{cpu}
	}
	return nil
}

// send runs traffic from a rested DUT.
func (l *looking) send(ctx context.Context, seconds float64) (Ran, error) {
	if err := l.Bed.Settle(ctx); err != nil {
		return Ran{}, err
	}
	if err := l.chain.Reset(); err != nil {
		return Ran{}, err
	}
	limit := load.Limit{Duration: time.Duration(seconds * float64(time.Second))}
	return l.chain.Run(ctx, load.Offer{Rate: l.rate, Limit: limit}, 0, nil)
}

func (l *looking) lacks(what string, err error) {
	l.t.Missing = append(l.t.Missing, study.Missing{What: what, Why: err.Error()})
}

// profile keeps where the time went.
func (l *looking) profile(ctx context.Context, seconds float64) error {
	end, err := l.Instruments.Profile(ctx, l.cpus())
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
	if l.Keep == nil {
		return nil
	}
	return errors.Join(l.Keep(l.t.Profile.Pprof, pprof.Bytes()), l.Keep(l.t.Profile.Folded, folded.Bytes()))
}

// count reads the CPU's counters over traffic.
func (l *looking) count(ctx context.Context, seconds float64) error {
	end, err := l.Instruments.Count(l.cpus())
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
		c.Packets = got.Received.RxPackets
		l.t.PerPacket = append(l.t.PerPacket, c)
	}
	return nil
}

// reasons asks the kernel why it drops what it drops.
func (l *looking) reasons(ctx context.Context, seconds float64) error {
	bed, open := l.Bed.(testbed.Open)
	if !open {
		return nil
	}
	end, err := l.Instruments.Reasons(bed.DUT().In)
	if err != nil {
		l.lacks("drop reasons", err)
		return nil
	}
	dead, err := watchDrops(dropsOf(l.Bed))
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
	a := drop.AttributeReasons(got.Sent.TxPackets, got.Received.RxPackets, got.Received.Dropped, counted, why)
	l.t.Drops, l.t.Reasons = &a, why
	return nil
}
