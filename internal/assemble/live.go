package assemble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"linerate/catalogue"
	"linerate/internal/apply"
	"linerate/internal/assemble/hosts"
	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/host/localhost"
	"linerate/internal/instrument"
	"linerate/internal/knob"
	"linerate/internal/list"
	"linerate/internal/live"
	"linerate/internal/plan"
	"linerate/internal/setting"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/tunable"
)

// LiveLabel states a limitation of a live host's numbers.
const LiveLabel = "one host in production, under its own traffic"

// LiveHost is a host in production on which a study runs.
type LiveHost struct {
	Conn   host.Runner
	Where  []string // as a verb's arguments; empty for this machine
	remote *hosts.Remote
	kernel instrument.KernelClock
	lacks  string // why no better way than ticks is used
}

// LiveHostOf connects to the host of a study.
func LiveHostOf(s study.Spec, remote *hosts.Remote) (*LiveHost, error) {
	remote.Become = cmp.Or(remote.Become, s.Testbed.Become)
	if s.Testbed.Host == "" {
		return &LiveHost{Conn: &localhost.Runner{}, remote: remote}, nil
	}
	if err := hosts.CheckRemote(s.Testbed.Host); err != nil {
		return nil, err
	}
	conn := remote.Runner(s.Testbed.Host)
	conn.Timeout = 0 // a window's scripts run as long as the window
	return &LiveHost{Conn: conn, Where: []string{s.Testbed.Host}, remote: remote}, nil
}

// Facts reads the host's facts.
func (h *LiveHost) Facts(ctx context.Context) (*fact.Facts, error) {
	source := hosts.Source{Remote: *h.remote}
	return source.Facts(ctx, h.Where)
}

// Close closes the connection and the kernel time counter.
func (h *LiveHost) Close() (err error) {
	if h.kernel != nil {
		err = h.kernel.Close()
	}
	return errors.Join(err, h.Conn.Close())
}

// CountKernel sets up the counting of the kernel's CPU time if a metric needs it: in the best way
// available on this machine, or in the way of the recorded windows. A remote host uses only its own
// accounting, because nothing is installed there.
func (h *LiveHost) CountKernel(o *live.Options) error {
	switch want := live.WayOf(o.Done); {
	case !study.CountsKernel(o.Metrics):
		return nil
	case len(h.Where) > 0:
		o.KernelLacks = "tracepoints: they are for a linerate that runs on the host itself, as root"
	case h.kernel == nil && h.lacks == "" && want != instrument.ByTicks:
		var err error
		if h.kernel, err = instrument.OpenKernelClock(); err != nil {
			h.lacks = "tracepoints: " + hint.Aside(err)
		}
	}
	if h.lacks != "" {
		o.KernelLacks = h.lacks
	}
	o.Kernel = h.kernel
	return nil
}

// Options returns the options for the study on the host. Its variants must be settable at run time
// and without a cost, according to the catalogue.
func (h *LiveHost) Options(s study.Spec, seed uint64, f *fact.Facts) (live.Options, error) {
	part := s.Parts[0]
	terms := part.Live
	o := live.Options{
		Conn: h.Conn, Machine: apply.On(h.Conn), Plan: study.PlanOf(s, part), Seed: seed, OS: f.OS,
		Metrics: terms.Watch, Better: stats.Direction(terms.Better), Service: terms.Service, HarmPercent: terms.HarmPercent,
		Pilot: time.Duration(terms.Pilot * float64(time.Second)), Imbalance: terms.Imbalance,
	}
	var err error
	for _, v := range s.Variants {
		if v.Name == s.Control {
			if o.Base, err = h.treatment(f, v, &o); err != nil {
				return o, err
			}
			continue
		}
		t, err := h.treatment(f, v, &o)
		if err != nil {
			return o, err
		}
		o.Treatments = append(o.Treatments, t)
	}
	return o, nil
}

func (h *LiveHost) treatment(f *fact.Facts, v study.Variant, o *live.Options) (live.Treatment, error) {
	t := live.Treatment{Name: v.Name}
	for _, set := range v.Settings {
		key, name := liveKey(f, set)
		r, err := fitForProduction(f, name, set.Value)
		if err != nil {
			return t, err
		}
		o.NewConnections = o.NewConnections || r.Reset == tunable.NewSockets
		t.Values = append(t.Values, apply.Assignment{Key: key, Value: set.Value})
	}
	return t, nil
}

// Fits returns why a setting cannot be tried on the host in production; nil if it can.
func (h *LiveHost) Fits(f *fact.Facts, s study.Setting) error {
	_, name := liveKey(f, s)
	_, err := fitForProduction(f, name, s.Value)
	return err
}

// liveKey returns the key of a setting on the host, and its name in the catalogue.
func liveKey(f *fact.Facts, s study.Setting) (key knob.Key, name string) {
	set := s.Setting()
	limit, isLimit := setting.OfPFLimit(set.Name)
	timeout, isTimeout := setting.OfPFTimeout(set.Name)
	switch {
	case isLimit:
		return knob.Key{Mechanism: setting.PFLimit, Name: limit}, set.Name
	case isTimeout:
		return knob.Key{Mechanism: setting.PFTimeout, Name: timeout}, set.Name
	case set.Mechanism != setting.Link:
		return knob.Key{Mechanism: setting.Sysctl, Name: set.Name}, set.Name
	case strings.EqualFold(f.OS, fact.FreeBSD): // tso4 and tso6 share a record
		name = "ifconfig:" + strings.TrimRight(set.Name, "46")
	default:
		name = "ethtool -K " + s.Device + " " + set.Name
	}
	return knob.Key{Mechanism: setting.Offload, Device: s.Device, Name: set.Name}, name
}

// fitForProduction returns an error unless the catalogue knows that a setting can be made at run
// time, at no cost and reversibly, and that the host accepts the value unchanged.
func fitForProduction(f *fact.Facts, name, value string) (*tunable.Record, error) {
	c, err := catalogue.Load()
	if err != nil {
		return nil, err
	}
	os := strings.ToLower(f.OS)
	r, err := c.Find(os, name)
	if err != nil {
		return nil, hint.With(fmt.Errorf("%s is not in the catalogue, so it is unknown whether it can be reverted completely", name), "%s", hint.Of(err))
	}
	at := r.At(f.Release)
	elsewhere := "study it on a testbed that is out of service: testbed: {kind: ssh, file: lab.yaml}"
	switch {
	case !at.Exists:
		return nil, fmt.Errorf("%s does not exist on %s %s", name, f.OS, f.Release)
	case !at.Settable.AtRuntime():
		return nil, hint.With(fmt.Errorf("%s cannot be set on a running host", name), "%s and reset: reboot", elsewhere)
	case !slices.Contains([]tunable.Reset{"", tunable.NoReset, tunable.NewSockets}, r.Reset):
		return nil, hint.With(fmt.Errorf("setting %s costs the host a reset (%s)", name, r.Reset), "%s", elsewhere)
	}
	if now, ok := f.LiveValue(name); ok {
		p := r.RejectOn(f.Release, now)
		if p != nil && p.Outside != tunable.Taken || at.Constraints.OnlyRaise {
			return nil, hint.With(fmt.Errorf("%s: what it is now, %s, could not be written back", name, now), "%s", elsewhere)
		}
	}
	if p := r.RejectOn(f.Release, value); p != nil && p.Outside != tunable.Taken {
		return nil, hint.With(hint.Usagef("%s=%s: %s", name, value, p.Message), "linerate explain %s says which values it takes", name)
	}
	return r, nil
}

// TrialOf returns a window in the form of a study's record.
func TrialOf(s study.Spec, w live.Window) study.Trial {
	part := s.Parts[0]
	observed := w.Window
	t := study.Trial{
		Part: part.Name, Variant: study.VariantOf(s.Control, w.Arm), Block: w.Pair, Order: w.Half, Start: w.Start, Mode: part.Mode, Seconds: w.Seconds,
		Observed: &study.Observation{Window: &observed},
	}
	t.Metrics, t.Reasons = study.Judge(part, s.Gates, *t.Observed)
	t.Valid = len(t.Reasons) == 0
	return t
}

// WindowsOf returns the windows in recorded trials.
func WindowsOf(s study.Spec, trials []study.Trial) (out []live.Window) {
	for _, t := range trials {
		seen := t.Saw().Window
		if seen == nil {
			continue
		}
		arm := t.Variant
		switch {
		case arm == study.AA:
			arm = study.Sham
		case arm == s.Control && t.Block == 0 && seen.Of == study.Rest:
			arm = study.Rest
		case arm == s.Control:
			arm = study.Control
		}
		out = append(out, live.Window{Start: t.Start, Seconds: t.Seconds, Arm: arm, Window: *seen})
	}
	return out
}

func startsOf(trials []study.Trial) []time.Time {
	pairs := list.Filter(trials, func(t study.Trial) bool { return t.Block > 0 })
	return list.Map(pairs, func(t study.Trial) time.Time { return t.Start })
}

// WindowLine returns a line about a completed window: the measurement, the width of the interval so
// far, and the maximum remaining time of the study.
func WindowLine(s study.Spec, seed uint64, trials []study.Trial, w live.Window) string {
	t := TrialOf(s, w)
	m, _ := study.MetricNamed(s.Primary().Metric)
	value := "nothing to measure"
	if v, ok := w.Value[m.Name]; ok {
		value = m.Text(v)
	}
	what := fmt.Sprintf("pair %d.%d", w.Pair, w.Half)
	switch {
	case w.Ramp:
		what = "first exposures"
	case w.Pair == 0:
		what = "rest"
	}
	line := fmt.Sprintf("%s  %-8s %s", what, t.Variant, value)
	switch {
	case !t.Valid:
		line += "  does not count: " + strings.Join(t.Why(), "; ")
	case w.Half == 2:
		if _, half := s.Interim(seed, trials); half.Known() {
			line += fmt.Sprintf("  ±%s so far", show.Percent(half.Float()))
		}
		plan := study.PlanOf(s, s.Parts[0])
		left := time.Duration(plan.Left(seed, w.Pair, study.ValidPairs(trials))) * study.Pitch(startsOf(trials), plan.Window)
		line += fmt.Sprintf("  at most %s left", show.Clock(left))
	}
	return line
}

// Planned returns the settings of a plan that can be made on a running host.
func Planned(p plan.Plan) (settings []study.Setting) {
	for _, step := range p.Settings {
		switch {
		case step.Mechanism == setting.Sysctl && step.Where.Runtime && step.Device == "":
			settings = append(settings, study.SysctlTo(step.Name, step.Value))
		case step.Mechanism == setting.Offload && step.Where.Runtime:
			settings = append(settings, study.LinkTo(step.Device, step.Name, step.Value))
		}
	}
	return settings
}
