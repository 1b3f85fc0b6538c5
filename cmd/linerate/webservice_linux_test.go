package main

import (
	"testing"
	"time"

	"linerate/internal/lab"
	"linerate/internal/labtest"
	"linerate/internal/server"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// truths are a study whose answers are known beforehand.
const truths = `name: truths
question: Does the lab of servers find what is known?
workload:
  http: {objects: [100kB], rate: 30, keepalive: false}
link: {delay: 40ms}
control: ten
variants:
  - name: ten
    settings: [{tcp: {congestion: reno, initcwnd: 10}}]
  - name: forty-four
    settings: [{tcp: {congestion: reno, initcwnd: 44}}]
parts:
  - {seconds: 1, warmup: 0, blocks: 3}
metrics:
  - {metric: request_latency_p50_ns, primary: true, margin_percent: 5}
  - {metric: log_within_100ms_ratio}
`

func serveStudy(t *testing.T, text string) (study.Spec, study.Results) {
	t.Helper()
	labtest.Need(t)
	if err := server.NGINX.Installed(); err != nil {
		labtest.Lacking(t, "%v", err)
	}
	s, err := study.Parse("truths.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	opened, err := openMachineLab(t.Context(), labOptions{engine: "auto"})
	if err != nil {
		t.Fatal(err)
	}
	var trials []study.Trial
	_, err = opened.lab.Run(t.Context(), lab.Task{Spec: s, Seed: 7}, func(tr study.Trial) error { trials = append(trials, tr); return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, study.Analyse(s, 7, study.Environment{}, trials)
}

// TestInitialWindowSavesRoundTrips: of 100 kB, 70 segments, a window of ten
// takes four flights (10, 20, 40) and one of forty-four two.
func TestInitialWindowSavesRoundTrips(t *testing.T) {
	_, r := serveStudy(t, truths)
	v := r.Verdicts[0]
	saved := time.Duration(-v.EffectNS.Float())
	if v.Verdict != stats.Better || saved < 70*time.Millisecond || saved > 200*time.Millisecond {
		t.Errorf("44 segments save %v (%s), want one or two round trips of 80 ms", saved, v.Verdict)
	}
	if r.AA.Verdict.Differs() {
		t.Errorf("the control differs from itself: %v", r.AA.EffectPercent)
	}
	for _, tr := range r.Trials {
		o := tr.Observed.Served
		if o.Log == nil || o.Log.Lines != o.Asked {
			t.Errorf("%s, block %d: the clients asked %d times, the log has %+v", tr.Variant, tr.Block, o.Asked, o.Log)
		}
		if o.Latency.Min < 160e6 {
			t.Errorf("an answer after %v: two round trips are 160 ms", time.Duration(o.Latency.Min))
		}
		// The log cannot see what is under way.
		if o.Log.P50 > o.Latency.P50-int64(o.RoundTrip*1e9)*3/4 {
			t.Errorf("the log's median is %v, the clients' %v", time.Duration(o.Log.P50), time.Duration(o.Latency.P50))
		}
	}
}
