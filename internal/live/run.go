// Package live runs switchback studies on a host in production, under its own traffic.
// It installs nothing there, and the host is restored whatever happens.
package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"linerate/internal/apply"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/instrument"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// Options describe what to study, and where.
type Options struct {
	Conn    host.Runner
	Machine apply.Machine
	Plan    study.WindowPlan
	Seed    uint64
	// Treatments are named as in Plan.Treatments.
	Treatments []Treatment
	// Base is the state in the control's windows; without values the host is left as
	// it is.
	Base Treatment
	// OS is the host's operating system, if known; it determines which metrics exist.
	OS string
	// NewConnections is set if a setting under study affects new connections only.
	NewConnections bool
	// About says what is studied and from where, for those who query the host.
	About string
	// Metrics are as users write them, the primary one first; Better is the
	// direction of improvement of user-defined ones.
	Metrics []string
	Better  stats.Direction
	// Kernel measures kernel CPU time, if the host is this machine; without it, the
	// host's own accounts are used. KernelLacks says why nothing better is available.
	Kernel      instrument.KernelClock
	KernelLacks string
	// Service is the name of a process; a window in which it restarts does not count.
	Service string
	// HarmPercent is how much worse the primary metric may be before the study ends.
	HarmPercent float64
	// Pilot is how long to observe before any change.
	Pilot time.Duration
	// DryRun ends after the pilot.
	DryRun bool
	// Imbalance is the largest ratio of traffic between the halves of a pair.
	Imbalance float64

	// Done are the windows on record, if the study is resumed.
	Done []Window
	// Sink receives every finished window, in order; its error ends the study.
	Sink func(Window) error
	// Piloted receives the pilot's results and a description of each metric, and returns the number
	// of pairs to run (0: the plan's). Enough is called after each pair and reports whether no more
	// are needed.
	Piloted func(p map[string]study.Pilot, watched []string) (pairs int, err error)
	Enough  func([]Window) bool
	Say     func(format string, args ...any)

	metrics     []Metric
	connections bool
}

// Window is the record of one window.
type Window struct {
	Start   time.Time
	Seconds float64
	Arm     string
	study.Window
}

// Outcome is the result of a study.
type Outcome struct {
	Trip  *study.Trip // the guardrail that ended it, if any
	Pilot map[string]study.Pilot
	// Watched describes each metric, and its precision as far as the pilot shows it.
	Watched []string
	// Restored is set if the host was verified to be as before the study.
	Restored bool
}

// run is one run of a study.
type run struct {
	o     *Options
	look  looker
	sw    switcher
	guard guarding
	owner string
	every time.Duration // interval between looks
	// answer is how long the host may take for a look; slow is the longest it took in
	// the pilot.
	answer, slow time.Duration
	last         Sample
	known        bool
	// held is when the study's lock on the host expires.
	held  time.Time
	said  string // last complaint
	pulse pulse
	// each runs one window.
	each  func(ctx context.Context, slot study.WindowSlot, length, burn time.Duration) (Window, error)
	awake asleep // as of the last look
}

// Bounds of the interval between looks.
const (
	leastEvery = 200 * time.Millisecond
	mostEvery  = 5 * time.Second
)

// patience is how long to wait for a host that does not answer, in a window without treatment.
const patience = 10 * time.Minute

// Run runs a study to its end, or until ctx is done. When it returns, the host is
// as before, or will restore itself when the window and its grace period are over;
// the outcome and the error say which.
func Run(ctx context.Context, o Options) (out Outcome, err error) {
	r, err := o.prepare()
	if err != nil {
		return out, err
	}
	return r.study(ctx)
}

func (r *run) study(ctx context.Context) (out Outcome, err error) {
	o := r.o
	out.Watched = o.told()
	defer func() {
		for _, m := range o.metrics {
			err = errors.Join(err, m.from.Close())
		}
	}()
	if err := o.try(ctx); err != nil {
		return out, err
	}
	beating, still := context.WithCancel(ctx)
	defer still()
	r.pulse.start(beating)
	if o.DryRun && r.sw.rooted(ctx) == nil { // other users may observe, but cannot query pending changes
		if err := r.sw.begin(ctx, o.Treatments); err != nil {
			return out, err
		}
	}
	if !o.DryRun {
		if err := r.take(ctx); err != nil {
			return out, err
		}
		defer func() { out.Restored, err = r.restore(err) }()
	}
	out.Pilot, err = r.pilot(ctx)
	out.Watched = o.told() // now with the pilot's results
	if err != nil || o.DryRun {
		return out, err
	}
	if out.Trip, err = r.ramp(ctx); err != nil || out.Trip != nil {
		return out, err
	}
	out.Trip, err = r.pairs(ctx)
	return out, err
}

// take locks the host for this study and checks that it can be changed.
func (r *run) take(ctx context.Context) error {
	if err := r.sw.rooted(ctx); err != nil {
		return err
	}
	if err := r.hold(ctx); err != nil {
		return err
	}
	if err := r.sw.begin(ctx, r.o.Treatments); err != nil {
		unlocked, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestAnswer)
		defer cancel()
		return errors.Join(err, r.unlock(unlocked))
	}
	return nil
}

func (o *Options) prepare() (*run, error) {
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	o.HarmPercent, o.Imbalance = cmp.Or(o.HarmPercent, 20), cmp.Or(o.Imbalance, 2)
	if len(o.Metrics) == 0 {
		return nil, hint.With(hint.Usagef("no metric"), "say what is to get better: %s", hint.Option("metric", "log:/var/log/nginx/access.log"))
	}
	for _, text := range o.Metrics {
		m, err := o.ParseMetric(text)
		if err != nil {
			return nil, err
		}
		o.metrics = append(o.metrics, m)
	}
	if err := o.sameWay(); err != nil {
		return nil, err
	}
	r := &run{o: o, answer: longestAnswer, look: looker{Runner: o.Conn, connections: o.connections, service: o.Service, kernel: o.Kernel}, guard: guarding{rails: o.guardrails()}}
	r.every = min(mostEvery, max(leastEvery, o.Plan.Window/10))
	r.owner = fmt.Sprintf("study-%08x", uint32(rand.Uint64()))
	r.sw = switcher{Machine: o.Machine, host: o.Conn, owner: r.owner, window: o.Plan.Window, grace: max(leastGrace, o.Plan.Window/2), base: o.Base.Values}
	r.each = r.window
	return r, nil
}

// holds returns for how long the study locks the host at a time: two windows.
func (r *run) holds() time.Duration { return 2*r.o.Plan.Window + r.sw.grace }

// hold renews the lock on the host.
func (r *run) hold(ctx context.Context) error {
	length := r.holds()
	if time.Until(r.held) > length/2 {
		return nil
	}
	if err := r.lock(ctx, length); err != nil {
		return err
	}
	r.held = time.Now().Round(0).Add(length) // the host's clock keeps running while this machine sleeps
	return nil
}

// restorePatience bounds the time to restore the host after the study's context is done.
const restorePatience = time.Minute

// restore restores the host, however the study ended, and verifies the result.
func (r *run) restore(why error) (restored bool, _ error) {
	ctx, cancel := context.WithTimeout(context.Background(), restorePatience+r.sw.window+r.sw.grace)
	defer cancel()
	var err error
	for ctx.Err() == nil {
		if err = errors.Join(r.sw.lost(ctx), r.sw.end(ctx)); err == nil {
			break
		}
		_ = pause(ctx, time.Second) // if cancelled, this was the last attempt
	}
	if err != nil {
		return false, errors.Join(why, hint.With(fmt.Errorf("%s could not be restored from here: %w", r.o.Conn.Where(), err),
			"its own switch puts it back within %s; see: linerate status", r.sw.window+r.sw.grace))
	}
	if r.sw.others { // the host is now in the other study's state; ours is no longer visible
		return false, why
	}
	wrong, err := r.sw.changed(ctx, nil)
	if err == nil && len(wrong) > 0 {
		err = fmt.Errorf("%s is not as it was before the study: %v", r.o.Conn.Where(), wrong)
	}
	return err == nil, errors.Join(why, err, r.unlock(ctx))
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// pilot only observes: how the metrics scatter, and whether a guardrail is already
// exceeded.
func (r *run) pilot(ctx context.Context) (map[string]study.Pilot, error) {
	length := r.o.Pilot
	r.o.Say("looking at %s for %s before anything is changed", r.o.Conn.Where(), length)
	r.guard.window(study.Control)
	values := map[string][]float64{}
	primary := r.o.metrics[0]
	is := func(v float64) bool { return !math.IsNaN(v) }
	// A host that is slow to answer gets the time for at least one value; for a counter
	// that takes two looks.
	looks, from := 0, Sample{}
	for end := time.Now().Add(length); time.Now().Before(end) || !slices.ContainsFunc(values[primary.Metric], is) && (time.Since(end) < leastAnswer || looks < 3); looks++ {
		now, seen, slept, err := r.glance(ctx, looks == 0)
		if err != nil {
			return nil, err
		}
		if slept {
			continue
		}
		if r.slow = max(r.slow, now.Took); from.Boot == "" {
			from = now
		}
		if rail, v, is := r.guard.beyond(now); is {
			return nil, hint.With(fmt.Errorf("%s: %s is %s without any change, beyond the guardrail of %s", r.o.Conn.Where(), rail.Name, rail.In(v), rail.In(rail.Limit)), "a host in such a state is none to try settings on")
		}
		for name, v := range seen {
			values[name] = append(values[name], v)
		}
		if err := pause(ctx, r.every); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(values[primary.Metric], is) {
		why := "there was nothing to measure"
		if r.said != "" {
			why = r.said
		}
		return nil, hint.With(fmt.Errorf("metric %s gave no value in %s: %s", primary.Watched.Source, length, why), "look for longer (%s) where the host is idle, or watch something else", hint.Option("pilot", "10m"))
	}
	r.answer = min(longestAnswer, max(leastAnswer, slowness*r.slow))
	r.guard.answers(r.answer)
	if window := r.o.Plan.Window; r.slow > window/4 {
		r.o.Say("%s takes up to %s to tell its counters: windows of %s have room for few looks, longer ones for more", r.o.Conn.Where(), show.Brief(r.slow), show.Brief(window))
	}
	pilots := map[string]study.Pilot{}
	for _, m := range r.o.metrics {
		pilots[m.Metric], _ = study.PilotOf(values[m.Metric], r.every)
	}
	r.burnIn(pilots[primary.Metric])
	r.ownProbes(length)
	r.exactness(from, r.last)
	if r.o.Piloted != nil {
		pairs, err := r.o.Piloted(pilots, r.o.told())
		if pairs > 0 {
			r.o.Plan.Pairs = pairs
		}
		return pilots, err
	}
	return pilots, nil
}

// burnIn adopts the burn-in that the pilot allows; a resumed study keeps that of its earlier windows.
func (r *run) burnIn(p study.Pilot) {
	was := r.o.Plan.BurnIn
	r.o.Plan.BurnIn = p.BurnIn(r.o.Plan)
	for _, w := range r.o.Done {
		if w.Pair > 0 && w.BurnIn > 0 {
			r.o.Plan.BurnIn = time.Duration(w.BurnIn * float64(time.Second))
		}
	}
	if now := r.o.Plan.BurnIn; now > was {
		r.o.Say("the first %s of each window are not measured, instead of %s: that costs no precision here, and effects have more time", show.Brief(now), show.Brief(was))
	}
}

// ownProbes warns that a log without user agents may count the study's own requests.
func (r *run) ownProbes(length time.Duration) {
	probes := slices.ContainsFunc(r.o.metrics, func(m Metric) bool { return strings.HasPrefix(m.Source, "probe:http") })
	for _, m := range r.o.metrics {
		l, ok := m.from.(interface{ ownLines() (own, others float64) })
		if !probes || !ok {
			continue
		}
		mine := length.Seconds() / probeEvery.Seconds()
		if own, others := l.ownLines(); own == 0 && others > 0 && others < 10*mine {
			r.o.Say("%s: of %.0f requests up to %.0f may be the study's own probes: let the log tell the user agent (%s), or watch the probe in a separate study", m.Source, others, min(mine, others), ownAgent)
		}
	}
}

// glance is a look of the pilot. If earlier looks worked, it waits for the host: after a machine
// wakes up its connections are dead. Values across such a sleep say nothing about scatter.
func (r *run) glance(ctx context.Context, first bool) (now Sample, seen map[string]float64, slept bool, err error) {
	before := r.pulse.slept()
	look := func() (err error) {
		if !r.held.IsZero() {
			if err := r.hold(ctx); err != nil { // a long pilot outlasts its first lock
				return err
			}
		}
		now, seen, _, err = r.check(ctx, false)
		return err
	}
	if first {
		err = look()
	} else {
		err = r.reach(ctx, look)
	}
	return now, seen, r.pulse.slept() != before, err
}

// check takes one look: at the host's counters, the metrics and the guardrails.
func (r *run) check(ctx context.Context, treated bool) (now Sample, seen map[string]float64, trip *study.Trip, err error) {
	before := r.pulse.slept()
	bounded, cancel := context.WithTimeoutCause(ctx, r.answer+r.every, fmt.Errorf("no answer in %s", r.answer+r.every))
	defer cancel()
	now, err = r.look.look(bounded)
	if err != nil {
		return now, nil, nil, err
	}
	after := r.pulse.slept()
	now.Took -= after.running - before.running
	if !r.held.IsZero() && now.Owner != r.owner {
		return now, nil, nil, r.lost(time.Now())
	}
	if now.unread != nil {
		r.complain(now.unread)
	}
	seen = map[string]float64{}
	for _, m := range r.o.metrics {
		v, err := m.from.Tick(bounded, now)
		if err != nil {
			r.complain(err)
			v = math.NaN()
		}
		seen[m.Metric] = v
	}
	if r.known && after == r.awake {
		trip = r.guard.check(treated, now, r.last, seen)
	}
	r.last, r.known, r.awake = now, true, after
	return now, seen, trip, nil
}

// complain reports an error that keeps a metric from being read, unless it was the last one reported.
func (r *run) complain(err error) {
	if text := err.Error(); text != r.said {
		r.said = text
		r.o.Say("%s", text)
	}
}
