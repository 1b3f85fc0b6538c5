package ledger

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/stats"
	"linerate/internal/study"
)

func TestLocate(t *testing.T) {
	state := t.TempDir()
	for _, c := range []struct{ flag, env, want, url string }{
		{"a.db", "b.db", "a.db", ""}, {"", "b.db", "b.db", ""}, {"postgres:///x", "", "", "postgres:///x"},
		{"", "", filepath.Join(state, "linerate", "ledger.db"), ""},
	} {
		t.Setenv("XDG_STATE_HOME", state)
		t.Setenv("SUDO_UID", "")
		t.Setenv("DOAS_USER", "")
		t.Setenv(EnvLedger, c.env)
		got, err := Locate(c.flag)
		if err != nil || got.Path != c.want || got.URL != c.url || got.UID != -1 {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
	if _, err := Locate("mysql://x"); err == nil {
		t.Error("an unknown kind of place was accepted")
	}
}

// TestLocateUnderSudo: the default ledger is the calling user's, not root's.
func TestLocateUnderSudo(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root is anybody under sudo")
	}
	data, err := os.ReadFile("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 7 || f[2] == "0" || f[5] == "" {
			continue
		}
		t.Setenv("SUDO_UID", f[2])
		t.Setenv("XDG_STATE_HOME", "/root/state")
		t.Setenv(EnvLedger, "")
		got, err := Locate("")
		if err != nil || got.Path != filepath.Join(f[5], ".local/state/linerate/ledger.db") || got.UID <= 0 {
			t.Errorf("as %s: %+v, %v", f[0], got, err)
		}
		return
	}
}

func TestCorrectFamily(t *testing.T) {
	vs := []Verdict{
		{P: stats.Num(0.02), Effect: stats.Effect{EffectPercent: stats.Num(3)}, Verdict: "better", Better: "higher"},
		{P: stats.Num(0.03), Effect: stats.Effect{EffectPercent: stats.Num(-2)}, Verdict: "worse", Better: "higher"},
		{P: stats.Num(0.001), Effect: stats.Effect{EffectPercent: stats.Num(-4)}, Verdict: "better", Better: "lower"},
		{P: stats.Num(0.0001), Effect: stats.Effect{EffectPercent: stats.Num(9)}, Verdict: "invalid", Better: "higher"},
		{Verdict: "invalid"},
	}
	CorrectFamily(vs)
	var got []string
	for _, v := range vs {
		got = append(got, string(v.Verdict))
	}
	// Four p-values: 0.0001·4, 0.001·3, 0.02·2, max(0.02·2, 0.03·1).
	if want := []string{"better", "worse", "better", "invalid", "invalid"}; !slices.Equal(got, want) {
		t.Errorf("verdicts %v, want %v", got, want)
	}
	if !(math.Abs(vs[0].PHolm.Float()-0.04) <= 1e-12) || !(math.Abs(vs[1].PHolm.Float()-0.04) <= 1e-12) || vs[4].PHolm.Known() || vs[0].Family != 5 {
		t.Errorf("corrected %v %v %v, family %d", vs[0].PHolm.Float(), vs[1].PHolm.Float(), vs[4].PHolm, vs[0].Family)
	}
}

// TestReassess: blocks are matched by number, samples are not, and the family's correction is kept.
func TestReassess(t *testing.T) {
	var trials []Trial
	v := Verdict{ID: "v", Metric: "m", Better: "higher", Family: 2, Control: "a", Variant: "b"}
	for i := range 6 {
		for _, arm := range []string{"a", "b"} {
			x := 100 + float64(i)*10
			if arm == "b" {
				x *= 1.05 + 0.001*float64(i)
			}
			id := ID(arm + string(rune('0'+i)))
			trials = append(trials, Trial{ID: id, Valid: true, Block: i, Variant: arm, Metrics: map[string]float64{"m": x}})
			if arm == "a" {
				v.ControlTrials = append(v.ControlTrials, id)
			} else {
				v.VariantTrials = append(v.VariantTrials, id)
			}
		}
	}
	if w, n := Reassess(&v, "blocks", trials, map[ID]string{"z": "x"}); w != nil || n != 0 {
		t.Error("exclusions elsewhere change a verdict")
	}
	w, n := Reassess(&v, "blocks", trials, map[ID]string{"a3": "x"})
	if n != 1 || w.N != 5 || w.Verdict != "better" || w.Family != 2 || !(math.Abs(w.PHolm.Float()-min(1, 2*w.P.Float())) <= 1e-15) {
		t.Errorf("blocks without one: %d, %+v", n, w)
	}
	s, _ := Reassess(&v, "independent", trials, map[ID]string{"a3": "x"})
	if s.NControl != 5 || s.NVariant != 6 || s.Verdict != "inconclusive" {
		t.Errorf("samples without one: %+v", s)
	}
}

// TestReassessSwitchback: a live host's verdict is recomputed with its own test, which five pairs cannot
// decide; a study stopped by a guardrail stays stopped.
func TestReassessSwitchback(t *testing.T) {
	v := Verdict{ID: "v", Metric: "m", Better: "lower", Family: 1, Control: "a", Variant: "b", Method: stats.RandomisationTest + ", on log ratios",
		Verdict: stats.Better, N: 6}
	var trials []Trial
	put := func(arm string, block int, x float64) ID {
		id := ID(fmt.Sprint(arm, block))
		trials = append(trials, Trial{ID: id, Valid: true, Block: block, Variant: arm, Metrics: map[string]float64{"m": x}})
		return id
	}
	for i := range 9 {
		v.ControlTrials = append(v.ControlTrials, put("a", i, 100+float64(i)))
		if i < 6 { // the others are pairs of another variant
			v.VariantTrials = append(v.VariantTrials, put("b", i, 90+float64(i)))
		}
	}
	w, n := Reassess(&v, "blocks", trials, map[ID]string{"a3": "x"})
	if n != 1 || w.N != 5 || w.Verdict != stats.Inconclusive || w.P.Float() != 0.0625 || w.Method != v.Method {
		t.Errorf("without one pair of six: %d, %+v", n, w)
	}
	if text := strings.Join(w.Warnings, "; "); !strings.Contains(text, "1 of 6 pairs") {
		t.Errorf("warnings %q", text)
	}
	v.Method, v.Verdict = stats.GuardrailEnded, stats.Stopped
	if w, n = Reassess(&v, "blocks", trials, map[ID]string{"a3": "x"}); n != 1 || w.Verdict != stats.Stopped || w.Method != v.Method {
		t.Errorf("ended by a guardrail: %d, %+v", n, w)
	}
}

// TestReassessOfNothingMeasurable: if the control is not shown to differ from zero there is no percentage,
// but the family's correction still decides.
func TestReassessOfNothingMeasurable(t *testing.T) {
	v := Verdict{ID: "v", Metric: "drops", Better: "lower", Family: 2, Control: "a", Variant: "b"}
	var trials []Trial
	for i, x := range [][2]float64{{0, 3}, {1, 6}, {0, 1}, {-1, 2}, {0, 9}, {0, 5}} {
		a, b := ID("a"+string(rune('0'+i))), ID("b"+string(rune('0'+i)))
		trials = append(trials, Trial{ID: a, Valid: true, Block: i, Metrics: map[string]float64{"drops": x[0]}}, Trial{ID: b, Valid: true, Block: i, Metrics: map[string]float64{"drops": x[1]}})
		v.ControlTrials, v.VariantTrials = append(v.ControlTrials, a), append(v.VariantTrials, b)
	}
	one, _ := Reassess(&v, "blocks", trials, map[ID]string{"a5": "x"})
	if one.EffectPercent.Known() || one.P.Float() > 0.05 || one.PHolm.Float() <= 0.05 {
		t.Fatalf("no case of a percentage that is not known and of a family that matters: %+v", one.Result())
	}
	if one.Verdict != stats.Inconclusive {
		t.Errorf("%s with a corrected p of %v", one.Verdict, one.PHolm)
	}
	v.Family = 1
	if one, _ = Reassess(&v, "blocks", trials, map[ID]string{"a5": "x"}); one.Verdict != stats.Worse {
		t.Errorf("alone it is %s, p %v", one.Verdict, one.PHolm)
	}
	family := []Verdict{{P: stats.Num(0.03), Verdict: stats.Worse}, {P: stats.Num(0.8), Verdict: stats.Inconclusive}}
	if CorrectFamily(family); family[0].Verdict != stats.Inconclusive {
		t.Errorf("%s with a corrected p of %v", family[0].Verdict, family[0].PHolm)
	}
}

// TestReassessShares: a verdict in percentage points is recomputed in percentage points.
func TestReassessShares(t *testing.T) {
	v := Verdict{ID: "v", Metric: "loss", Better: "lower", Family: 1, Control: "a", Variant: "b", MarginPoints: 1,
		Effect: stats.Effect{EffectPoints: stats.Num(0.02)}}
	var trials []Trial
	for i := range 6 {
		a, b := ID("a"+string(rune('0'+i))), ID("b"+string(rune('0'+i)))
		trials = append(trials, Trial{ID: a, Valid: true, Block: i, Metrics: map[string]float64{"loss": 0}},
			Trial{ID: b, Valid: true, Block: i, Metrics: map[string]float64{"loss": 0.0001 * float64(i)}})
		v.ControlTrials, v.VariantTrials = append(v.ControlTrials, a), append(v.VariantTrials, b)
	}
	w, _ := Reassess(&v, "blocks", trials, map[ID]string{"a3": "x"})
	if w.Verdict != stats.Equivalent || !w.InPoints() || w.MarginPoints != 1 || w.EffectPercent.Known() {
		t.Errorf("%+v", w)
	}
	if l := Flatten(&Evidence{Verdict: *w}, nil); l.MarginPoints != 1 || l.TextWithBounds() != "+0.02 points [±0.00, +0.05]" {
		t.Errorf("shown as %q", l.TextWithBounds())
	}
}

func TestFlatten(t *testing.T) {
	e := Evidence{Verdict: Verdict{Control: "off", Variant: "on", Effect: stats.EffectOf(stats.Interval{Estimate: 3.14, Low: 2.4, High: 150}),
		Changes: []Change{{Tunable: "hw.ix.rx_process_limit", After: "-1"}, {Tunable: "hw.igb.rx_process_limit", After: "-1"}}}}
	l := Flatten(&e, []string{"hw.igb.rx_process_limit"})
	if l.Tunable != "hw.igb.rx_process_limit" || !l.Alone || l.Change() != "default → -1" || l.TextWithBounds() != "+3.1 % [+2.4, +150]" {
		t.Errorf("%+v: %s, %s", l, l.Change(), l.TextWithBounds())
	}
	e.Verdict.Changes = append(e.Verdict.Changes, Change{Tunable: "pf_enable", After: "YES"})
	if l := Flatten(&e, []string{"pf_enable"}); l.Alone || l.Tunable != "pf_enable" {
		t.Errorf("with a firewall as well: %+v", l)
	}
	if l := Flatten(&e, nil); l.Tunable != "" {
		t.Errorf("without a name: %+v", l)
	}
}

// TestColumnsFollowFromDocuments: the columns that verify recomputes are those that were stored.
func TestColumnsFollowFromDocuments(t *testing.T) {
	b := Batch{Kind: "k", Ref: "r",
		Studies: []Study{{ID: IDOf("s"), Name: "n\x00\xff"}}, Environments: []Environment{{ID: IDOf("e"), NIC: "x"}}, Trials: []Trial{{ID: IDOf("t"), Valid: true}},
		Verdicts:   []Verdict{{ID: IDOf("v"), Primary: true, Changes: []Change{{Tunable: "a b"}}}},
		Exclusions: []Exclusion{{ID: IDOf("x"), Target: IDOf("t")}}, Sources: []Source{{ID: IDOf("f"), Path: "p"}}}
	rows, err := b.Rows()
	if err != nil || len(rows) != len(Tables) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, r := range rows {
		if r.Table != Tables[i].Name || !json.Valid(r.Doc) || len(r.Cols) != len(Tables[i].Columns) {
			t.Errorf("row %d: %+v", i, r)
		}
		if want, err := Tables[i].cols(r.Doc); err != nil || !slices.Equal(want, r.Cols) {
			t.Errorf("%s: columns %q, from the document %q (%v)", r.Table, r.Cols, want, err)
		}
	}
}

// TestNothingThatAServersVariantSetsIsPassedOver: what else was changed with a
// sysctl is told, or its effect would be taken for the sysctl's.
func TestNothingThatAServersVariantSetsIsPassedOver(t *testing.T) {
	const text = `name: servers
question: q
workload: {%s: {}}
variants:
  - {name: a}
  - {name: b, settings: [%s]%s}
metrics: [{metric: requests_per_second, primary: true}]
`
	for _, c := range []struct{ workload, settings, beside, want string }{
		{"files", "{filesystem: {type: ext4, options: noatime}}", "", "mount:noatime=on"},
		{"files", "{filesystem: {type: ext4, options: 'noatime,data=journal', features: '^has_journal,extent', size: 64MiB}}", "",
			"filesystem size=64MiB mkfs:extent=on mkfs:has_journal=off mount:data=journal mount:noatime=on"},
		{"files", "{filesystem: {type: xfs}}, {sysctl: vm.dirty_ratio, value: '5', scope: host}", "", "filesystem=xfs vm.dirty_ratio=5"},
		{"smtp", "{postfix: in_flow_delay, value: '0'}, {sysctl: net.ipv4.tcp_syncookies, value: '0'}", "", "net.ipv4.tcp_syncookies=0 postfix:in_flow_delay=0"},
		{"http", "{nginx: sendfile, value: 'off'}, {tcp: {initcwnd: 44, congestion: reno}}", "", "nginx:sendfile=off tcp:congestion=reno tcp:initcwnd=44"},
		{"http", "{sysctl: net.core.somaxconn, value: '9'}", ", http: {tls: true, http: 2}", "clients http=2 clients tls=true net.core.somaxconn=9"},
	} {
		spec, err := study.Parse("x.yaml", fmt.Appendf(nil, text, c.workload, c.settings, c.beside))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, ch := range changes(spec, "a", "b") {
			got = append(got, ch.Tunable+"="+ch.After)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.settings, s, c.want)
		}
	}
}

// TestSettingsOfPathsAreTheCataloguesToo: evidence on a path's initial window is
// found by the name of the route's metric, and by its short one.
func TestSettingsOfPathsAreTheCataloguesToo(t *testing.T) {
	for name, want := range map[string]string{"tcp:initcwnd": "initcwnd, ip route ... initcwnd N", "mount:noatime": "noatime", "postfix:in_flow_delay": "in_flow_delay", "net.ipv4.tcp_rmem": ""} {
		if got := strings.Join(relatedTo(name), ", "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
