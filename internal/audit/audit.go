package audit

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"linerate/internal/appliance"
	"linerate/internal/fact"
	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/tunable"
)

// Input is the input of an audit. Only Facts and Catalogue are required.
type Input struct {
	Facts     *fact.Facts
	Catalogue *tunable.Catalogue
	Rules     *RuleSet
	// Role is the purpose of the host, RoleReasons why it is assumed.
	Role         string
	RoleReasons  []string
	Suppressions []Suppression
	// Today decides which suppressions have expired; Named returns the name of a file in them, nil for the path on the host.
	Today time.Time
	Named func(file string) string
	// trial means that this audit asks what would be found without a line.
	trial bool
}

// auditor collects findings on one host.
type auditor struct {
	Input
	f     *fact.Facts
	c     *tunable.Catalogue
	env   tunable.Env // for the catalogue's expressions
	names *names      // for the rules' expressions
	// lines are the host's own lines, by mechanism and reading order.
	lines     []fact.Line
	live      bool // running values are known
	boot      *boot
	product   *appliance.Product // nil for a plain host
	strangers int                // number of unknown names compared with all known ones
	spelled   map[string][]string
	errs      []error
}

// Run audits a host. An error means a mistake in a rule or a record; the report is complete except for that.
func Run(in Input) (*Report, error) {
	if in.Rules == nil {
		in.Rules = &RuleSet{}
	}
	written, err := in.Rules.WithWriters(in.Facts)
	a := &auditor{Input: in, f: settled(written, in.Catalogue), c: in.Catalogue, product: appliance.Of(in.Facts), spelled: map[string][]string{}}
	a.fail(err)
	a.env = a.c.NewEnv(a.f, in.Role)
	a.names = ruleNames(a.env, a.f, &a.Rules.Lists)
	a.lines, a.live = a.f.Lines(), a.f.Live()
	a.boot = a.simulate()
	a.afterBoot()
	var all []candidate
	for _, check := range []func() []candidate{a.problems, a.judge, a.pfFile, a.linuxFiles, a.containers, a.listedModules, a.perDevice, a.repeats, a.aliases, a.writes, a.drift, a.couplings, a.complaints, a.rules, a.folklore} {
		all = append(all, check()...)
	}
	findings := slices.DeleteFunc(resolve(all), a.isNeeded(all))
	for i := range findings {
		if w := a.Rules.WriterOf(a.f.OS, fact.Line{File: findings[i].File}); w != nil && packaged(findings[i].File) {
			findings[i].Fix += " The file is a package's. " + w.Fix
		}
		if findings[i].Line > 0 && strings.HasPrefix(findings[i].Fix, "Remove the line") && a.shares(&findings[i]) {
			findings[i].Fix = "Remove " + strings.TrimPrefix(findings[i].Name, commandLine) + " from" + strings.TrimPrefix(findings[i].Fix, "Remove")
		}
		a.speak(&findings[i])
		findings[i] = bounded(findings[i])
	}
	order(findings)
	r := &Report{
		Version: Version, OS: a.f.OS, Release: a.f.Release.String(), Host: a.f.Hostname,
		Product: a.productName(), Role: in.Role, RoleReasons: slices.Clone(in.RoleReasons), Unread: a.unread(), Lines: len(a.lines), Quiet: a.quiet(findings), Coverage: a.coverage(),
	}
	if r.RoleReasons == nil {
		r.RoleReasons = []string{}
	}
	r.Findings, r.Suppressed, r.Stale = in.suppress(findings)
	r.Findings, r.Unlisted = bound(r.Findings, func(f *Finding) *Finding { return f })
	r.Hidden = len(r.Suppressed)
	r.Suppressed, _ = bound(r.Suppressed, func(s *Suppressed) *Finding { return &s.Finding })
	if len(a.errs) > 0 {
		return r, fmt.Errorf("audit: %w", a.errs[0])
	}
	return r, nil
}

// shares reports a finding whose line sets other names too, as in GRUB's command line or "a=1; b=2".
func (a *auditor) shares(f *Finding) bool {
	at := func(l fact.Line) bool { return l.File == f.File && l.Number == f.Line }
	return slices.ContainsFunc(a.lines, func(l fact.Line) bool { return at(l) && l.Name == f.Name }) &&
		slices.ContainsFunc(a.lines, func(l fact.Line) bool { return at(l) && l.Name != f.Name })
}

// packaged reports a file that belongs to a package: the administrator does not edit it.
func packaged(file string) bool { return strings.HasPrefix(file, "/usr/lib/") }

func (a *auditor) fail(err error) {
	if err != nil {
		a.errs = append(a.errs, err)
	}
}

// at sets the place of a finding.
func (f Finding) at(l fact.Line) Finding {
	f.File, f.Line, f.Text, f.Place = l.File, l.Number, l.Text, l.Place
	return f
}

// problems reports lines that the system rejects, or that cannot be parsed.
func (a *auditor) problems() []candidate {
	var all []candidate
	for _, p := range a.f.Problems {
		if moved := a.sysctlInRC(p); moved != nil {
			all = append(all, moved...)
			continue
		}
		if p.Kind == fact.ProblemSlip {
			said := append(strings.Split(p.Detail, "\t"), "", "")
			all = append(all, a.says("LR-SLIP", p.Message, fact.Line{Name: p.Message, File: p.File, Number: p.Line, Text: p.Text}, with{"detail": said[0], "why": said[1], "fix": said[2]}))
			continue
		}
		rule, of := "LR-SYNTAX", "refused"
		switch pf := a.f.Firewall.PF; {
		case p.Kind == fact.ProblemSyntax && path.Ext(p.File) == ".xml":
			of = "cut"
		case p.Kind == fact.ProblemSyntax && (pf != nil && p.File == pf.File || strings.HasPrefix(p.Message, "pf.conf(5)")):
			of = "pf"
		case p.Kind == fact.ProblemSyntax && strings.Contains(p.Message, ") does not take"):
			of, _, _ = strings.Cut(p.Message, "(")
		case p.Kind == fact.ProblemSyntax:
		case p.Kind == fact.ProblemStops && strings.HasPrefix(p.Message, "exit "): // a redacted exit status may be 0
			of = "exits"
		case p.Kind == fact.ProblemStops:
			of = "stops"
		case p.Kind == fact.ProblemInclude:
			of = "include"
		case p.Kind == fact.ProblemIgnored || p.Kind == fact.ProblemRefused:
			rule, of = "LR-WORD", p.Kind
		default:
			rule, of = "LR-UNREADABLE", "shell"
		}
		name := brief(p.Text)
		if variable, _, set := strings.Cut(p.Text, "="); set && strings.Contains(p.Message, ") does not take") {
			name = strings.TrimSpace(variable)
		}
		c := a.says(rule, of, fact.Line{Name: name, File: p.File, Number: p.Line, Text: p.Text}, with{"problem": p.Message, "refuses": pfRefuses})
		c.ID = fmt.Sprintf("%s:%s:%s", rule, p.File, c.Name)
		all = append(all, c)
	}
	return all
}

// sysctlInRC reports a sysctl in rc.conf, where the shell takes it for a command.
func (a *auditor) sysctlInRC(p fact.Problem) []candidate {
	name, value, ok := strings.Cut(strings.TrimSpace(p.Text), "=")
	if !ok || !strings.Contains(name, ".") || !strings.HasPrefix(base(p.File), "rc.conf") {
		return nil
	}
	rec, ok := a.c.Lookup(a.f.OS, name)
	if !ok {
		return nil
	}
	value, _, _ = strings.Cut(value, "#")
	file := properFile(a.f.OS, rec.At(a.f.Release))
	c := a.says("LR-MISPLACED", "shell", fact.Line{Name: name, File: p.File, Number: p.Line, Text: p.Text}, with{"to": file})
	if d, known := rec.DefaultIn(a.f.Release, a.env); file == "" || known && rec.SameValue(strings.Trim(strings.TrimSpace(value), `"'`), d) {
		c.Action, c.Fix = Remove, removeLine
	}
	return []candidate{c}
}

// brief returns the beginning of a line, for ids and names.
func brief(text string) string {
	words := strings.Fields(text)
	s := strings.Join(words[:min(3, len(words))], "_")
	return s[:min(40, len(s))]
}

// complaints reports the system's own messages about a setting or a limit, at the line that sets it if there is one.
func (a *auditor) complaints() []candidate {
	var all []candidate
	seen := map[string]bool{}
	for _, m := range a.f.Complaints {
		name := cmp.Or(m.About, brief(m.Text))
		if seen[name] {
			continue
		}
		seen[name] = true
		l, set := a.lineOf(name)
		c := a.says("LR-COMPLAINT", "dmesg", called(name, l), with{"says": m.Text})
		if r, ok := a.c.Lookup(a.f.OS, name); !set && ok {
			c.Fix = fmt.Sprintf("It is about %s: %s", name, r.Summary)
		}
		all = append(all, c)
	}
	return all
}

// quiet counts the lines without findings.
func (a *auditor) quiet(findings []Finding) int {
	about := map[place]bool{}
	for _, f := range findings {
		about[place{file: f.File, line: f.Line}] = true
	}
	return len(list.Filter(a.lines, func(l fact.Line) bool { return !about[place{file: l.File, line: l.Number}] }))
}

// unread returns sources that exist but could not be read in full, configuration files first.
func (a *auditor) unread() []Unread {
	list := []Unread{}
	if len(a.f.Sources) == 0 && a.f.From.Kind == fact.KindTree {
		list = append(list, Unread{brevity(a.f.From.Path), "it contains none of a host's files", true})
	}
	for _, s := range a.f.Sources {
		if s.Status != fact.StatusUnreadable && s.Status != fact.StatusPartial {
			continue
		}
		u := Unread{brevity(s.Name), brevity(s.Reason), a.f.From.Alone || configures(s.Name)}
		if u.Config && s.Status == fact.StatusPartial {
			u.Reason += "; what follows, which has the last word, was not judged"
		}
		list = append(list, u)
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Config && !list[j].Config })
	if more := len(list) - maxUnread; more > 0 {
		list = append(list[:maxUnread], Unread{Source: show.Plural(more, "other source"), Reason: "not listed"})
	}
	return list
}

// configures reports a file, or a directory of files, that sets something. Files of NetworkManager's connections are readable
// only by root, and set no sysctl.
func configures(name string) bool {
	return slices.ContainsFunc([]string{"/etc/", "/boot/", "/usr/", "/lib/", "/run/"}, func(p string) bool { return strings.HasPrefix(name, p) }) &&
		!strings.HasPrefix(name, "/etc/NetworkManager/")
}
