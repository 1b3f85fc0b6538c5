package audit

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"linerate/internal/appliance"
	"linerate/internal/fact"
	"linerate/internal/show"
	"linerate/internal/tunable"
)

// Input is what an audit works on. Only Facts and Catalogue are required.
type Input struct {
	Facts     *fact.Facts
	Catalogue *tunable.Catalogue
	Rules     *RuleSet
	// Role and RoleReasons are what the host is for, and why it is thought so.
	Role         string
	RoleReasons  []string
	Suppressions []Suppression
	// Today decides which suppressions have expired.
	Today time.Time
}

// auditor collects findings on one host.
type auditor struct {
	Input
	f     *fact.Facts
	c     *tunable.Catalogue
	env   tunable.Env // of the catalogue's expressions
	names *names      // of the rules'
	// lines are the host's own lines, by mechanism and reading order.
	lines     []fact.Line
	live      bool // running values are known
	boot      *boot
	product   *appliance.Product // nil: a plain host
	strangers int                // how often an unknown name was held against all known ones
	errs      []error
}

// Run audits a host. The error is a mistake in a rule or a record; the
// report is complete but for it.
func Run(in Input) (*Report, error) {
	if in.Rules == nil {
		in.Rules = &RuleSet{}
	}
	written, err := in.Rules.WithWriters(in.Facts)
	a := &auditor{Input: in, f: settled(written, in.Catalogue), c: in.Catalogue, product: appliance.Of(in.Facts)}
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
	findings := resolve(all)
	for i := range findings {
		if w := a.Rules.WriterOf(a.f.OS, fact.Line{File: findings[i].File}); w != nil && packaged(findings[i].File) {
			findings[i].Fix += " The file is a package's. " + w.Fix
		}
		if findings[i].Line > 0 && strings.HasPrefix(findings[i].Fix, "Remove the line") && a.shares(&findings[i]) {
			findings[i].Fix = "Remove " + strings.TrimPrefix(findings[i].Name, "cmdline.") + " from" + strings.TrimPrefix(findings[i].Fix, "Remove")
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
	r.Findings, r.Suppressed, r.Stale = suppress(findings, in.Suppressions, in.Today)
	r.Findings, r.Unlisted = bound(r.Findings, func(f *Finding) *Finding { return f })
	r.Hidden = len(r.Suppressed)
	r.Suppressed, _ = bound(r.Suppressed, func(s *Suppressed) *Finding { return &s.Finding })
	if len(a.errs) > 0 {
		return r, fmt.Errorf("audit: %w", a.errs[0])
	}
	return r, nil
}

// shares reports a finding whose line sets other names too: GRUB's words, or "a=1; b=2".
func (a *auditor) shares(f *Finding) bool {
	at := func(l fact.Line) bool { return l.File == f.File && l.Number == f.Line }
	return slices.ContainsFunc(a.lines, func(l fact.Line) bool { return at(l) && l.Name == f.Name }) &&
		slices.ContainsFunc(a.lines, func(l fact.Line) bool { return at(l) && l.Name != f.Name })
}

// packaged reports a file that a package brings: the host's owner does not edit it.
func packaged(file string) bool { return strings.HasPrefix(file, "/usr/lib/") }

func (a *auditor) fail(err error) {
	if err != nil {
		a.errs = append(a.errs, err)
	}
}

// at fills in where a finding is.
func (f Finding) at(l fact.Line) Finding {
	f.File, f.Line, f.Text, f.Place = l.File, l.Number, l.Text, l.Place
	return f
}

// problems reports lines that the system rejects, or that cannot be read.
func (a *auditor) problems() []candidate {
	var all []candidate
	for _, p := range a.f.Problems {
		f := Finding{
			ID: fmt.Sprintf("LR-SYNTAX:%s:%s", p.File, brief(p.Text)), Name: brief(p.Text),
			File: p.File, Line: p.Line, Text: p.Text, Kind: Syntax, Message: p.Message,
		}
		if moved := a.sysctlInRC(p); moved != nil {
			all = append(all, moved...)
			continue
		}
		switch p.Kind {
		case fact.ProblemSyntax:
			f.Severity, f.Action = Error, Change
			f.Why = "The system rejects the line; it sets nothing."
			f.Fix = "Correct it, or put a # before it if it is a comment."
			if pf := a.f.Firewall.PF; pf != nil && p.File == pf.File {
				f.Why, f.Fix = pfRefuses, "Correct it, and check with pfctl -nf "+p.File+"."
			}
			if path.Ext(p.File) == ".xml" {
				f.Why, f.Fix = "What is behind this place was not read, and is not judged.", "Take the file, or the backup, anew: it is cut off or damaged."
			}
		case fact.ProblemStops:
			f.Severity, f.Action = Error, Change
			f.Message = "sh stops here: " + p.Message
			f.Why = "rc(8) reads the file with sh(1), which ends at such a mistake, and /etc/rc with it: nothing below is read, no service starts, and the boot stops in single-user mode at the console."
			if strings.HasPrefix(p.Message, "exit ") { // a redacted status may be 0
				f.Why = "rc(8) reads the file with sh(1), and exit ends both: nothing below is read, and none of the other scripts of the boot runs: no network, no service. With a status other than 0 it stops in single-user mode."
			}
			f.Fix = "Correct the line before the next boot; sh -n " + p.File + " shows mistakes of syntax."
		case fact.ProblemInclude:
			f.Severity, f.Action = Warning, Change
			f.Why = "The line reads a file that is not there."
			f.Fix = "Remove the line, or provide the file."
		default:
			f.ID = strings.Replace(f.ID, "LR-SYNTAX", "LR-UNREADABLE", 1)
			f.Severity, f.Action = Info, Keep
			f.Why = "Its meaning needs the shell; linerate executes nothing, so the audit does not know what it sets."
			f.Fix = "Nothing, if it works. A plain assignment could be audited."
		}
		all = append(all, one(rejectedLine, f)...)
	}
	return all
}

// sysctlInRC reports a sysctl that stands in rc.conf, where the shell takes
// it for a command.
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
	f := Finding{ID: "LR-MISPLACED:" + name, Name: name, Kind: Misplaced, Severity: Error, Action: Move, Sources: rec.Sources,
		File: p.File, Line: p.Line, Text: p.Text,
		Message: fmt.Sprintf("%s cannot be set in %s: the shell that reads it takes the line for a command", name, base(p.File)),
		Why:     "rc.conf holds variables of rc(8); a name with dots is none, and the shell says \"not found\".",
		Fix:     fmt.Sprintf("Move it to %s.", file)}
	if d, known := rec.DefaultIn(a.f.Release, a.env); file == "" || known && rec.SameValue(strings.Trim(strings.TrimSpace(value), `"'`), d) {
		f.Action, f.Fix = Remove, "Remove the line."
	}
	return one(misplaced, f)
}

// brief is the start of a line, for ids and names.
func brief(text string) string {
	words := strings.Fields(text)
	s := strings.Join(words[:min(3, len(words))], "_")
	return s[:min(40, len(s))]
}

// complaints reports the system's own messages about a setting or a limit, at the line that
// sets it where there is one.
func (a *auditor) complaints() []candidate {
	var all []candidate
	seen := map[string]bool{}
	for _, c := range a.f.Complaints {
		name := c.About
		if name == "" {
			name = brief(c.Text)
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		f := Finding{ID: "LR-COMPLAINT:" + name, Kind: Counter, Severity: Warning, Action: Measure, Name: name, Sources: []string{"dmesg of this host"},
			Message: "the system says: " + c.Text,
			Why:     "A setting or a limit that the kernel complains of is one that hurts, or that it did not take as written.",
			Fix:     "Correct the line, or look for what meets the limit before raising it."}
		if l, ok := a.lineOf(name); ok {
			f = f.at(l)
		} else if r, ok := a.c.Lookup(a.f.OS, name); ok {
			f.Fix = fmt.Sprintf("It is about %s: %s", name, r.Summary)
		}
		all = append(all, one(complained, f)...)
	}
	return all
}

// quiet counts the lines that no finding is about.
func (a *auditor) quiet(findings []Finding) int {
	type place struct {
		file string
		line int
	}
	about := map[place]bool{}
	for _, f := range findings {
		about[place{f.File, f.Line}] = true
	}
	n := 0
	for _, l := range a.lines {
		if !about[place{l.File, l.Number}] {
			n++
		}
	}
	return n
}

// unread lists sources that exist and could not be read whole, files of
// configuration first.
func (a *auditor) unread() []Unread {
	list := []Unread{}
	if len(a.f.Sources) == 0 && a.f.From.Kind == fact.KindTree {
		list = append(list, Unread{brevity(a.f.From.Path), "it holds none of a host's files", true})
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
	slices.SortStableFunc(list, func(x, y Unread) int { return cmp.Compare(count(y.Config), count(x.Config)) })
	if more := len(list) - maxUnread; more > 0 {
		list = append(list[:maxUnread], Unread{Source: show.Plural(more, "other source"), Reason: "not listed"})
	}
	return list
}

// configures reports a file, or a directory of files, that sets something.
// NetworkManager's connections are their owner's alone, and set no sysctl.
func configures(name string) bool {
	return slices.ContainsFunc([]string{"/etc/", "/boot/", "/usr/", "/lib/", "/run/"}, func(p string) bool { return strings.HasPrefix(name, p) }) &&
		!strings.HasPrefix(name, "/etc/NetworkManager/")
}
