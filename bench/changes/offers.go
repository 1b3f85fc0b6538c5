package changes

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/audit"
	"linerate/internal/export"
	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/list"
	"linerate/internal/plan"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// Offer is a change that linerate offers for a host.
type Offer struct {
	Kind  string // fixes, shorter, plan, tune
	Plan  plan.Plan
	lines []plan.Removal // lines to be removed
	own   bool           // linerate's own files are written
}

// Offers returns all changes that linerate would offer for a host, and its facts.
func (b *Bench) Offers(h Host, seed uint64) ([]Offer, *fact.Facts, error) {
	f, err := b.facts(h, h.Files)
	if err != nil {
		return nil, nil, err
	}
	judge := b.judge(h)
	report, err := judge(f)
	if err != nil {
		return nil, nil, err
	}
	fixes, err := plan.Fixes(f, b.known.Catalogue, judge)
	if err != nil {
		return nil, nil, err
	}
	in := plan.Input{Facts: f, Catalogue: b.known.Catalogue, Library: b.library, Role: h.Role, Needs: h.Needs, Findings: report.Findings, Judge: judge, Unmeasured: h.Unmeasured}
	made, err := plan.Make(in)
	if err != nil {
		return nil, nil, err
	}
	tuned, err := plan.Confirmed(in, b.gains(h, seed), nil)
	if err != nil {
		return nil, nil, err
	}
	return []Offer{{"fixes", fixes, fixes.Removals(), true}, {"shorter", fixes, fixes.Cuts(), false}, {"plan", made, made.Removals(), true}, {"tune", tuned, tuned.Removals(), true}}, f, nil
}

// gains returns settings as an experiment might have confirmed them.
func (b *Bench) gains(h Host, seed uint64) (all []plan.Gain) {
	r := rand.New(rand.NewPCG(seed, 2))
	for range 3 {
		name := b.names[h.OS][r.IntN(len(b.names[h.OS]))]
		if rec, ok := b.record(h, name); ok && rec.Type != tunable.String { // a search tries no flags of a daemon
			all = append(all, plan.Gain{Name: name, Value: values[r.IntN(10)], Reason: "measured"})
		}
	}
	return all
}

// Check returns the problems of the changes offered to the host of a seed, and the
// number of changes.
func (b *Bench) Check(h Host, seed uint64) (problems []string, changes int, err error) {
	offers, before, err := b.Offers(h, seed)
	if err != nil {
		return nil, 0, err
	}
	was, err := b.judge(h)(before)
	if err != nil {
		return nil, 0, err
	}
	for _, o := range offers {
		changes += len(o.lines)
		if o.own {
			changes += len(o.Plan.Settings)
		}
		after, err := b.done(h, o)
		if err != nil {
			return nil, 0, err
		}
		is, err := b.judge(h)(after)
		if err != nil {
			return nil, 0, err
		}
		all := append(harm(was, is), b.losses(h, o, before, after)...)
		if !o.own {
			all = append(all, b.again(h, after)...)
		}
		if o.own {
			all = append(append(all, drift(o.Plan.Over(before), after)...), b.exported(h, o.Plan)...)
		}
		for _, problem := range all {
			problems = append(problems, o.Kind+": "+problem)
		}
	}
	return problems, changes, nil
}

// again lists lines that could still be removed from files already shortened.
func (b *Bench) again(h Host, after *fact.Facts) (all []string) {
	p, err := plan.Fixes(after, b.known.Catalogue, b.judge(h))
	if err != nil {
		return []string{err.Error()}
	}
	return list.Map(p.Cuts(), func(r plan.Removal) string { return fmt.Sprintf("not at once: %s:%d: %s", r.File, r.Line, r.Text) })
}

// done returns the facts of a host after the offer was applied and the host booted.
func (b *Bench) done(h Host, o Offer) (*fact.Facts, error) {
	files := maps.Clone(h.Files)
	for name, text := range files {
		files[name] = plan.Shorten(text, slices.DeleteFunc(slices.Clone(o.lines), func(r plan.Removal) bool { return r.File != name }))
	}
	if o.own {
		own, err := plan.Render(o.Plan, nil)
		if err != nil {
			return nil, err
		}
		for _, f := range own {
			files.add(f.Path, f.Content)
		}
		files.limit(o.Plan)
	}
	return b.facts(h, files)
}

// limit writes pf limits to pf.conf, which a plan leaves to the administrator.
func (t Tree) limit(p plan.Plan) {
	const conf = "/etc/pf.conf"
	for _, s := range p.Settings {
		if s.Mechanism == setting.PFLimit {
			old := regexp.MustCompile(`(?m)^set limit ` + s.Name + ` .*\n`)
			t[conf] = "set limit " + s.Name + " " + s.Value + "\n" + old.ReplaceAllString(t[conf], "")
		}
	}
}

// harm lists the findings of an audit that are new or more severe than before.
func harm(was, is *audit.Report) (all []string) {
	known := map[string]audit.Severity{}
	for _, o := range was.Findings {
		if s := known[o.PlainID()]; s == "" || o.Severity.AtLeast(s) {
			known[o.PlainID()] = o.Severity
		}
	}
	for _, n := range is.Findings {
		if s, ok := known[n.PlainID()]; n.Severity.AtLeast(audit.Warning) && (!ok || !s.AtLeast(n.Severity)) {
			all = append(all, fmt.Sprintf("new: %s: %s (%s:%d)", n.ID, n.Message, n.File, n.Line))
		}
	}
	return all
}

// switched matches names of settings that turn something on.
var switched = regexp.MustCompile(`^[^.]*_(enable|load)$|^kld_list$|^ifconfig_|router$|_routes|forward(ing)?$`)

// losses lists what the host forwarded, filtered, loaded or started before but not after.
func (b *Bench) losses(h Host, o Offer, before, after *fact.Facts) (all []string) {
	for what, states := range map[string][2]bool{"IPv4 forwarding": {before.ForwardsIPv4(), after.ForwardsIPv4()}, "IPv6 forwarding": {before.ForwardsIPv6(), after.ForwardsIPv6()},
		"pf": {before.PFOn(), after.PFOn()}, "ipfw": {before.IPFWOn(), after.IPFWOn()}} {
		if states[0] && !states[1] {
			all = append(all, what+" is off")
		}
	}
	now := standing(after)
	for key, value := range standing(before) {
		namespace, name, _ := strings.Cut(key, " ")
		rec, known := b.record(h, name)
		known = known && rec.At(before.Release).Settable != tunable.ReadOnly && (rec.Mechanism == setting.RC) == (namespace == string(fact.RC)) && !(rec.Default != nil && rec.SameValue(*rec.Default, value))
		set := slices.ContainsFunc(o.Plan.Settings, func(s plan.Step) bool { return s.Name == name })
		if on := !slices.Contains([]string{"", "0", "no", "off", "none"}, strings.ToLower(value)); on && switched.MatchString(name) && known && !set && now[key] == "" {
			all = append(all, fmt.Sprintf("lost: %s=%s", name, value))
		}
	}
	return all
}

// standing returns the values in effect after a boot, by namespace and name.
func standing(f *fact.Facts) map[string]string {
	all := map[string]string{}
	for _, s := range f.Settings {
		if l, ok := s.Stands(); ok && !l.Default {
			all[string(s.Namespace)+" "+s.Name] = l.Value
		}
	}
	return all
}

// drift lists settings for which the plan's expected result differs from that of the files.
func drift(over, after *fact.Facts) (all []string) {
	x, y := standing(over), standing(after)
	names := slices.Sorted(maps.Keys(x))
	for name := range y {
		if _, ok := x[name]; !ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if x[name] != y[name] && y[name] != redact.Mark { // values of secrets are not read
			all = append(all, fmt.Sprintf("seen as %q, is %q: %s", x[name], y[name], name))
		}
	}
	for what, states := range map[string][2]bool{"pf": {over.PFOn(), after.PFOn()}, "ipfw": {over.IPFWOn(), after.IPFWOn()}} {
		if states[0] != states[1] {
			all = append(all, fmt.Sprintf("%s is seen as %v, is %v", what, states[0], states[1]))
		}
	}
	return all
}

// exported checks that exported forms, when read back, are equivalent to the plan's own files.
func (b *Bench) exported(h Host, p plan.Plan) (all []string) {
	if len(p.Settings) == 0 {
		return nil
	}
	own, err := plan.Render(p, nil)
	if err != nil {
		return []string{err.Error()}
	}
	if len(own) == 0 {
		return nil
	}
	files := Tree{}
	for _, f := range own {
		files[f.Path] = f.Content
	}
	want, err := b.facts(h, files)
	if err != nil {
		return []string{err.Error()}
	}
	for _, form := range map[string][]string{fact.Linux: {"ansible", "nixos", "cloud-init"}, fact.FreeBSD: {"ansible"}}[h.OS] {
		text, err := export.Write(p, form)
		if err != nil {
			return append(all, err.Error())
		}
		read, os, ok := export.Read(text)
		if !ok || os != h.OS {
			all = append(all, form+": cannot be read back")
			continue
		}
		got, err := b.facts(h, read)
		if err != nil {
			return append(all, err.Error())
		}
		x := standing(got)
		for name, value := range standing(want) {
			if x[name] != value && (form != "nixos" || !strings.HasPrefix(name, "kernel module.")) {
				all = append(all, fmt.Sprintf("%s: %s is read back as %q, not %q", form, name, x[name], value))
			}
		}
	}
	return all
}
