package live

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"linerate/internal/stats"
	"linerate/internal/study"
)

// fallsSilent studies a host that receives fewer requests under the setting, from rate per second, while
// other packets continue.
func fallsSilent(t *testing.T, metric string, rate, left float64) (Outcome, []Window, *fakeHost) {
	t.Helper()
	h := newFakeHost(time.UTC, 7)
	h.rate = func(_ time.Time, treated bool) float64 {
		if treated {
			return left * rate
		}
		return rate
	}
	var windows []Window
	out, err := Run(t.Context(), h.study(Options{Plan: study.WindowPlan{Window: 5 * time.Minute, BurnIn: time.Minute, Pairs: 24}, Seed: 5, Metrics: []string{metric}, Pilot: 10 * time.Minute,
		Sink: func(w Window) error { windows = append(windows, w); return nil }}))
	if err != nil || !out.Restored {
		t.Fatalf("%s: %+v, %v", metric, out, err)
	}
	if _, err := json.Marshal(windows); err != nil {
		t.Errorf("%s: a record that cannot be written: %v", metric, err)
	}
	return out, windows, h
}

// TestSilentLogTripsAGuardrail: a setting under which no request is logged gives no worse value; a guardrail
// on missing requests stops the study, on a busy log in the ramp, and with one request per minute in
// the windows after it.
func TestSilentLogTripsAGuardrail(t *testing.T) {
	for _, metric := range []string{"log:/a", "log:/a#rate", "log:/a#errors", "cpu-per-request:/a"} {
		for rate, most := range map[float64]time.Duration{20: 40 * time.Second, 1.0 / 60: 30 * time.Minute} {
			synctest.Test(t, func(t *testing.T) {
				out, windows, h := fallsSilent(t, metric, rate, 0)
				if out.Trip == nil || !strings.Contains(out.Trip.Guardrail, "request") && out.Trip.Guardrail != metric {
					t.Fatalf("%s at %g requests a second: %+v after %d windows", metric, rate, out.Trip, len(windows))
				}
				if h.treated > most {
					t.Errorf("%s at %g requests a second: the host had the setting for %s", metric, rate, h.treated)
				}
			})
		}
	}
}

// TestFewerRequestsTripAGuardrail: neither does a setting that leaves a tenth of the requests.
func TestFewerRequestsTripAGuardrail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, _, h := fallsSilent(t, "log:/a", 2, 0.1)
		if out.Trip == nil || !strings.HasPrefix(out.Trip.Guardrail, "time between requests") || h.treated > 10*time.Minute {
			t.Errorf("%+v after %s", out.Trip, h.treated)
		}
	})
}

// goes runs a study of a metric that depends on whether the host has the setting.
func goes(t *testing.T, better stats.Direction, v func(treated bool) float64) (out Outcome, windows []Window) {
	h := newFakeHost(time.UTC, 7)
	felt.Store(t.Name(), func() (float64, error) {
		h.lock.Lock()
		defer h.lock.Unlock()
		return v(h.value == fakeValue), nil
	})
	out, err := Run(t.Context(), h.study(Options{Plan: study.WindowPlan{Window: 5 * time.Minute, BurnIn: time.Minute, Pairs: 6}, Seed: 5, Metrics: []string{"felt:" + t.Name()}, Better: better, Pilot: time.Minute,
		Sink: func(w Window) error { windows = append(windows, w); return nil }}))
	if err != nil || !out.Restored {
		t.Fatalf("%+v, %v", out, err)
	}
	if _, err := json.Marshal(windows); err != nil {
		t.Errorf("a record that cannot be written: %v", err)
	}
	return out, windows
}

// TestWhatNoLongerTells: a missing value is not an absence of harm: a query that lost its series, a
// higher-is-better metric that is 0, or one that was always 0 and no longer is.
func TestWhatNoLongerTells(t *testing.T) {
	for name, c := range map[string]struct {
		better         stats.Direction
		usual, treated float64
		want           string
	}{
		"no value":      {stats.LowerIsBetter, 100, math.NaN(), "looks without a value"},
		"nothing of it": {stats.HigherIsBetter, 100, 0, "16.7 % below the control's 100"},
		"less than it":  {stats.HigherIsBetter, 100, -5, "16.7 % below the control's 100"},
		"from nothing":  {stats.LowerIsBetter, 0, 100, "above nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out, windows := goes(t, c.better, func(treated bool) float64 {
					if treated {
						return c.treated
					}
					return c.usual
				})
				if out.Trip == nil || !strings.Contains(out.Trip.Text, c.want) || len(windows) > 6 {
					t.Errorf("after %d windows: %+v", len(windows), out.Trip)
				}
			})
		})
	}
}

// TestNoInfinities: an Inf from a host or metrics server is refused, since no record could store it.
func TestNoInfinities(t *testing.T) {
	answer := `{"status":"success","data":{"resultType":"scalar","result":[1,"+Inf"]}}`
	if v, err := scalarOf(strings.NewReader(answer)); err == nil {
		t.Errorf("%s is %g", answer, v)
	}
	s, err := parseSample(strings.Replace(linuxSample, "running 3", "running Inf", 1))
	if err != nil || s.Running != 0 {
		t.Errorf("%g threads, %v", s.Running, err)
	}
}

// TestHostileLog: a log with negative lengths or offsets is refused.
func TestHostileLog(t *testing.T) {
	o := &Options{Conn: saying("piece 7 9 -5\nabc")}
	m, err := o.ParseMetric("log:" + filepath.Join(os.TempDir(), "a"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := m.from.Tick(t.Context(), Sample{}); err == nil || !strings.Contains(err.Error(), "cut off") {
			t.Errorf("%v", err)
		}
	}
}

// saying is a host with a fixed answer.
type saying string

func (s saying) Run(context.Context, string, []string, []byte) ([]byte, error) { return []byte(s), nil }
func (saying) Where() string                                                   { return "a host" }
func (saying) Close() error                                                    { return nil }

// TestGuardedWithoutCPUTime: a host whose CPU time stands still, as in some containers, is guarded too.
func TestGuardedWithoutCPUTime(t *testing.T) {
	g := guarding{rails: (&Options{}).guardrails()}
	before := Sample{Boot: "a", Passed: 1, Uptime: 1, CPUs: 1, Available: 0.01}
	later := before
	later.Uptime++
	if g.check(true, later, before, nil); g.check(true, later, before, nil) == nil {
		t.Error("memory in use does not trip the guardrail")
	}
	if at := (glimpse{now: later, before: before}); at.passed() != 1 {
		t.Errorf("%g s passed", at.passed())
	}
}

// TestReading: values that cannot be compared by a ratio are not accepted.
func TestReading(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "-0": 0, "3.5": 3.5, "1e3": 1000} {
		if v, ok := reading(text); !ok || v != want {
			t.Errorf("%q is %v, %v", text, v, ok)
		}
	}
	for _, text := range []string{"", "-60", "-1e-9", "NaN", "Inf", "+Inf", "-Inf", "1e999", "3 ms"} {
		if v, ok := reading(text); ok {
			t.Errorf("%q is accepted as %v", text, v)
		}
	}
}

// TestUnansweredLooksAreTreatedAlike: two unanswered looks under the setting do not stop a study of a host
// that drops looks in both arms; a host that never answers under the setting does.
func TestUnansweredLooksAreTreatedAlike(t *testing.T) {
	g := guarding{rails: (&Options{}).guardrails()}
	for i := range 40 {
		if trip := g.answered(false, i%10 > 1); trip != nil { // two in a row of ten
			t.Fatalf("the control trips: %+v", trip)
		}
	}
	for i := range 40 {
		if trip := g.answered(true, i%10 > 1); trip != nil {
			t.Fatalf("as many under the setting trip: %+v", trip)
		}
	}
	quiet := guarding{rails: (&Options{}).guardrails()}
	for range 40 {
		quiet.answered(false, true)
	}
	for n := 1; ; n++ {
		trip := quiet.answered(true, false)
		if trip == nil && n < 10 {
			continue
		}
		if trip == nil || n < 3 || trip.Guardrail != unanswered {
			t.Errorf("after %d looks without an answer: %+v", n, trip)
		}
		break
	}
}
