package live

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"linerate/internal/apply"
	"linerate/internal/list"
	"linerate/internal/study"
)

// ramp exposes the host to each treatment for some seconds, then for half a minute, before
// the first full window, so that what breaks at once breaks briefly. A study interrupted
// in the ramp resumes with the remaining exposures.
func (r *run) ramp(ctx context.Context) (*study.Trip, error) {
	w := r.o.Plan.Window
	exposed := list.Count(r.o.Done, func(done Window) bool { return done.Ramp && (study.WindowSlot{Arm: done.Arm}).Treated() })
	for _, length := range []time.Duration{max(leastRamp, w/60), w / 3} {
		length = min(length, 30*time.Second, w)
		for _, t := range r.o.Treatments {
			if exposed--; exposed >= 0 {
				continue
			}
			if trip, err := r.expose(ctx, t, length); err != nil || trip != nil {
				return trip, err
			}
		}
	}
	return nil, nil
}

// expose runs a window of the control and one of a treatment; neither counts.
func (r *run) expose(ctx context.Context, t Treatment, length time.Duration) (*study.Trip, error) {
	for _, slot := range []study.WindowSlot{{Of: t.Name, Arm: study.Control}, {Of: t.Name, Arm: t.Name}} {
		seen, err := r.each(ctx, slot, length, 0)
		if err != nil {
			return nil, err
		}
		seen.Ramp = true
		r.o.Done = append(r.o.Done, seen)
		if err := r.o.Sink(seen); err != nil || seen.Trip != nil {
			return seen.Trip, err
		}
	}
	return nil, nil
}

// leastRamp is the least length of the first exposure, enough for three checks.
const leastRamp = time.Second

// pairs runs the rest of the schedule. Invalid pairs are replaced at the end, by up
// to as many again.
func (r *run) pairs(ctx context.Context) (*study.Trip, error) {
	done := slices.Clone(r.o.Done)
	for {
		slots, more := r.o.left(done)
		if !more || r.o.Enough != nil && r.o.Enough(done) {
			return nil, nil
		}
		if slots[0].Arm != study.Rest && r.o.treatedTooLong(done) {
			slots = []study.WindowSlot{{Of: study.Rest, Arm: study.Rest}}
		}
		var pair []Window
		for _, slot := range slots {
			w, err := r.each(ctx, slot, r.o.Plan.Window, r.o.Plan.BurnIn)
			if err != nil {
				return nil, err
			}
			if pair = append(pair, w); len(pair) == 2 {
				r.o.balance(pair)
			}
			if err := r.o.Sink(pair[len(pair)-1]); err != nil || w.Trip != nil {
				return w.Trip, err
			}
		}
		done = append(done, pair...)
	}
}

// treatedTooLong reports whether treatments exceeded their share of the time so far:
// first exposures and aborted pairs are not followed by rests.
func (o *Options) treatedTooLong(done []Window) bool {
	treated, all := 0.0, 0.0
	for _, w := range done {
		all += w.Seconds
		if (study.WindowSlot{Arm: w.Arm}).Treated() {
			treated += w.Seconds
		}
	}
	return o.Plan.MaxShare > 0 && treated > 1.01*o.Plan.MaxShare*all
}

// left returns the next windows: a pair, or a rest. more is false at the end.
func (o *Options) left(done []Window) (slots []study.WindowSlot, more bool) {
	valid := map[string]int{}
	for i := 0; i+1 < len(done); i++ {
		a, b := done[i], done[i+1]
		if a.Ramp || a.Pair == 0 || a.Pair != b.Pair || a.Half == b.Half { // not two halves of one pair, or a pair that was interrupted and restarted
			continue
		}
		if len(a.Disturbed) == 0 && len(b.Disturbed) == 0 {
			valid[a.Of]++
		}
	}
	enough := true
	for _, t := range o.Treatments {
		enough = enough && valid[t.Name] >= o.Plan.Pairs
	}
	plan := o.Plan
	plan.Pairs *= 2
	all := plan.Schedule(o.Seed)
	place, seen := 0, 0
	for place < len(all) && seen < len(done) {
		switch w := done[seen]; {
		case w.Ramp:
			seen++
		case w.Pair == all[place].Pair && w.Arm == all[place].Arm:
			place++
			seen++
		default: // an interrupted pair is restarted
			seen++
		}
	}
	if place < len(all) && all[place].Half == 2 { // its first half was run alone
		place--
	}
	if enough || place >= len(all) {
		return nil, false
	}
	if all[place].Pair == 0 {
		return all[place : place+1], true
	}
	return all[place : place+2], true
}

// balance invalidates a pair whose halves handled different amounts of traffic.
func (o *Options) balance(pair []Window) {
	a, b := pair[0].Traffic, pair[1].Traffic
	if a <= 0 || b <= 0 || max(a, b)/min(a, b) <= o.Imbalance {
		return
	}
	pair[1].Disturbed = append(pair[1].Disturbed, study.Disturbance{Gate: study.GateTraffic,
		Text: fmt.Sprintf("the pair's halves handled %.4g and %.4g packets a second, more than %g times apart", a, b, o.Imbalance)})
}

// window runs one window of an arm. An error ends the study; the treatment is
// reverted when it returns one.
func (r *run) window(ctx context.Context, slot study.WindowSlot, length, burn time.Duration) (Window, error) {
	w := Window{Start: time.Now().UTC(), Arm: slot.Arm}
	w.Window = study.Window{Pair: slot.Pair, Half: slot.Half, Of: slot.Of, BurnIn: burn.Seconds(), Series: map[string][]*float64{}, Value: map[string]float64{}, Counted: map[string]float64{}, Drops: map[string]float64{}}
	before := r.pulse.slept()
	if err := r.reach(ctx, func() error { return r.hold(ctx) }); err != nil {
		return w, err
	}
	if err := r.reach(ctx, func() error { return r.begin(ctx, slot) }); err != nil {
		return w, errors.Join(err, r.takeOff("the switch to "+slot.Arm+" failed"))
	}
	w.Switch = time.Since(w.Start).Seconds()
	s := &stretch{run: r, w: &w, slot: slot, begin: time.Now(), before: before, length: length, burn: burn}
	if err := s.watch(ctx); err != nil {
		return w, errors.Join(err, r.takeOff("the study was ended"))
	}
	w.Seconds = time.Since(w.Start).Seconds()
	if w.Trip != nil {
		return w, r.takeOff("a guardrail tripped: " + w.Trip.Text)
	}
	if slept, ends := s.slept(); ends {
		return w, s.breakOff(slept)
	}
	return w, s.judge(ctx)
}

// begin switches the host to a window's arm. It returns ErrStopped if the host refuses
// because the study has lost its lock.
func (r *run) begin(ctx context.Context, slot study.WindowSlot) error {
	err := r.turn(ctx, slot)
	if err == nil {
		return nil
	}
	if lost := r.lock(ctx, r.holds()); errors.Is(lost, ErrStopped) {
		return lost
	}
	return err
}

// turn puts the host into the state of the window's arm.
func (r *run) turn(ctx context.Context, slot study.WindowSlot) error {
	if err := r.sw.off(ctx, "the window is over"); err != nil {
		return err
	}
	if len(r.sw.past) > mostPast {
		if err := r.sw.forget(ctx, 1); err != nil {
			return err
		}
	}
	of := r.o.Treatments[slot.Pair%len(r.o.Treatments)]
	for _, t := range r.o.Treatments {
		if t.Name == slot.Of {
			of = t
		}
	}
	switch {
	case slot.Treated():
		return r.sw.set(ctx, of, treated)
	case len(r.o.Base.Values) > 0 && slot.Arm != study.Rest:
		return r.sw.set(ctx, r.o.Base, treated)
	case slot.Arm == study.Sham:
		return r.sw.set(ctx, of, sham)
	}
	return r.sw.set(ctx, of, asIs)
}

// on returns what the windows of an arm set on the host, in addition to its original state.
func (o *Options) on(arm string) []apply.Assignment {
	for _, t := range o.Treatments {
		if t.Name == arm {
			return t.Values
		}
	}
	if arm == study.Rest {
		return nil
	}
	return o.Base.Values
}

// takeOff reverts the host with a new context, since the run's may be cancelled. If that
// fails, the host's own timer reverts it, and restore waits for that.
func (r *run) takeOff(why string) error {
	ctx, cancel := context.WithTimeout(context.Background(), r.answer)
	defer cancel()
	if err := r.sw.off(ctx, why); err != nil {
		r.o.Say("%v: the host's own switch reverts it", err)
	}
	return nil
}

// stretch is a window in progress.
type stretch struct {
	*run
	w            *Window
	slot         study.WindowSlot
	begin        time.Time
	length, burn time.Duration
	first, at    Sample // at the end of the burn-in, and now
	counted      int    // looks since then
	begun        bool   // the first look, which only ends the previous interval, is over
	counting     bool
	unread       int    // consecutive looks without an answer, so far
	before       asleep // at the switch to the window
}

func (s *stretch) watch(ctx context.Context) error {
	s.guard.window(s.slot.Arm)
	for _, m := range s.o.metrics {
		if y, ok := m.from.(interface{ turned() }); ok {
			y.turned()
		}
	}
	for {
		if err := s.step(ctx); err != nil || s.w.Trip != nil {
			return err
		}
		elapsed := time.Since(s.begin)
		if _, ends := s.slept(); ends || elapsed >= s.length && s.counted > 0 {
			break
		}
		wait := min(s.every, max(0, s.length-elapsed))
		if !s.counting && elapsed < s.burn {
			wait = min(wait, s.burn-elapsed)
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
	for _, m := range s.o.metrics {
		if v := m.from.Value(); !math.IsNaN(v) && !math.IsInf(v, 0) {
			s.w.Value[m.Metric] = v
			s.w.Counted[m.Metric] = m.from.Traffic()
		}
	}
	s.w.Nearest, s.w.KernelTime = s.guard.nearest(), s.o.kernelWay()
	if seconds := s.at.Uptime - s.first.Uptime; seconds > 0 && s.at.Boot == s.first.Boot {
		s.w.Traffic = (s.at.Packets - s.first.Packets) / seconds
		for at, n := range s.at.DroppedAt {
			if n -= s.first.DroppedAt[at]; n > 0 {
				s.w.Drops[at] = n / seconds
			}
		}
	}
	return nil
}

// step takes one look.
func (s *stretch) step(ctx context.Context) error {
	elapsed := time.Since(s.begin)
	known := s.begun
	s.known, s.begun = known, true
	before := s.pulse.slept()
	now, seen, trip, err := s.check(ctx, s.slot.Treated())
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrStopped):
		return err
	case err != nil && before != s.pulse.slept():
		return nil // this machine slept while the host answered
	case err != nil:
		return s.missed(ctx, err)
	}
	s.guard.answered(s.slot.Treated(), true)
	s.unread = 0
	s.at = now
	if trip != nil {
		s.w.Trip, s.w.Nearest = trip, s.guard.nearest()
	}
	if known {
		s.note(elapsed, seen)
	}
	if s.counting {
		s.counted++
	}
	if !s.counting && elapsed >= s.burn {
		// A host that answers late still gets the full measured length.
		s.length = time.Since(s.begin) + s.length - s.burn
		s.counting, s.first = true, now
		for _, m := range s.o.metrics {
			m.from.Begin()
		}
	}
	return nil
}

// missed records a look without an answer. In all windows alike, the study waits for the
// host; more such looks in a row than the control showed by chance trip the guardrail.
func (s *stretch) missed(ctx context.Context, err error) error {
	s.unread++
	s.w.Notes = append(s.w.Notes, err.Error())
	if s.w.Trip = s.guard.answered(s.slot.Treated(), false); s.w.Trip != nil {
		s.w.Trip.Text += ": " + err.Error()
		s.w.Nearest = s.guard.nearest()
		return nil
	}
	if time.Since(s.begin) > s.length+patience {
		return err
	}
	return pause(ctx, s.every)
}

func (s *stretch) note(elapsed time.Duration, seen map[string]float64) {
	s.w.At = append(s.w.At, math.Round(1000*elapsed.Seconds())/1000)
	for _, m := range s.o.metrics {
		var p *float64
		if v := seen[m.Metric]; !math.IsNaN(v) && !math.IsInf(v, 0) {
			p = &v
		}
		s.w.Series[m.Metric] = append(s.w.Series[m.Metric], p)
	}
}

// judge records what else happened to the host during the window.
func (s *stretch) judge(ctx context.Context) error {
	add := func(gate, format string, args ...any) {
		s.w.Disturbed = append(s.w.Disturbed, study.Disturbance{Gate: gate, Text: fmt.Sprintf(format, args...)})
	}
	if _, ok := s.w.Value[s.o.metrics[0].Metric]; !ok {
		add(study.GateNothing, "there was nothing to measure")
	}
	if missed := len(s.w.Notes); missed > len(s.w.At)/4 {
		add(study.GateRead, "%d of %d looks had no answer", missed, missed+len(s.w.At))
	}
	switch a, b := s.first, s.at; {
	case a.Boot != b.Boot:
		add(study.GateBoot, "the host booted")
	case math.Abs((b.Clock-a.Clock)-(b.Uptime-a.Uptime)) > 2:
		add(study.GateClock, "the host's clock went %.0f s while %.0f s passed", b.Clock-a.Clock, b.Uptime-a.Uptime)
	case math.Abs((b.Uptime-a.Uptime)-(s.length-s.burn).Seconds()) > 2+0.2*s.length.Seconds()+2*s.slow.Seconds():
		why := "this machine slept, or was too busy to look"
		if len(s.w.Notes) > 0 {
			why = "the host did not answer"
		}
		add(study.GateRead, "%.0f s passed on the host in a window of %.0f s: %s", b.Uptime-a.Uptime, (s.length - s.burn).Seconds(), why)
	case !slices.Equal(a.Services, b.Services):
		add(study.GateReload, "%s was restarted", s.o.Service)
	}
	var wrong []string
	id, on := s.sw.on, s.o.on(s.slot.Arm)
	if err := s.reach(ctx, func() (err error) {
		wrong, err = s.sw.changed(ctx, on)
		return err
	}); err != nil {
		return err
	}
	if len(wrong) == 0 {
		return nil
	}
	who := "it was changed by somebody else"
	if why := s.sw.tookBack(ctx, id); why != "" && len(on) > 0 {
		who = fmt.Sprintf("the window took %.0f s, and the host took the setting back after %.0f (%s)", time.Since(s.w.Start).Seconds(), (s.sw.window + s.sw.grace).Seconds(), why)
	}
	for _, w := range wrong {
		add(study.GateKey, "%s: %s", who, w)
	}
	return nil
}
