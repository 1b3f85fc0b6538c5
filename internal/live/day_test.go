package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"linerate/internal/stats"
	"linerate/internal/study"
)

// daily is a daily rhythm: three times as much at noon as at midnight.
func daily(now time.Time) float64 {
	at := now.Sub(now.Truncate(24*time.Hour)).Hours() / 24
	return math.Exp(-0.5 * math.Log(3) * math.Cos(2*math.Pi*at))
}

// dayLooks is the time between two looks: three times the product's, because a day has 17,280 of those
// and nothing tested here depends on their number.
const dayLooks = 3 * mostEvery

// aDay is a study of a day: windows of five minutes of an access log's 95th percentile, which a setting
// lowers by a tenth.
type aDay struct {
	*testing.T
	host    *fakeHost
	plan    study.WindowPlan
	run     *run
	windows []Window
	bytes   int // size of the record
	sink    func(Window)
}

func newDay(t *testing.T, begin time.Time) *aDay {
	time.Sleep(time.Until(begin))
	h := newFakeHost(begin.Location(), 3)
	h.rate = func(now time.Time, _ bool) float64 { return daily(now) }
	h.mean = func(now time.Time, treated bool) float64 {
		if treated {
			return 0.09 * math.Sqrt(daily(now))
		}
		return 0.1 * math.Sqrt(daily(now))
	}
	d := &aDay{T: t, host: h, plan: study.WindowPlan{Window: 5 * time.Minute, BurnIn: time.Minute, Treatments: []string{"it"}}, sink: func(Window) {}}
	d.plan.Pairs = d.plan.PairsIn(24 * time.Hour)
	return d
}

// study runs the rest of the study; the windows are recorded as on a disk.
func (d *aDay) study(ctx context.Context) (Outcome, error) {
	d.Helper()
	o := d.host.study(Options{Plan: d.plan, Seed: 9, Metrics: []string{"log:/var/log/access.log"}, Pilot: 10 * time.Minute, Done: d.windows})
	o.Sink = func(w Window) error {
		text, err := json.Marshal(w)
		if err != nil {
			return err
		}
		d.bytes += len(text)
		var read Window
		if err := json.Unmarshal(text, &read); err != nil {
			return err
		}
		d.windows = append(d.windows, read)
		d.sink(w)
		return nil
	}
	r, err := o.prepare()
	if err != nil {
		d.Fatal(err)
	}
	r.every = dayLooks
	d.run = r
	return r.study(ctx)
}

// sleep suspends the machine that runs the study, once, in a treated window after a while: requests to the
// host then have no answer until it wakes.
func (d *aDay) sleep(after, long time.Duration) {
	slept := false
	d.host.before = func(what string) {
		if slept || what != "look" || time.Since(d.host.begun) < after || d.host.value != fakeValue {
			return
		}
		slept = true
		time.Sleep(long)
		d.run.pulse.lock.Lock()
		defer d.run.pulse.lock.Unlock()
		d.run.pulse.gone.running += long
		d.run.pulse.gone.all += long
	}
}

// judged compares the valid pairs.
func (d *aDay) judged(of string) stats.Comparison {
	var control, treated stats.Arm
	pairs := map[int][]Window{}
	for _, w := range d.windows {
		if !w.Ramp && w.Of == of && len(w.Disturbed) == 0 {
			pairs[w.Pair] = append(pairs[w.Pair], w)
		}
	}
	for _, pair := range pairs {
		if len(pair) < 2 {
			continue
		}
		for _, w := range pair[len(pair)-2:] {
			if v := w.Value[study.LogP95]; w.Arm == study.Control {
				control.Values = append(control.Values, v)
			} else {
				treated.Values = append(treated.Values, v)
			}
		}
	}
	return stats.CompareSwitchback([]stats.Arm{control}, []stats.Arm{treated}, stats.Options{Better: stats.LowerIsBetter, Draws: 1999})[0]
}

// TestADay runs the whole product over a day, with a fake host and clock: from the evening on which DST
// ends, over the log's rotation at midnight, with two hours of suspend and an interrupted study that
// is resumed.
func TestADay(t *testing.T) {
	t.Parallel()
	zone := berlin(t)
	synctest.Test(t, func(t *testing.T) {
		d := newDay(t, time.Date(2000, 10, 28, 18, 0, 0, 0, zone))
		d.sleep(4*time.Hour, 2*time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		early, late := 0, 0
		d.sink = func(w Window) {
			if late = inBubble(); early == 0 {
				early = late
			}
			if len(d.run.sw.past) > mostPast+1 {
				t.Errorf("%d windows to forget", len(d.run.sw.past))
			}
			if w.Pair == 70 && w.Half == 1 {
				cancel()
			}
		}
		first, err := d.study(ctx)
		if !errors.Is(err, context.Canceled) || !first.Restored {
			t.Fatalf("interrupted: %+v, %v", first, err)
		}
		time.Sleep(3 * time.Hour)
		out, err := d.study(t.Context())
		if err != nil || out.Trip != nil || !out.Restored {
			t.Fatalf("%+v, %v", out, err)
		}
		took := time.Since(d.host.begun)
		if low, high := 29*time.Hour+30*time.Minute, 30*time.Hour; took < low || took > high { // a day, and five hours in which nobody studied
			t.Errorf("it took %s", took)
		}
		// The ramp, the pairs, one pair repeated that was half slept through, and one that was broken off.
		if want := 4 + 2*d.plan.BlocksFor(d.plan.Pairs); len(d.windows) < want+3 || len(d.windows) > want+6 {
			t.Errorf("%d windows, of %d that were planned", len(d.windows), want)
		}
		d.check(took - 5*time.Hour)
		if slept := slices.IndexFunc(d.windows, func(w Window) bool {
			return len(w.Disturbed) > 0 && strings.Contains(w.Disturbed[0].Text, "this machine slept for 7200 s")
		}); slept < 0 {
			t.Error("no window was slept through")
		}
		if early < late {
			t.Errorf("%d goroutines became %d", early, late)
		}
		c, promised := d.judged("it"), first.Pilot[study.LogP95].HalfWidth(d.plan, 24*time.Hour)
		t.Logf("promised ±%.2f %%, shown %+v, %d bytes of record a pair", promised, c.EffectPercent, 2*d.bytes/len(d.windows))
		if got := (c.EffectPercent.High - c.EffectPercent.Low) / 2; c.N != d.plan.Pairs || c.Verdict != stats.Better || !c.EffectPercent.Contains(-10) || promised > 2*got || got > 2*promised {
			t.Errorf("%s %+v of %d pairs; the pilot promised ±%.2f %%", c.Verdict, c.EffectPercent, c.N, promised)
		}
		if c := d.judged(study.Sham); c.P < 0.001 || c.N < d.plan.Pairs/3-2 {
			t.Errorf("A/A pairs: %s %+v of %d pairs", c.Verdict, c.EffectPercent, c.N)
		}
	})
}

var bubble = regexp.MustCompile(`synctest bubble \d+`)

// inBubble returns the number of goroutines in the test's synctest bubble; other tests' do not count.
func inBubble() int {
	own, all := make([]byte, 1<<10), make([]byte, 1<<20)
	own, all = own[:runtime.Stack(own, false)], all[:runtime.Stack(all, true)]
	return bytes.Count(all, append(bubble.Find(own), ']'))
}

// check tests what must hold for every study of a given length.
func (d *aDay) check(long time.Duration) {
	d.Helper()
	if d.host.treated > long/2 {
		d.Errorf("the host had the setting for %s of %s", d.host.treated, long)
	}
	if d.host.value != d.host.own || len(d.host.history) > 0 || d.host.owner != "" || d.host.most > mostPast+2 {
		d.Errorf("the host has %s, and remembers %d windows; it remembered %d", d.host.value, len(d.host.history), d.host.most)
	}
	if d.host.missed > d.host.rotated || d.host.rotated == 0 {
		d.Errorf("lines of the log were not read at %d looks, and it was rotated %d times", d.host.missed, d.host.rotated)
	}
	if each := d.bytes / len(d.windows); each > 2000 {
		d.Errorf("%d bytes of record a window", each)
	}
	for _, w := range d.windows {
		for _, why := range w.Disturbed {
			if why.Gate != study.GateRead {
				d.Errorf("pair %d.%d: %+v", w.Pair, w.Half, why)
			}
		}
	}
}
