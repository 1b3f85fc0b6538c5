package audit_test

import (
	"strings"
	"testing"
	"time"

	"linerate/internal/audit"
	"linerate/internal/hint"
)

func day(s string) time.Time {
	d, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return d
}

// audited audits a host with two findings, with the suppressions in text.
func audited(t *testing.T, text, today string) *audit.Report {
	t.Helper()
	sup, err := audit.ParseSuppressions([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c, set := known(t)
	f := tree(t, "14.3", map[string]string{"/etc/sysctl.conf": "net.inet.ip.maxfragpackets=0\nnet.inet6.ip6.maxfrags=0"})
	r, err := audit.Run(audit.Input{Facts: f, Catalogue: c, Rules: set, Role: "web", Suppressions: sup, Today: day(today)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSuppressionHidesUntilItExpires(t *testing.T) {
	const text = `
suppressions:
  - id: "LR-FRAGMENTS-OFF:*"
    name: net.inet.ip.*
    reason: no UDP beyond DNS over TCP here
    expires: 2026-12-31
`
	r := audited(t, text, "2026-12-31")
	if n := len(find(r, "LR-FRAGMENTS-OFF", "")); n != 1 {
		t.Errorf("%d findings shown, want the IPv6 one only", n)
	}
	if len(r.Suppressed) != 1 || r.Suppressed[0].Reason == "" || r.Suppressed[0].Name != "net.inet.ip.maxfragpackets" {
		t.Errorf("suppressed: %+v", r.Suppressed)
	}
	if len(r.Stale) != 0 {
		t.Errorf("reported as stale on its last valid day: %+v", r.Stale)
	}
	r = audited(t, text, "2027-01-01")
	if n := len(find(r, "LR-FRAGMENTS-OFF", "")); n != 2 || len(r.Suppressed) != 0 {
		t.Errorf("after expiry %d shown, %d hidden", n, len(r.Suppressed))
	}
	if len(r.Stale) != 1 || r.Stale[0].Why != "expired" {
		t.Errorf("after expiry stale = %+v", r.Stale)
	}
}

func TestUnusedSuppressionIsReported(t *testing.T) {
	r := audited(t, "suppressions: [{name: dev.igb.*, reason: gone}]", "2026-01-01")
	if len(r.Stale) != 1 || r.Stale[0].Why != "unused" || len(r.Suppressed) != 0 {
		t.Errorf("stale %+v, suppressed %+v", r.Stale, r.Suppressed)
	}
}

func TestSuppressionsAreChecked(t *testing.T) {
	for _, text := range []string{
		"suppressions: [{id: LR-X}]",                                            // no reason
		"suppressions: [{reason: because}]",                                     // nothing named
		"suppressions: [{id: 'LR-[', reason: r}]",                               // no glob
		"suppressions: [{id: LR-X, reason: r, expires: tomorrow}]",              // no date
		"suppressions: [{id: LR-X, reason: r, until: 2026-01-01}]",              // unknown key
		"suppression: []", "- 1", "suppressions: {", strings.Repeat("#", 2<<20), // not such a file
	} {
		if _, err := audit.ParseSuppressions([]byte(text)); !hint.IsUsage(err) {
			t.Errorf("%.40q: %v, want a usage error", text, err)
		}
	}
	if s, err := audit.ParseSuppressions(nil); err != nil || len(s) != 0 {
		t.Errorf("an empty file: %v, %v", s, err)
	}
}

func FuzzParseSuppressions(f *testing.F) {
	f.Add([]byte("suppressions: [{id: 'LR-*', name: net.*, reason: r, expires: 2026-01-31}]"))
	f.Add([]byte("suppressions:\n  - &a {id: x, reason: y}\n  - *a\n"))
	f.Add([]byte("- - -"))
	f.Fuzz(func(t *testing.T, text []byte) {
		sup, err := audit.ParseSuppressions(text)
		if err != nil {
			return
		}
		for _, s := range sup {
			if s.Reason == "" || s.ID == "" && s.Name == "" {
				t.Errorf("accepted %+v", s)
			}
		}
	})
}

// TestAccepted: the suppressions made from a report hide its findings, also those with glob
// characters in their ids, and no others.
func TestAccepted(t *testing.T) {
	found := []audit.Finding{
		{ID: "LR-X:net.ipv4.conf.*.rp_filter", Name: "net.ipv4.conf.*.rp_filter", File: "hosts[1]/sysctl.conf"}, {ID: "LR-X:a@/etc/x", Name: "a", File: "/etc/x"}, {ID: "LR-COUNTER"},
	}
	text, err := (&audit.Report{Findings: found}).Accept("known")
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := audit.ParseSuppressions(text)
	if err != nil || len(accepted) != 3 {
		t.Fatalf("%v, %v:\n%s", accepted, err, text)
	}
	other := found[0]
	other.Name = "net.ipv4.conf.eth0.rp_filter"
	elsewhere := found[1]
	elsewhere.File = "/etc/y"
	for i, f := range append(found, other, elsewhere) {
		if hidden := audit.Hidden(f, accepted); hidden != (i < len(found)) {
			t.Errorf("%+v is hidden: %v, by\n%s", f, hidden, text)
		}
	}
}
