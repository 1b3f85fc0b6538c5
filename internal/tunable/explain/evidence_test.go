package explain_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"linerate/internal/evidence"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/judge"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/tunable"
)

// TestOwnAgainstShipped: a contradiction between an own loss and a gain that ships with the program
// is stated once; each verdict appears once, and each machine has one heading, wherever its results
// were measured.
func TestOwnAgainstShipped(t *testing.T) {
	p, _, _ := page(t, "14.3")
	on := func(id string, v stats.Verdict) evidence.Row {
		at := map[stats.Verdict]float64{stats.Better: 5, stats.Worse: -5}[v]
		effect := stats.Effect{EffectPercent: stats.Num(at), CILow: stats.Num(at - 1), CIHigh: stats.Num(at + 1)}
		return evidence.Row{ID: id, StudyID: id, Subject: evidence.Subject{Tunable: "net.x.limit", After: "512", Alone: true, OS: "FreeBSD", Release: "14.3", CPU: "Atom C2758", Cores: 8, NIC: "Intel 82599", Driver: "ix"},
			Primary: true, Result: stats.Result{N: 5, PHolm: stats.Num(0.01), Verdict: v, Effect: effect}}
	}
	sibling := on("sibling", stats.Better)
	sibling.Tunable, sibling.CPU = "net.y.limit", "Xeon"
	p.AddEvidence([]evidence.Row{on("own", stats.Worse), on("both", stats.Inconclusive)}, []evidence.Row{on("own", stats.Worse), sibling},
		[]evidence.Row{on("both", stats.Inconclusive), on("shipped", stats.Better)})
	if len(p.Pooled) != 1 || p.Pooled[0].Says != evidence.Depends || len(p.Evidence) != 4 || p.Evidence[3].ID != "sibling" || !p.Evidence[3].Sibling || p.Evidence[0].Sibling {
		t.Errorf("pooled %+v, evidence %+v", p.Pooled, p.Evidence)
	}
	var b strings.Builder
	if err := p.Text(&b, show.Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Count(text, "Atom C2758, 8 cores, Intel 82599 (ix)") != 1 || strings.Count(text, "It depends on the machine") != 1 || strings.Index(text, "The same idea") < strings.Index(text, "better") {
		t.Error(text)
	}
}

// TestForTheHost: if a host is known, everything that a page says about measurements is for this
// host, and a tunable that no line of the host sets is judged too, as in a plan.
func TestForTheHost(t *testing.T) {
	p, r, _ := page(t, "14.3")
	c, err := tunable.Read(fstest.MapFS{"freebsd/x.yaml": {Data: []byte(record)}})
	if err != nil {
		t.Fatal(err)
	}
	row := evidence.Row{ID: "v1", StudyID: "s1", Subject: evidence.Subject{Tunable: r.Name, After: "512", Alone: true, OS: "FreeBSD", Release: "14.3", MachineID: "m1"},
		Metric: "forwarding_rate_pps", Primary: true, Result: stats.Result{N: 9, Verdict: stats.Better, Effect: stats.Effect{EffectPercent: stats.Num(5), CILow: stats.Num(4), CIHigh: stats.Num(6)}}}
	again := row
	again.ID, again.StudyID = "v2", "s2"
	rows := []evidence.Row{row, again}
	f := &fact.Facts{OS: fact.FreeBSD, Release: release.MustParse("14.3"), MachineID: "m1"}
	p.AddHost(judge.New(judge.Input{Facts: f, Catalogue: c, Role: "router", Evidence: rows}), r, "fw1")
	p.AddEvidence(rows, nil, nil)
	if len(p.Pooled) != 1 || p.Pooled[0].Says != evidence.Helps || len(p.Host.Values) != 1 || p.Host.Values[0].Do != judge.Set || p.Host.Values[0].To != "512" || p.Host.Values[0].Why != p.Pooled[0].Text {
		t.Errorf("pooled %+v, on the host %+v", p.Pooled, p.Host.Values)
	}
}
