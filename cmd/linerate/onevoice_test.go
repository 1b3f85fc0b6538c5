package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/catalogue"
	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/plan"
	"linerate/internal/role"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// The catalogue is used by three verbs: explain recommends, audit judges lines, plan sets
// values. These tests check for every record, release and role that the three agree.

// voices holds what the three verbs need.
type voices struct {
	c       *tunable.Catalogue
	rules   *audit.RuleSet
	library *plan.Library
}

func newVoices(t *testing.T) voices {
	t.Helper()
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	rules, rerr := audit.UnpackRules(catalogue.PackedRules())
	library, lerr := plan.Unpack(catalogue.PackedPlans())
	if err := errors.Join(rerr, lerr); err != nil {
		t.Fatal(err)
	}
	return voices{c, rules, library}
}

// kindOfHost is one of the kinds of host on which the verbs are compared.
type kindOfHost struct{ os, release, role string }

func (k kindOfHost) String() string { return fmt.Sprintf("%s %s, role %s", k.os, k.release, k.role) }

// everyHost returns every role on every release that the catalogue distinguishes.
func everyHost() []kindOfHost {
	var all []kindOfHost
	for os, releases := range map[string][]string{
		fact.FreeBSD: {"12.4", "13.5", "14.0", "14.3", "15.0"},
		fact.Linux:   {"5.10", "5.15", "6.1", "6.12", "6.18"},
	} {
		for _, rel := range releases {
			for _, r := range role.Names() {
				all = append(all, kindOfHost{os, rel, r})
			}
		}
	}
	return all
}

// facts returns the facts of a server of which only files and hardware are known.
func (k kindOfHost) facts(lines []fact.Line, modules ...fact.Module) *fact.Facts {
	up := true
	f := &fact.Facts{OS: k.os, Release: release.MustParse(k.release), Arch: "amd64", Hostname: "box", From: fact.Origin{Kind: fact.KindTree},
		CPU:    fact.CPU{Model: "x", Count: 8, Cores: 8, Packages: 1, ThreadsPerCore: 1, Domains: []fact.Domain{{}}},
		Memory: fact.Memory{Physical: 16 << 30, Real: 16 << 30, PageSize: 4096, KernelMap: 16 << 30},
		NICs:   []fact.NIC{{Name: "ix0", Driver: "ix", Kind: fact.KindEthernet, Up: &up, SpeedBits: 10e9, MTU: 1500}}}
	f.Modules = modules
	f.AddLines(lines)
	f.Normalise()
	return f
}

func (v voices) audit(t *testing.T, k kindOfHost, lines []fact.Line, modules ...fact.Module) []audit.Finding {
	t.Helper()
	r, err := audit.Run(audit.Input{Facts: k.facts(lines, modules...), Catalogue: v.c, Rules: v.rules, Role: k.role})
	if err != nil {
		t.Fatalf("%s: %v", k, err)
	}
	return r.Findings
}

// lineOf returns a line of the file in which a record is set on the release; ok is false if
// there is none.
func lineOf(r *tunable.Record, s tunable.State, os, name, value string, n int) (fact.Line, bool) {
	l := fact.Line{Number: n, Order: n, Name: name, Value: value, Effective: true, Text: name + "=" + value}
	switch {
	case s.Mechanism == setting.Sysctl && s.Settable.AtRuntime():
		l.File, l.Stage = "/etc/sysctl.conf", fact.Sysctl
		if os == fact.Linux {
			l.File = "/etc/sysctl.d/90-box.conf"
		}
	case os == fact.FreeBSD && (s.Mechanism == setting.Sysctl || s.Mechanism == setting.Loader) && s.Settable.AtBoot():
		l.File, l.Stage = "/boot/loader.conf", fact.Loader
	case os == fact.FreeBSD && s.Mechanism == setting.RC:
		l.File, l.Stage = "/etc/rc.conf", fact.RCConf
	default:
		return l, false
	}
	return l, true
}

// recommended returns the value that explain recommends for a role, if the record has one.
func recommended(r *tunable.Record, env tunable.Env, role string) (string, bool) {
	for _, k := range r.Recommend {
		holds, err := env.Holds(k.When)
		if k.Role != role || err != nil || !holds {
			continue
		}
		if k.Value != "" {
			return k.Value, true
		}
		if k.Formula != "" && !env.Unknown(k.Formula) {
			value, err := env.Formula(k.Formula)
			return value, err == nil && value != ""
		}
	}
	return "", false
}

// concrete returns the name as a host has it: a driver template's placeholder becomes a device.
func concrete(r *tunable.Record) string {
	name := strings.Replace(r.Name, ".IF.", ".ix0.", 1)
	return strings.Replace(name, ".N.", ".0.", 1)
}

// TestExplainAndAuditAgree: the audit has no objection to a host that sets what explain
// recommends for its role, and every recommended value is legal.
func TestExplainAndAuditAgree(t *testing.T) {
	v := newVoices(t)
	seen := 0
	for _, k := range everyHost() {
		env := v.c.NewEnv(k.facts(nil), k.role)
		rel := release.MustParse(k.release)
		var lines []fact.Line
		for _, r := range v.c.Records {
			s := r.At(rel)
			value, ok := recommended(r, env, k.role)
			if r.OS != k.os || !ok || !s.Exists {
				continue
			}
			seen++
			if p := r.RejectOn(rel, value); p != nil {
				t.Errorf("%s: explain recommends %s=%s: %s", k, r.Name, value, p.Message)
			}
			for _, name := range append(slices.Clone(r.Instances), concrete(r)) { // the kernel adds conf.all to an interface's own value
				if l, ok := lineOf(r, s, k.os, name, value, len(lines)+1); ok && !strings.Contains(name, "*") {
					lines = append(lines, l)
				}
			}
		}
		for _, f := range v.audit(t, k, lines) {
			if f.Line > 0 && (f.Action == audit.Remove || f.Action == audit.Change) && f.Kind != audit.Default && f.Kind != audit.Duplicate && f.Kind != audit.Order {
				t.Errorf("%s: explain recommends %s; the audit: %s %s → %s", k, f.Text, f.ID, f.Message, f.Fix)
			}
		}
	}
	if seen < 300 {
		t.Errorf("only %d recommendations seen", seen)
	}
}

// proposal matches a setting in the text of a fix.
var proposal = regexp.MustCompile(`\b([a-z][a-z0-9_]*(?:[./][A-Za-z0-9_%-]+)+)\s?=\s?("[^"]*"|[-0-9][0-9 ]*[0-9]|[^\s,;)]+)`)

// tryOut returns the values of a record that the audit is tried on.
func tryOut(r *tunable.Record, rel release.Release) []string {
	x := r.RangeOn(rel)
	values := []string{"0", "1"}
	switch x.Domain {
	case tunable.Choice:
		values = r.At(rel).Values
	case tunable.Switch:
		values = []string{"YES", "NO"}
	case tunable.Whole:
		values = append(values, "2", "65536", x.Most.String())
	case tunable.Vectors:
		n := max(1, r.At(rel).Count)
		values = []string{strings.Repeat("1 ", n), strings.Repeat("65536 ", n-1) + "4294967296", strings.Repeat("8388608 ", n)}
	}
	return values
}

// TestFixesAreTaken: the audit's fixes are legal, and the audit has no objection once they are
// made; removing a line on its advice raises no finding that wants the line back.
func TestFixesAreTaken(t *testing.T) {
	t.Parallel()
	v := newVoices(t)
	proposals := 0
	for _, k := range everyHost() {
		if !slices.Contains([]string{"14.3", "6.12"}, k.release) || !slices.Contains([]string{"router", "web"}, k.role) {
			continue // an audit of three thousand lines is slow
		}
		rel := release.MustParse(k.release)
		for turn := range 3 {
			var lines []fact.Line
			for _, r := range v.c.Records {
				s := r.At(rel)
				values := tryOut(r, rel)
				if r.OS != k.os || !s.Exists || turn >= len(values) {
					continue
				}
				if l, ok := lineOf(r, s, k.os, concrete(r), values[turn], len(lines)+1); ok {
					lines = append(lines, l)
				}
			}
			proposals += v.follow(t, k, lines)
		}
	}
	t.Logf("%d proposals", proposals)
}

// follow applies the audit's fixes to some lines, and audits again.
func (v voices) follow(t *testing.T, k kindOfHost, lines []fact.Line) (proposals int) {
	t.Helper()
	rel := release.MustParse(k.release)
	after := map[string]fact.Line{}
	for _, l := range lines {
		after[l.Name] = l
	}
	removed, changed := map[string]audit.Finding{}, map[string]audit.Finding{}
	for _, f := range v.audit(t, k, lines) {
		l, ours := after[f.Name]
		if _, done := changed[f.Name]; f.Action == audit.Remove && ours && f.Line > 0 && !done {
			removed[f.Name] = f
			delete(after, f.Name)
			continue
		}
		for _, m := range proposal.FindAllStringSubmatch(f.Fix, -1) {
			name, value := m[1], strings.TrimRight(strings.Trim(m[2], `"`), ".:")
			r, ok := v.c.Lookup(k.os, name)
			if !ok {
				continue
			}
			proposals++
			if p := r.RejectOn(rel, value); p != nil {
				t.Errorf("%s: the fix of %s (%s) says %s=%s: %s", k, f.ID, f.Text, name, value, p.Message)
			}
			if ours && name == l.Name && f.Action == audit.Change {
				l.Value, l.Text = value, name+"="+value
				after[name], changed[name] = l, f
			}
		}
	}
	var again []fact.Line
	for _, l := range lines {
		if kept, ok := after[l.Name]; ok {
			again = append(again, kept)
		}
	}
	for _, f := range v.audit(t, k, again) {
		if was, ok := changed[f.Name]; ok && f.ID != was.ID && f.Severity != audit.Info && (f.Action == audit.Remove || f.Action == audit.Change) {
			t.Errorf("%s: after the fix of %s (%s), the audit reports %s: %s", k, was.ID, was.Fix, f.ID, f.Message)
		}
		for _, m := range proposal.FindAllStringSubmatch(f.Fix, -1) {
			if was, ok := removed[m[1]]; ok && strings.TrimRight(m[2], ".:") == strings.TrimPrefix(was.Text, m[1]+"=") && strings.Contains(f.Fix, "et "+m[1]) {
				t.Errorf("%s: %s said to remove %s, then %s wants it back: %s", k, was.ID, was.Text, f.ID, f.Fix)
			}
		}
	}
	return proposals
}

// TestPlansSpeakOnce: no tunable is in two lists of a plan, every value is legal, explain does
// not contradict the plan, and the audit has no objection to a host on which the plan was
// applied.
func TestPlansSpeakOnce(t *testing.T) {
	v := newVoices(t)
	steps := 0
	for _, k := range everyHost() {
		rel := release.MustParse(k.release)
		env := v.c.NewEnv(k.facts(nil), k.role)
		p := v.plan(t, k, nil)
		inOneList(t, k, p)
		var lines []fact.Line
		var modules []fact.Module
		for _, s := range p.Settings {
			steps++
			r, ok := v.c.Lookup(k.os, s.Name)
			if s.Mechanism == setting.Module {
				modules = append(modules, fact.Module{Name: s.Name, InKernel: true})
			}
			if s.Device != "" || !ok {
				continue
			}
			if problem := r.RejectOn(rel, s.Value); problem != nil {
				t.Errorf("%s: the plan sets %s=%s: %s", k, s.Name, s.Value, problem.Message)
			}
			v.holdAgainstExplain(t, k, r, env, s)
			if l, ok := lineOf(r, r.At(rel), k.os, s.Name, s.Value, len(lines)+1); ok {
				lines = append(lines, l)
			}
		}
		for _, f := range v.audit(t, k, lines, modules...) {
			if f.Line > 0 && f.Severity != audit.Info && (f.Action == audit.Remove || f.Action == audit.Change) {
				t.Errorf("%s: the plan sets %s; the audit: %s %s", k, f.Text, f.ID, f.Message)
			}
		}
	}
	if steps < 100 {
		t.Errorf("only %d steps seen", steps)
	}
}

// holdAgainstExplain checks that explain does not tell the role to leave what the plan sets.
func (v voices) holdAgainstExplain(t *testing.T, k kindOfHost, r *tunable.Record, env tunable.Env, s plan.Step) {
	t.Helper()
	i := slices.IndexFunc(r.Recommend, func(x tunable.Recommendation) bool {
		holds, err := env.Holds(x.When)
		return x.Role == k.role && err == nil && holds
	})
	if i < 0 {
		return
	}
	if x := r.Recommend[i]; x.Value+x.Formula == "" && (x.Do == "" || x.Do == "leave") {
		t.Errorf("%s: the plan sets %s=%s (%s), explain says leave it: %s", k, s.Name, s.Value, s.Reason, x.Reason)
	}
	if value, ok := recommended(r, env, k.role); ok && r.Recommend[i].Formula == "" && s.Value != value && !r.SameValue(s.Value, value) {
		t.Errorf("%s: the plan sets %s=%s (%s), explain says %s: %s", k, s.Name, s.Value, s.Reason, value, r.Recommend[i].Reason)
	}
}

// plan returns the plan for a host whose files have the given lines.
func (v voices) plan(t *testing.T, k kindOfHost, lines []fact.Line) plan.Plan {
	t.Helper()
	rows, err := catalogue.Evidence()
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Make(plan.Input{Facts: k.facts(lines), Catalogue: v.c, Library: v.library, Role: k.role, Evidence: rows, Findings: v.audit(t, k, lines), Unmeasured: true,
		Needs: plan.Needs{Link: 10e9, RTT: 0.05, States: 1e6, Connections: 1e5}})
	if err != nil {
		t.Fatalf("%s: %v", k, err)
	}
	return p
}

// inOneList checks that a plan lists a tunable only once.
func inOneList(t *testing.T, k kindOfHost, p plan.Plan) {
	t.Helper()
	in := map[string]string{}
	say := func(list, name string) {
		if other := in[name]; other != "" && other != list {
			t.Errorf("%s: %s is in %q and %q", k, name, other, list)
		}
		in[name] = list
	}
	for _, l := range p.LeftAlone {
		say("left alone", l.Name)
	}
	for _, s := range p.Settings {
		if s.Device == "" {
			say("set", s.Name)
		}
	}
	for _, r := range p.Remove {
		name, _, _ := strings.Cut(r.Text, "=")
		say("better gone", name)
	}
}

// TestPlansOfTunedHostsSpeakOnce checks the same on hosts whose files set what common guides
// recommend.
func TestPlansOfTunedHostsSpeakOnce(t *testing.T) {
	t.Parallel()
	v := newVoices(t)
	for _, k := range everyHost() {
		rel := release.MustParse(k.release)
		var lines []fact.Line
		for _, r := range v.c.Records {
			claims, s := v.c.ClaimsOn(r), r.At(rel)
			i := slices.IndexFunc(claims, func(cl tunable.Claim) bool { return cl.Value != "" })
			if r.OS != k.os || !s.Exists || i < 0 {
				continue
			}
			if l, ok := lineOf(r, s, k.os, concrete(r), claims[i].Value, len(lines)+1); ok {
				lines = append(lines, l)
			}
		}
		inOneList(t, k, v.plan(t, k, lines))
	}
}
