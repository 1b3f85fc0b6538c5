// Package live runs switchback studies: on a host in production, under its own traffic,
// with nothing installed there, so that the host comes back whatever happens.
package live

import (
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

// Options say what is studied where.
type Options struct {
	Conn    host.Runner
	Machine apply.Machine
	Plan    study.WindowPlan
	Seed    uint64
	// Treatments have the names of Plan.Treatments.
	Treatments []Treatment
	// Base is what the host has in the control's windows; without values it is left as
	// it is.
	Base Treatment
	// OS is the host's, where it is known: it decides which metrics there are.
	OS string
	// NewConnections says that a setting under study acts on new connections alone.
	NewConnections bool
	// About says what is studied, from where, to whoever asks the host.
	About string
	// Metrics as users write them, the primary first; Better says which way those of
	// the user's own are better.
	Metrics []string
	Better  stats.Direction
	// Kernel measures the CPU time of the host's kernel, which is then this machine's;
	// without it the host's own accounts do. KernelLacks says why nothing better does.
	Kernel      instrument.KernelClock
	KernelLacks string
	// Service is a process's name: a window in which it is started anew does not count.
	Service string
	// HarmPercent is how much worse the primary metric may be before the study ends.
	HarmPercent float64
	// Pilot is how long to look before anything is changed.
	Pilot time.Duration
	// DryRun ends after the pilot.
	DryRun bool
	// Hours, where set, are the hours of the day in which windows may be.
	Hours *Hours
	// Imbalance is how many times as much traffic one half of a pair may have as the
	// other.
	Imbalance float64

	// Done are the windows on record, of a study that goes on.
	Done []Window
	// Sink takes every window when it is over, in order; its error ends the study.
	Sink func(Window) error
	// Piloted is called with what the pilot saw, and what each metric is, and says how many pairs that
	// makes (0: the plan's); Enough is asked after each pair whether
	// more are needed.
	Piloted func(p map[string]study.Pilot, watched []string) (pairs int, err error)
	Enough  func([]Window) bool
	Say     func(format string, args ...any)

	metrics     []Metric
	connections bool
}

// Window is one window of the study, as it was.
type Window struct {
	Start   time.Time
	Seconds float64
	Arm     string
	study.Window
}

// Outcome is how a study ended.
type Outcome struct {
	Trip  *study.Trip // the guardrail that ended it
	Pilot map[string]study.Pilot
	// Watched says of each metric what it is, and how exact, as far as the pilot told.
	Watched []string
	// Restored is true where the host was seen to be as it was before.
	Restored bool
}

// run is one run of a study.
type run struct {
	o     *Options
	look  looker
	sw    switcher
	guard guarding
	owner string
	every time.Duration // between looks
	// answer is how long the host may take for one look, slow how long it took in the
	// pilot at most.
	answer, slow time.Duration
	last         Sample
	known        bool
	// held is until when the host is this study's.
	held  time.Time
	said  string // the last complaint
	pulse pulse
	// each runs one window.
	each  func(ctx context.Context, slot study.WindowSlot, length, burn time.Duration) (Window, error)
	awake asleep // at the last look
}

// Bounds of the time between two looks at the host.
const (
	leastEvery = 200 * time.Millisecond
	mostEvery  = 5 * time.Second
)

// patience with a host that does not answer, in a window without treatment.
const patience = 10 * time.Minute

// Run runs a study to its end, or until ctx is over. The host is as it was when it
// returns, or puts itself back when the window and its grace are over; which of the
// two, the outcome and the error say.
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
	if o.DryRun && r.sw.rooted(ctx) == nil { // other users may look, but cannot ask what is pending
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
	out.Watched = o.told() // now with what the pilot saw
	if err != nil || o.DryRun {
		return out, err
	}
	if out.Trip, err = r.ramp(ctx); err != nil || out.Trip != nil {
		return out, err
	}
	out.Trip, err = r.pairs(ctx)
	return out, err
}

// take makes the host this study's, if it may be.
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
	if o.HarmPercent == 0 {
		o.HarmPercent = 20
	}
	if o.Imbalance == 0 {
		o.Imbalance = 2
	}
	if len(o.Metrics) == 0 {
		return nil, hint.With(hint.Usagef("no metric"), "say what is to get better: %s", hint.Option("metric", "log:/var/log/nginx/access.log"))
	}
	if o.Hours != nil {
		if err := o.Hours.Fits(o.Plan.Window); err != nil {
			return nil, err
		}
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

// holds is for how long the host is this study's unless it goes on: for two windows.
func (r *run) holds() time.Duration { return 2*r.o.Plan.Window + r.sw.grace }

// hold keeps the host this study's.
func (r *run) hold(ctx context.Context) error {
	length := r.holds()
	if time.Until(r.held) > length/2 {
		return nil
	}
	if err := r.lock(ctx, length); err != nil {
		return err
	}
	r.held = time.Now().Round(0).Add(length) // the host's clock goes on while this machine sleeps
	return nil
}

// restorePatience bounds putting the host back when the study's context is over.
const restorePatience = time.Minute

// restore puts the host back, whatever became of the study, and looks whether it is.
func (r *run) restore(why error) (restored bool, _ error) {
	ctx, cancel := context.WithTimeout(context.Background(), restorePatience+r.sw.window+r.sw.grace)
	defer cancel()
	var err error
	for ctx.Err() == nil {
		if err = errors.Join(r.sw.lost(ctx), r.sw.end(ctx)); err == nil {
			break
		}
		_ = pause(ctx, time.Second) // cut short, it is the last turn
	}
	if err != nil {
		return false, errors.Join(why, hint.With(fmt.Errorf("%s could not be restored from here: %w", r.o.Conn.Where(), err),
			"its own switch puts it back within %s; see: linerate status", r.sw.window+r.sw.grace))
	}
	if r.sw.others { // what the host has now is the other study's; our own state is no longer visible
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

// pilot only looks: how the metrics scatter, and that no guardrail is beyond its limit
// already.
func (r *run) pilot(ctx context.Context) (map[string]study.Pilot, error) {
	length := r.o.Pilot
	r.o.Say("looking at %s for %s before anything is changed", r.o.Conn.Where(), length)
	r.guard.window(study.Control)
	values := map[string][]float64{}
	primary := r.o.metrics[0]
	is := func(v float64) bool { return !math.IsNaN(v) }
	// A host that is slow to answer is given the time for one value at least, which for a
	// counter takes two looks.
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

// burnIn takes the burn-in that the pilot allows, of a study that goes on that of its windows so far.
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

// ownProbes says that a log which does not tell who asked may count the study's own requests.
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

// glance is a look of the pilot. What worked before is waited for: a machine that wakes
// finds its connections dead; what a look saw across such a sleep shows no scatter.
func (r *run) glance(ctx context.Context, first bool) (now Sample, seen map[string]float64, slept bool, err error) {
	before := r.pulse.slept()
	look := func() (err error) {
		if !r.held.IsZero() {
			if err := r.hold(ctx); err != nil { // a long pilot outlasts its first hold
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

// check is one look: the host's counters, the metrics, the guardrails.
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

// complain says once what keeps a metric from being read.
func (r *run) complain(err error) {
	if text := err.Error(); text != r.said {
		r.said = text
		r.o.Say("%s", text)
	}
}
