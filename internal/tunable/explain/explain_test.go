package explain_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"linerate/internal/evidence"
	"linerate/internal/fact/release"
	"linerate/internal/show"
	"linerate/internal/tunable"
	"linerate/internal/tunable/explain"
)

const record = `
subsystem: x
records:
  - name: net.x.limit
    mechanism: sysctl
    type: uint
    unit: packets
    settable: boot+runtime
    since: 12.0
    removed: 15.0
    renamed_to: net.x.ceiling
    default: 100
    scope: vnet
    constraints: {min: 1, max: 1000, power_of_two: true, outside: refused}
    changes:
      - {until: 13.0, settable: boot}
      - {from: 14.0, default: 200}
    summary: How many packets may wait.
    hurts: Latency.
    cautions:
      - {kind: memory, when: this > 500, text: Takes memory.}
    recommend:
      - {role: web, do: measure, reason: Measure; it depends on the card.}
      - {role: mail, do: raise, reason: Raise it with the number of peers.}
      - {role: cdn, reason: Leave it; large reads profit.}
      - {role: dns, reason: Leave it unless queues overflow.}
      - {role: router, value: "512", reason: Bursts.}
    checked: [{release: 14.0, how: source, what: [range, effect]}]
    sources: [sys/net/x.c]
  - name: net.x.ceiling
    mechanism: sysctl
    type: uint
    settable: runtime
    since: 15.0
    default: 200
    summary: s
    sources: [sys/net/x.c]
`

const claims = `
source: guide
os: freebsd
title: A guide
kind: guide
claims:
  - {name: net.x.limit, value: "512", in: sysctl.conf, active: true, says: More is better., at: line 7, verdict: wrong, truth: It is not.}
`

func page(t *testing.T, rel string) (explain.Page, *tunable.Record, string) {
	t.Helper()
	c, err := tunable.Read(fstest.MapFS{"freebsd/x.yaml": {Data: []byte(record)}, "claims/guide.yaml": {Data: []byte(claims)}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Find(tunable.FreeBSD, "net.x.limit")
	if err != nil {
		t.Fatal(err)
	}
	p := explain.Of(c, r, r.Name, release.MustParse(rel))
	var b strings.Builder
	if err := p.Text(&b, show.Style{Width: 72}); err != nil {
		t.Fatal(err)
	}
	return p, r, b.String()
}

func TestPage(t *testing.T) {
	for _, c := range []struct{ release, want string }{
		{"12.4", "loader.conf only"},
		{"13.5", "/boot/loader.conf, /etc/sysctl.conf or sysctl(8)"},
		{"13.5", "100 packets"},
		{"14.3", "200 packets"},
		{"15.0", "nowhere: removed in 15.0; now net.x.ceiling"},
		{"11.4", "nowhere: there since 12.0"},
		{"14.3", "packets, 1 to 1000, a power of two"},
		{"14.3", "another value is refused (Invalid argument); what does"},
		{"14.3", "one network stack"},
		{"14.3", "- web: measure it. It depends on the card."},
		{"14.3", "- mail: raise it where it is short. Raise it with the number of peers."},
		{"14.3", "- cdn: leave it. Large reads profit."},
		{"14.3", "- dns: leave it. Leave it unless queues overflow."},
		{"14.3", "- router: 512. Bursts."},
		{"14.3", "checked against freebsd 14.0 (source): range, effect"},
		{"14.3", "11.4          not there"},
		{"14.3", "12.4          default 100, set at boot"},
		{"14.3", "- A guide (sysctl.conf, active): 512"},
		{"14.3", "→ wrong: It is not."},
		{"14.3", "memory: Takes memory. (when it > 500)"},
		{"14.3", "not yet: no verdict in the ledger"},
	} {
		_, _, text := page(t, c.release)
		if !strings.Contains(text, c.want) {
			t.Errorf("the page on %s lacks %q:\n%s", c.release, c.want, text)
		}
	}
}

func TestPageFitsTheTerminal(t *testing.T) {
	_, _, text := page(t, "14.3")
	for _, l := range strings.Split(text, "\n") {
		if len([]rune(l)) > 72 {
			t.Errorf("a line of %d columns: %s", len([]rune(l)), l)
		}
	}
}

func TestJudge(t *testing.T) {
	p, r, _ := page(t, "14.3")
	rel := release.MustParse("14.3")
	for _, c := range []struct {
		value, problem string
		isDefault      bool
	}{
		{"200", "200 is not a power of two; it is refused", true},
		{"512", "", false},
		{"5000", "5000 is above the maximum, 1000; it is refused", false},
	} {
		p.Judge(r, rel, c.value)
		if p.Value.Problem != c.problem || p.Value.Default != c.isDefault {
			t.Errorf("%s: problem %q, default %v", c.value, p.Value.Problem, p.Value.Default)
		}
	}
}

// TestWhichDefault: if releases differ and none was given, the page says which release's default it
// shows.
func TestWhichDefault(t *testing.T) {
	c, err := tunable.Read(fstest.MapFS{"linux/x.yaml": {Data: []byte(`
subsystem: x
records:
  - {name: net.x.limit, mechanism: sysctl, type: uint, settable: runtime, default: 100, summary: s, sources: [x.c], changes: [{from: 6.18, default: 200}]}
  - {name: net.x.same, mechanism: sysctl, type: uint, settable: runtime, default: 100, summary: s, sources: [x.c]}
`)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ name, release, want string }{
		{"net.x.limit", "", "200, on 6.18\n"}, {"net.x.limit", "6.1", "100\n"}, {"net.x.same", "", "100\n"},
	} {
		r, err := c.Find("linux", x.name)
		if err != nil {
			t.Fatal(err)
		}
		var rel release.Release
		if x.release != "" {
			if rel, err = release.Parse(x.release); err != nil {
				t.Fatal(err)
			}
		}
		var b strings.Builder
		if err := explain.Of(c, r, x.name, rel).Text(&b, show.Style{}); err != nil {
			t.Fatal(err)
		}
		if want := "  Default       " + x.want; !strings.Contains(b.String(), want) {
			t.Errorf("%s on %q lacks %q:\n%s", x.name, x.release, want, b.String())
		}
	}
}

// TestPrimaryMetricsAreShown: of a comparison with several metrics only the study's primary one is
// shown; without a primary one, all are.
func TestPrimaryMetricsAreShown(t *testing.T) {
	of := func(metric string, primary bool) evidence.Row {
		return evidence.Row{ID: metric, Subject: evidence.Subject{CPU: "m", Alone: true}, Study: "s", Metric: metric, Primary: primary}
	}
	for _, c := range []struct {
		primary    bool
		shown, not string
	}{{true, "the rate", "the cost"}, {false, "the cost", "more, all in the JSON"}} {
		p := explain.Page{Name: "net.x.limit", Evidence: explain.Measured([]evidence.Row{of("the cost", false), of("the rate", c.primary)})}
		var b strings.Builder
		if err := p.Text(&b, show.Style{}); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); !strings.Contains(text, c.shown) || strings.Contains(text, c.not) {
			t.Errorf("%+v:\n%s", c, text)
		}
	}
}
