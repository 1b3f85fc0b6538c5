package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/audit"
	"linerate/internal/evidence"
	"linerate/internal/fact"
	"linerate/internal/judge"
	"linerate/internal/list"
	"linerate/internal/role"
	"linerate/internal/show"
	"linerate/internal/tunable"
)

// Needs is the load that the host must carry, in base units; 0 means not given.
type Needs struct {
	Link        float64 // bits per second
	RTT         float64 // seconds, the longest that matters
	States      float64 // concurrent flows that the firewall tracks
	Connections float64 // concurrent, of the host's servers
	// ConnectionRate is the rate that one connection must reach, in bit/s.
	ConnectionRate float64
}

// words formats the needs for the plan.
func (n Needs) words() map[string]string {
	out := map[string]string{}
	if n.Link > 0 {
		out["link"] = show.Bits(n.Link)
	}
	if n.RTT > 0 {
		out["rtt"] = show.Nanos(n.RTT * 1e9)
	}
	if n.States > 0 {
		out["states"] = show.Grouped(n.States, 0)
	}
	if n.Connections > 0 {
		out["connections"] = show.Grouped(n.Connections, 0)
	}
	if n.ConnectionRate > 0 {
		out["connection_rate"] = show.Bits(n.ConnectionRate)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// Input holds the inputs of a plan. Evidence and Findings may be empty.
type Input struct {
	Facts     *fact.Facts
	Catalogue *tunable.Catalogue
	Library   *Library
	Role      string
	Needs     Needs
	// Findings are those of the audit, resolved; the plan does not repeat what they say of the
	// host's lines.
	Findings []audit.Finding
	// Judge audits the host as changed by the plan; nil skips that.
	Judge Judge
	// Evidence holds all measurements, from any host.
	Evidence []evidence.Row
	// Unmeasured includes advice that has not been measured.
	Unmeasured bool
}

// planning is a plan under construction.
type planning struct {
	*Input
	names *names
	plan  Plan
	// taken maps each tunable to the one list that contains it.
	taken    map[string]listed
	answered map[string]bool // needs that some advice covers
	judge    *judge.Judge    // created when evidence is first needed
}

// listed identifies one of a plan's lists.
type listed int

const (
	set listed = iota + 1
	left
	leftByEvidence // left alone because of measurements
)

// begin returns a plan of a host without any settings.
func begin(in Input) (*planning, error) {
	if err := role.Check(in.Role); err != nil {
		return nil, err
	}
	p := &planning{Input: &in, names: in.names(), taken: map[string]listed{}, answered: map[string]bool{}}
	p.plan = Plan{OS: in.Facts.OS, Release: in.Facts.Release.String(), Role: in.Role, Host: in.Facts.Hostname}
	return p, nil
}

// Make computes the plan of a host. An error means a mistake in the advice, or a host that no plan
// can be made for.
func Make(in Input) (Plan, error) {
	if in.Facts.OS != fact.FreeBSD && in.Facts.OS != fact.Linux {
		return Plan{}, fmt.Errorf("no plan for the system %q", in.Facts.OS)
	}
	p, err := begin(in)
	if err != nil {
		return Plan{}, err
	}
	p.plan.Needs = in.Needs.words()
	for _, a := range in.Library.Advice {
		if a.OS != in.Facts.OS || !slices.Contains(a.Roles, in.Role) {
			continue
		}
		if err := p.consider(a); err != nil {
			return Plan{}, fmt.Errorf("advice on %s (%s): %w", a.Name(), a.File, err)
		}
	}
	p.measured()
	p.removals()
	if err := p.answer(); err != nil {
		return Plan{}, err
	}
	p.unknown()
	return p.judged()
}

// judged returns the final plan: applied in memory, audited and sealed.
func (p *planning) judged() (Plan, error) {
	p.order()
	p.replaces()
	if p.Judge != nil {
		var err error
		if p.plan, err = checked(p.plan, p.Facts, p.Judge); err != nil {
			return Plan{}, err
		}
	}
	return Seal(p.plan)
}

// replaces finds the lines in the host's own files that set the planned settings.
func (p *planning) replaces() {
	for i := range p.plan.Settings {
		s := &p.plan.Settings[i]
		stage, ok := stages[s.Mechanism]
		t, found := p.Facts.Tunable(s.Name)
		if stage == fact.RCConf {
			t, found = p.Facts.RCVariable(s.Name)
		}
		if !ok || !found || s.Where.File == "" {
			continue
		}
		for _, l := range t.Lines {
			r := Removal{File: l.File, Line: l.Number, Text: l.Text, Name: l.Name, Reason: "The plan sets it in " + s.Where.File + "."}
			if l.Stage == stage && !l.Default && l.Place == "" && l.File != s.Where.File && l.Number > 0 && !slices.ContainsFunc(s.Instead, r.same) {
				s.Instead = append(s.Instead, r)
			}
		}
	}
}

// dependsOn begins the reason for leaving a tunable alone if a need is missing.
const dependsOn = "It depends on "

// consider decides what to do with one piece of advice.
func (p *planning) consider(a *Advice) error {
	r, _ := p.Catalogue.Lookup(a.OS, a.Name())
	if !r.Exists(p.Facts.Release) {
		return nil
	}
	// On this release the tunable is renamed or gone; the audit reports that.
	if a.Each != "" {
		return p.each(a, r)
	}
	return p.one(a, r, a.Name(), "")
}

// each applies advice to everything that Each selects. Unmeasured advice that was not requested is
// listed once.
func (p *planning) each(a *Advice, r *tunable.Record) error {
	v, err := language().Value(a.Each, p.names)
	if err != nil {
		return err
	}
	devices, err := deviceNames(v)
	if err != nil {
		return err
	}
	if len(devices) > 1 && a.Basis == Unmeasured && !p.Unmeasured {
		devices = devices[:1]
	}
	for _, d := range devices {
		if err := p.one(a, r, instance(a.Name(), d), d); err != nil {
			return err
		}
	}
	return nil
}

// one applies advice to one tunable, of an interface or of the host.
func (p *planning) one(a *Advice, r *tunable.Record, name, device string) error {
	n := p.at(name, device)
	holds, err := language().Holds(a.When, n)
	if err != nil || !holds || p.taken[name] != 0 {
		return err
	}
	for _, need := range a.Needs {
		p.answered[need] = true
	}
	if a.Leave != "" {
		return p.leaveFor(name, "", a.Reason, n)
	}
	if missing := n.missing(a.Needs); len(missing) > 0 {
		p.leave(name, dependsOn+show.List(missing)+", which was not given.", n)
		return nil
	}
	if a.Basis == Unmeasured && !p.Unmeasured {
		if len(evidence.Told(p.changes(name))) > 0 {
			return nil // it has been measured: see method measured
		}
		return p.leaveFor(name, "", p.advised(a, r, name, n)+a.Reason+" Not measured for hosts like this: linerate "+a.measuredBy()+" measures it.", n)
	}
	if a.Unless != "" {
		unless, err := language().Holds(a.Unless, n)
		if err != nil {
			return err
		}
		if unless {
			return p.otherwise(a, name, n)
		}
	}
	return p.set(a, r, name, device, n)
}

// advised returns the value of unmeasured advice as text, or "" if unknown.
func (p *planning) advised(a *Advice, r *tunable.Record, name string, n *names) string {
	if len(p.lacks(name, p.current(name, n), a.Want, a.Value)) > 0 {
		return ""
	}
	value, err := p.value(a, r, n)
	if err != nil || r.SameValue(value, p.current(name, n).Value) {
		return ""
	}
	return "Advised: " + value + ". "
}

// otherwise leaves alone a tunable whose Unless condition holds.
func (p *planning) otherwise(a *Advice, name string, n *names) error {
	text, err := language().Fill(a.Otherwise, n)
	if err != nil {
		return err
	}
	if a.Unmet {
		p.unmet(text)
	}
	p.leave(name, text, n)
	return nil
}

// unmet adds a need that the host cannot meet, once.
func (p *planning) unmet(text string) { p.plan.Unmet = list.With(p.plan.Unmet, oneLine(text)) }

// answer replies to the given needs that no advice covers.
func (p *planning) answer() error {
	words := p.Needs.words()
	for _, need := range needs {
		if words[need] == "" || p.answered[need] {
			continue
		}
		text := fmt.Sprintf("Nothing is computed from it for the role %s on this system.", p.Role)
		for _, a := range p.Library.Answers {
			if a.Need != need || a.OS != p.Facts.OS || len(a.Roles) > 0 && !slices.Contains(a.Roles, p.Role) {
				continue
			}
			holds, err := language().Holds(a.When, p.names)
			if err != nil {
				return fmt.Errorf("answer to %s: %w", need, err)
			}
			if !holds {
				continue
			}
			if text, err = language().Fill(a.Text, p.names); err != nil {
				return fmt.Errorf("answer to %s: %w", need, err)
			}
			break
		}
		p.plan.Unanswered = append(p.plan.Unanswered, Unanswered{Need: need, Reason: oneLine(text)})
	}
	return nil
}

// removals adds the lines that the audit says to remove. A line that the plan overrides is listed
// with its step; a line that measurements support stays.
func (p *planning) removals() {
	for _, f := range p.Findings {
		if f.Action != audit.Remove || f.File == "" {
			continue
		}
		r, ok := p.removal(f)
		if !ok {
			continue
		}
		if lines := p.disagreeing(f, p.Facts); lines != nil {
			if p.taken[f.Name] != set {
				p.decide(f, lines)
			}
			continue
		}
		switch p.taken[f.Name] {
		case set:
			i := slices.IndexFunc(p.plan.Settings, func(s Step) bool { return s.Name == f.Name })
			if i >= 0 {
				p.plan.Settings[i].Instead = append(p.plan.Settings[i].Instead, r)
			}
			continue
		case leftByEvidence:
			continue
		case left:
			p.plan.LeftAlone = slices.DeleteFunc(p.plan.LeftAlone, func(l LeftAlone) bool { return l.Name == f.Name })
		}
		p.plan.Remove = append(p.plan.Remove, r)
	}
}

// order sorts settings for reading: correctness, then capacity, then measured, by name within each;
// removals by place.
func (p *planning) order() {
	rank := map[string]int{Correctness: 0, Arithmetic: 1, MeasuredHere: 2, MeasuredOthers: 3, Unmeasured: 4}
	list.Sort(p.plan.Settings, func(a, b Step) int {
		return cmp.Or(cmp.Compare(rank[a.Evidence.Kind], rank[b.Evidence.Kind]), cmp.Compare(a.ID(), b.ID()))
	})
	list.Sort(p.plan.LeftAlone, func(a, b LeftAlone) int { return cmp.Compare(a.Name, b.Name) })
	list.Sort(p.plan.Remove, func(a, b Removal) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Finding, b.Finding))
	})
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
