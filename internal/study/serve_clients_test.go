package study

import (
	"strings"
	"testing"

	"linerate/internal/load/request"
	"linerate/internal/stats"
	"linerate/internal/testbed"
)

// TestClientsThatLimit warns of closed-loop clients that use more of a busy machine's CPU time
// than the server in all trials, and of no others.
func TestClientsThatLimit(t *testing.T) {
	closed, open := Part{Name: "closed", Mode: testbed.Serve, Asks: Asks{HTTP: &HTTP{}}}, Part{Name: "open", Mode: testbed.Serve, Asks: Asks{HTTP: &HTTP{Rate: 10}}}
	s := Spec{Parts: []Part{closed, open}, Variants: []Variant{{Name: "clients"}, {Name: "server"}, {Name: "idle"}, {Name: "once"}, {Name: "absent"}}}
	trial := func(part, variant string, clients, server float64) Trial {
		v := &Served{ServerCPU: server}
		v.Seconds, v.Generator = 1, request.Generator{CPUs: 2, CPUSeconds: clients}
		return Trial{Part: part, Variant: variant, Valid: true, Observed: &Observation{Served: v}}
	}
	r := Results{Trials: []Trial{
		trial("closed", "clients", 1.1, 0.7), trial("closed", "clients", 1.2, 0.6), trial("open", "clients", 1.2, 0.6),
		trial("closed", "server", 0.7, 1.1),
		trial("closed", "idle", 0.3, 0.1),
		trial("closed", "once", 1.2, 0.6), trial("closed", "once", 0.6, 1.2),
	}}
	warnClients(&r, s)
	if len(r.Warnings) != 1 || !strings.HasPrefix(r.Warnings[0], "part closed: the clients used more CPU time than the server of clients: rates") {
		t.Errorf("%q", r.Warnings)
	}
	s.Parts = append(s.Parts, Part{Name: "again", Mode: testbed.Serve, Asks: Asks{HTTP: &HTTP{}}}, Part{Name: "other", Mode: testbed.Serve, Asks: Asks{HTTP: &HTTP{}}})
	r.Warnings, r.Trials = nil, append(r.Trials, trial("again", "clients", 1.2, 0.6), trial("other", "server", 1.2, 0.6))
	warnClients(&r, s)
	if len(r.Warnings) != 2 || !strings.HasPrefix(r.Warnings[0], "parts closed and again: the clients used more CPU time than the server of clients: rates") ||
		!strings.HasPrefix(r.Warnings[1], "part other: the clients used more CPU time than the server of server: rates") {
		t.Errorf("several parts with the same limit and one without: %q", r.Warnings)
	}
}

// TestClientsThatLimitShowNoEquivalence: equivalence of rates and latencies is doubted in a
// closed loop where either arm's clients limit, and nowhere else.
func TestClientsThatLimitShowNoEquivalence(t *testing.T) {
	closed, open := Part{Name: "closed", Mode: testbed.Serve, Asks: Asks{HTTP: &HTTP{}}}, Part{Name: "open", Mode: testbed.Serve, Asks: Asks{HTTP: &HTTP{Rate: 10}}}
	s := Spec{Parts: []Part{closed, open}}
	trial := func(part, variant string, clients, server float64) Trial {
		v := &Served{ServerCPU: server}
		v.Seconds, v.Generator = 1, request.Generator{CPUs: 2, CPUSeconds: clients}
		return Trial{Part: part, Variant: variant, Valid: true, Observed: &Observation{Served: v}}
	}
	trials := []Trial{trial("closed", "limited", 1.2, 0.6), trial("closed", "served", 0.6, 1.2), trial("closed", "served-too", 0.6, 1.2), trial("open", "limited", 1.2, 0.6)}
	for _, c := range []struct {
		part, control, variant, metric string
		doubted                        bool
	}{
		{"closed", "limited", "served", RequestRate, true},
		{"closed", "served", "limited", RequestP50, true},
		{"closed", "served", "limited", ServerCPU, false},
		{"closed", "served", "served-too", RequestRate, false},
		{"open", "limited", "limited", RequestRate, false},
	} {
		if why := s.doubt(c.part, c.metric, trials, c.control, c.variant); (why != "") != c.doubted {
			t.Errorf("%+v: %q", c, why)
		}
	}
}

// TestAnalysisDoubtsEquivalence: the same rates are equivalent or not depending on who used the
// CPU time, and a doubtful equivalence does not end a study at a planned look.
func TestAnalysisDoubtsEquivalence(t *testing.T) {
	s, err := Parse("web.yaml", []byte("name: web\nquestion: q?\nworkload: {http: {objects: [1kB]}}\n"+
		"variants: [{name: a}, {name: b}]\nlooks: {blocks: [6, 9]}\nparts: [{seconds: 1, blocks: 9}]\nmetrics: [{metric: requests_per_second, primary: true}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for want, clients := range map[stats.Verdict]float64{stats.Equivalent: 0.6, stats.Inconclusive: 1.4} {
		var trials []Trial
		for b := 1; b <= 6; b++ {
			for i, arm := range s.Arms() {
				v := &Served{ServerCPU: 2 - clients}
				v.Seconds, v.Generator = 1, request.Generator{CPUs: 2, CPUSeconds: clients}
				trials = append(trials, Trial{Part: s.Parts[0].Name, Mode: testbed.Serve, Variant: arm, Block: b, Valid: true,
					Observed: &Observation{Served: v}, Metrics: map[string]float64{RequestRate: 1000 + float64((b+i)%3)}})
			}
		}
		r := Analyse(s, 1, Environment{}, trials)
		if len(r.Verdicts) != 1 || r.Verdicts[0].Verdict != want {
			t.Errorf("clients used %g s of 2: %+v, want %s", clients, r.Verdicts, want)
		}
		if enough := want == stats.Equivalent; s.Settled(1, trials) != enough {
			t.Errorf("clients used %g s of 2, but whether the study may end is %v", clients, !enough)
		}
	}
}
