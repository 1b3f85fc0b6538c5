package live

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"strconv"
	"time"

	"linerate/internal/hint"
	"linerate/internal/show"
)

// Hours is a period of the day, which may cross midnight. From and To are wall-clock
// times.
type Hours struct {
	From, To time.Duration
	// Zone is the time zone; nil means the local one.
	Zone *time.Location
}

var hoursText = regexp.MustCompile(`^([0-9]{1,2}):([0-9]{2})-([0-9]{1,2}):([0-9]{2})$`)

// ParseHours parses "01:00-05:00".
func ParseHours(s string) (*Hours, error) {
	m := hoursText.FindStringSubmatch(s)
	if m == nil {
		return nil, hint.With(hint.Usagef("%q: not hours", s), "such as 01:00-05:00")
	}
	var t [4]int
	for i := range t {
		t[i], _ = strconv.Atoi(m[i+1]) // the pattern allows digits only
	}
	h := &Hours{From: clock(t[0], t[1]), To: clock(t[2], t[3])}
	if t[1] > 59 || t[3] > 59 || h.From >= 24*time.Hour || h.To > 24*time.Hour {
		return nil, hint.With(hint.Usagef("%q: not hours of a day", s), "such as 01:00-05:00, or 22:00-24:00")
	}
	if h.From == h.To {
		return nil, hint.Usagef("%q: the time must be above zero", s)
	}
	return h, nil
}

func clock(hours, minutes int) time.Duration {
	return time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
}

// length returns the length of the period on a usual day.
func (h *Hours) length() time.Duration {
	if h.To > h.From {
		return h.To - h.From
	}
	return h.To - h.From + 24*time.Hour
}

// Wait returns the time until the period has room for need; 0 if it has now.
func (h *Hours) Wait(now time.Time, need time.Duration) time.Duration {
	zone := cmp.Or(h.Zone, time.Local)
	need = max(need, 1)
	year, month, day := now.In(zone).Date()
	until := h.From + h.length()
	for d := -1; ; d++ { // yesterday's period may last until today
		begins := shown(year, month, day+d, h.From, zone)
		begin := begins[len(begins)-1]
		for _, end := range shown(year, month, day+d, until, zone) {
			if end.Sub(begin) >= need && end.Sub(now) >= need {
				return max(0, begin.Sub(now))
			}
		}
		if d > 7 { // longer than any period: such requests are refused earlier
			return begin.Sub(now)
		}
	}
}

// shown returns the moments at which clocks show a time of day: two when clocks are set
// back over it. When clocks are set forward over it, it is the moment of the change.
func shown(year int, month time.Month, day int, at time.Duration, zone *time.Location) (moments []time.Time) {
	wall := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Add(at)
	_, before := wall.Add(-24 * time.Hour).In(zone).Zone()
	_, after := wall.Add(24 * time.Hour).In(zone).Zone()
	for _, offset := range []int{max(before, after), min(before, after)} {
		t := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		if _, is := t.Zone(); is == offset && (len(moments) == 0 || before != after) {
			moments = append(moments, t)
		}
	}
	if len(moments) == 0 {
		change, _ := wall.Add(-time.Duration(before) * time.Second).In(zone).ZoneBounds()
		moments = append(moments, change)
	}
	return moments
}

// Within returns how much of the duration from now on lies within the hours.
func (h *Hours) Within(now time.Time, d time.Duration) (sum time.Duration) {
	for t := now; ; {
		wait := h.Wait(t, 1)
		rest := d - t.Sub(now) - wait
		if rest <= 0 {
			return sum
		}
		step := min(rest, time.Minute)
		sum, t = sum+step, t.Add(wait+step)
	}
}

// Fits refuses hours without room for a pair of windows.
func (h *Hours) Fits(window time.Duration) error {
	need := pairTime(window)
	if h.length() >= need {
		return nil
	}
	return hint.With(hint.Usagef("%s of hours are too short for a pair of windows, which takes %s", show.Long(h.length()), show.Long(need)),
		"give it longer hours, or shorter windows: %s", hint.Option("window", show.Brief(h.length()/3)))
}

// changeover is the time that a pair's two switches may take, in addition to its windows.
const changeover = 5 * time.Second

// pairTime returns how long a pair of windows keeps the host changed, including the switches.
func pairTime(window time.Duration) time.Duration { return 2*window + changeover }

// waitForHours waits until there is time for need within the hours. Meanwhile nothing is
// changed on the host except the study's lock.
func (r *run) waitForHours(ctx context.Context, need time.Duration) error {
	if r.o.Hours == nil {
		return nil
	}
	wait := r.o.Hours.Wait(time.Now(), need)
	if wait == 0 {
		return nil
	}
	if err := r.reach(ctx, func() error { return r.sw.off(ctx, "the hours for it are over") }); err != nil {
		return err
	}
	r.o.Say("waiting %s for the hours in which the host may be changed", show.Long(wait))
	for wait > 0 {
		if err := pause(ctx, min(wait, time.Minute, r.o.Plan.Window)); err != nil {
			return err
		}
		if err := r.hold(ctx); errors.Is(err, ErrStopped) || ctx.Err() != nil {
			return err
		} else if err != nil { // not needed until the wait is over
			r.complain(err)
		}
		wait = r.o.Hours.Wait(time.Now(), need)
	}
	return nil
}
