package live

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"linerate/internal/apply"
	"linerate/internal/hint"
	"linerate/internal/study"
)

// TestTheOtherStudysWindowStays: a study that lost its host to another one leaves that one's window alone.
func TestTheOtherStudysWindowStays(t *testing.T) {
	for name, at := range map[string]string{"its own": "60", "under study": fakeValue} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newFakeHost(time.UTC, 7)
				h.before = func(what string) {
					h.lock.Lock()
					defer h.lock.Unlock()
					if what != "look" || time.Since(h.begun) < 6*time.Minute || h.value != at || h.owner == "study-other" {
						return
					}
					if h.pending != nil {
						h.back("nobody confirmed in time")
					}
					h.owner, h.until, h.value = "study-other", time.Now().Add(time.Hour), "19"
					h.pending = &window{id: "999999-0", digest: apply.OfLiveStudy + "1", until: h.until}
				}
				_, err := Run(t.Context(), h.study(Options{Plan: study.WindowPlan{Window: time.Minute, BurnIn: 10 * time.Second, Pairs: 6}, Seed: 5, Metrics: []string{"log:/a"}, Pilot: time.Minute}))
				if !errors.Is(err, ErrStopped) {
					t.Errorf("%v", err)
				}
				if h.value != "19" || h.pending == nil || h.owner != "study-other" {
					t.Errorf("the host of the other study has %s, %+v, owner %q", h.value, h.pending, h.owner)
				}
			})
		})
	}
}

// TestAHoldThatRanOut: a study whose host was too slow to renew the hold says so, with advice; one that was
// stopped does not.
func TestAHoldThatRanOut(t *testing.T) {
	h := newFakeHost(time.UTC, 7)
	o := h.study(Options{Plan: study.WindowPlan{Window: time.Minute}})
	r := &run{o: &o}
	now := time.Now()
	r.held = now.Add(-7 * time.Second)
	err := r.lost(now)
	if !errors.Is(err, ErrStopped) || !strings.Contains(err.Error(), "ran out 7s ago") || !strings.Contains(hint.Of(err), "window") {
		t.Errorf("%v", err)
	}
	r.held = now.Add(time.Minute)
	if err := r.lost(now); err == nil || err.Error() != ErrStopped.Error() { // with nothing added
		t.Errorf("%v", err)
	}
}
