package evidence_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/evidence"
	"linerate/internal/stats"
)

func rows() []evidence.Row {
	return []evidence.Row{
		{ID: "b", Subject: evidence.Subject{Tunable: "net.pf.states_hashsize", After: "1048576", Alone: true, OS: "FreeBSD", Release: "12.0-CURRENT", CPU: "Atom C2758", Cores: 8, NIC: "Intel 82599", Driver: "ix"},
			Primary: true, Workload: "IPv4 UDP 64 B", Metric: "overload_forwarding_rate_pps", Study: "s", Flags: []string{"drift", "generator-bound"},
			Result: stats.Result{N: 5, Verdict: stats.Better, PHolm: stats.Num(0.001),
				Effect: stats.Effect{EffectPercent: stats.Num(10.12), CILow: stats.Num(9), CIHigh: stats.Num(11)}}},
		{ID: "a", Subject: evidence.Subject{Tunable: "hw.igb.rxd", Before: "1024", After: "4096", OS: "FreeBSD", Release: "11.1", CPU: "x\ty\nz"}, Primary: true, Result: stats.Result{N: 4, Verdict: stats.Inconclusive}},
	}
}

func TestFormatIsReadBack(t *testing.T) {
	text := evidence.Format(rows(), "an archive\nof 2026")
	got, err := evidence.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	want := []evidence.Row{rows()[1], rows()[0]} // sorted by name
	want[0].CPU = "x y z"
	for i := range want {
		want[i].Source = "an archive of 2026"
	}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b stats.Number) bool { return a == b })); d != "" {
		t.Error(d)
	}
	if again := evidence.Format(got, got[0].Source); string(again) != string(text) {
		t.Errorf("not the same bytes:\n%s\n%s", text, again)
	}
}

func TestParseRefuses(t *testing.T) {
	good := string(evidence.Format(rows(), "x"))
	for name, text := range map[string]string{
		"another file":  "hello\n",
		"fewer columns": good + "a\tb\n",
		"a word for n":  strings.Replace(good, "\t5\t", "\tfive\t", 1),
		"no verdict":    strings.Replace(good, "\tbetter\t", "\tgreat\t", 1),
		"no number":     strings.Replace(good, "10.12", "ten", 1),
	} {
		if _, err := evidence.Parse([]byte(text)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(evidence.Format(rows(), "x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := evidence.Parse(text)
		if err != nil || len(got) == 0 {
			return
		}
		if _, err := evidence.Parse(evidence.Format(got, got[0].Source)); err != nil {
			t.Errorf("what was read cannot be written and read: %v", err)
		}
	})
}

func TestReversedReadsTheOtherWay(t *testing.T) {
	r := evidence.Row{Subject: evidence.Subject{Before: "1", After: "2"}, Result: stats.Result{Verdict: stats.Better,
		Effect: stats.Effect{EffectPercent: stats.Num(100), CILow: stats.Num(0), CIHigh: stats.Num(300),
			EffectPoints: stats.Num(3), PointsLow: stats.Num(-1), PointsHigh: stats.Num(7)}}}
	want := evidence.Row{Subject: evidence.Subject{Before: "2", After: "1"}, Result: stats.Result{Verdict: stats.Worse,
		Effect: stats.Effect{EffectPercent: stats.Num(-50), CILow: stats.Num(-75), CIHigh: stats.Num(0),
			EffectPoints: stats.Num(-3), PointsLow: stats.Num(-7), PointsHigh: stats.Num(1)}}}
	if diff := cmp.Diff(want, r.Reversed()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(r, want.Reversed()); diff != "" {
		t.Errorf("there and back: %s", diff)
	}
	// Nothing is left after −100 %: what going back brings is beyond any percent.
	for name, n := range map[string]stats.Number{"unknown": {}, "nothing left": stats.Num(-100)} {
		r.EffectPercent = n
		if got := r.Reversed().EffectPercent; got != (stats.Number{}) {
			t.Errorf("%s reversed is %v, want unknown", name, got)
		}
	}
}
