package forward

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"linerate/internal/lab"
	"linerate/internal/load"
	"linerate/internal/profile"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// Look implements lab.Looker.
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
	dut := u.Bed.DUT()
	c, err := u.Chain(dut.Ways(), dut.Thread)
	if err != nil {
		return t, err
	}
	defer c.Close()
	offer, err := study.OfferOf(in.Part, in.Seconds)
	if err != nil {
		return t, err
	}
	if err := c.warm(ctx, offer.Rate, in.Part.Warmup); err != nil {
		t.Unavailable = err.Error()
		return t, nil //nolint:nilerr // like a trial that measured nothing
	}
	p, err := u.profile(ctx, c, offer)
	if err != nil {
		t.Missing = append(t.Missing, study.Missing{What: "profile", Why: err.Error()})
		return t, nil
	}
	t.Stacks = p
	return t, u.keep(&t)
}

// profile samples the DUT's CPU while traffic runs, starting from a DUT at rest.
func (u *Setup) profile(ctx context.Context, c *Chain, offer load.Offer) (*profile.Profile, error) {
	var cpus []int
	if cpu := u.Bed.Describe().CPUs.DUT; cpu >= 0 {
		cpus = []int{cpu}
	}
	end, err := u.Profiler(ctx, cpus)
	if err != nil {
		return nil, err
	}
	failed := errors.Join(u.Bed.Settle(ctx), c.Reset())
	if failed == nil {
		_, failed = c.Run(ctx, offer, 0, nil)
	}
	p, err := end()
	return p, errors.Join(failed, err)
}

// keep stores a profile.
func (u *Setup) keep(t *study.Telemetry) error {
	var b bytes.Buffer
	if err := t.Stacks.Write(&b); err != nil {
		return err
	}
	name := fmt.Sprintf("profile-%s-%s.pb.gz", t.Part, t.Variant)
	sum, err := u.store(name, b.Bytes())
	t.Profile = &study.ProfileFiles{Pprof: name, SHA256: sum, Event: t.Stacks.SampleType[0].Type}
	return err
}

// store stores a file, and returns its hash.
func (u *Setup) store(name string, data []byte) (sum string, err error) {
	if u.Keep != nil {
		err = u.Keep(name, data)
	}
	hash := sha256.Sum256(data)
	return hex.EncodeToString(hash[:]), err
}
