package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/audit"
	"linerate/internal/evidence"
	"linerate/internal/fact"
	"linerate/internal/plan"
	"linerate/internal/role"
	"linerate/internal/show"
	"linerate/internal/tunable"
)

// Needs are what the host must carry, in base units; 0 is not said.
type Needs struct {
	Link        float64 // bits per second
	RTT         float64 // seconds, the longest that matters
	States      float64 // flows tracked by the firewall at a time
	Connections float64 // of its own servers at a time
}

// words are the needs as the plan states them.
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
	if len(out) == 0 {
		return nil
	}
	return out
}

// Input is what a plan is made from. Evidence and Findings may be empty.
type Input struct {
	Facts     *fact.Facts
	Catalogue *tunable.Catalogue
	Library   *Library
	Role      string
	Needs     Needs
	// Findings are the audit's, resolved: what they say of the host's lines
	// is not said a second time.
	Findings []audit.Finding
	// Evidence is what was measured, anywhere.
	Evidence []evidence.Row
	// Unmeasured includes advice that nobody has measured.
	Unmeasured bool
}

// planning is one plan in the making.
type planning struct {
	*Input
	names *names
	plan  plan.Plan
	taken map[string]bool // IDs of settings in the plan, names left alone
}

// Make computes the plan of a host. An error is a mistake in the advice or a
// host that no plan can be made for.
func Make(in Input) (plan.Plan, error) {
	if in.Facts.OS != fact.FreeBSD && in.Facts.OS != fact.Linux {
		return plan.Plan{}, fmt.Errorf("no plan for the system %q", in.Facts.OS)
	}
	if err := role.Check(in.Role); err != nil {
		return plan.Plan{}, err
	}
	p := &planning{Input: &in, names: in.names(), taken: map[string]bool{}}
	p.plan = plan.Plan{OS: in.Facts.OS, Release: in.Facts.Release.String(), Role: in.Role, Host: in.Facts.Hostname, Needs: in.Needs.words()}
	for _, a := range in.Library.advice {
		if a.OS != in.Facts.OS || !slices.Contains(a.Roles, in.Role) {
			continue
		}
		if err := p.consider(a); err != nil {
			return plan.Plan{}, fmt.Errorf("advice on %s (%s): %w", a.Name(), a.File, err)
		}
	}
	p.measured()
	p.removals()
	p.order()
	return plan.Seal(p.plan)
}

// consider decides what becomes of one advice.
func (p *planning) consider(a *Advice) error {
	r, _ := p.Catalogue.Lookup(a.OS, a.Name())
	if !r.Exists(p.Facts.Release) {
		return nil
	}
	// Under another name, or none, on this release: then the audit speaks.
	if a.Each != "" {
		return p.each(a, r)
	}
	return p.one(a, r, a.Name(), "")
}

// each considers an advice for every interface that it is about.
func (p *planning) each(a *Advice, r *tunable.Record) error {
	v, err := language().Value(a.Each, p.names)
	if err != nil {
		return err
	}
	devices, err := deviceNames(v)
	if err != nil {
		return err
	}
	for _, d := range devices {
		if err := p.one(a, r, instance(r.Name, d), d); err != nil {
			return err
		}
	}
	return nil
}

// one considers an advice for one tunable, of one interface or of the host.
func (p *planning) one(a *Advice, r *tunable.Record, name, device string) error {
	n := p.at(name, device)
	holds, err := language().Holds(a.When, n)
	if err != nil || !holds || p.taken[name] {
		return err
	}
	if a.Leave != "" {
		return p.leave(name, a.Reason, n)
	}
	if a.Basis == Unmeasured && !p.Unmeasured {
		return p.leave(name, "Nobody has measured that it helps: include what is unmeasured, or put the question to the lab.", n)
	}
	if missing := n.missing(a.Needs); len(missing) > 0 {
		return p.leave(name, fmt.Sprintf("It depends on %s, and nobody said.", show.List(missing)), n)
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

// otherwise leaves alone what an advice would set but for its condition.
func (p *planning) otherwise(a *Advice, name string, n *names) error {
	if a.Unmet {
		text, err := language().Fill(a.Otherwise, n)
		if err != nil {
			return err
		}
		p.plan.Unmet = append(p.plan.Unmet, oneLine(text))
	}
	return p.leave(name, a.Otherwise, n)
}

// at is the names with the tunable's own value.
func (p *planning) at(name, device string) *names {
	n := *p.names
	n.Device = device
	n.Current = factNumber(p.current(name, &n).Value)
	return &n
}

// set puts a setting into the plan, unless the host has that value.
func (p *planning) set(a *Advice, r *tunable.Record, name, device string, n *names) error {
	v, err := language().Value(a.Value, n)
	if err != nil {
		return err
	}
	value := text(v)
	n.New = factNumber(value)
	current := p.current(name, n)
	if r.At(p.Facts.Release).Mechanism == tunable.Module && p.moduleLasts(moduleName(name)) {
		return p.leave(name, "It is loaded, and will be at the next boot. "+a.Reason, n)
	}
	if current.Value == value {
		return p.leave(name, "It is "+value+" already. "+a.Reason, n)
	}
	if a.Raise && n.Current >= n.New {
		return p.leave(name, fmt.Sprintf("It is %s, which is enough: %s would do.", current.Value, value), n)
	}
	s := plan.Setting{Name: name, Value: value, Current: plan.Current{Origin: current.Origin}, ResetCost: string(r.Reset)}
	if current.Known {
		s.Current.Value = &current.Value
	}
	if err := p.place(&s, r, device); err != nil {
		return err
	}
	if s.Where.File == "" && !s.Where.Runtime {
		return p.leave(name, fmt.Sprintf("It should be %s, and linerate has no place of its own to set it: %s %s", value, setBy(r, name, value), a.Reason), n)
	}
	fill := func(text string) string {
		out, ferr := language().Fill(text, n)
		err = cmp.Or(err, ferr)
		return oneLine(out)
	}
	s.Formula, s.Reason, s.Risk, s.Undo = fill(a.Formula), fill(a.Reason), fill(a.Risk), fill(a.Undo)
	if err != nil {
		return err
	}
	if s.Undo == "" {
		s.Undo = undo(s)
	}
	s.Evidence = p.evidence(a, name)
	s.For, s.Against = p.claims(r, value)
	p.taken[name] = true
	p.plan.Settings = append(p.plan.Settings, s)
	return nil
}

// undo is how a setting is taken back.
func undo(s plan.Setting) string {
	was := "the default"
	if s.Current.Value != nil {
		was = *s.Current.Value
	}
	switch {
	case !s.Where.Runtime:
		return fmt.Sprintf("without the file the next boot has %s again", was)
	case s.Where.File == "":
		return "back to " + was + " at once; a reboot forgets it too"
	}
	return "back to " + was + " at once, and the file without it"
}

func (p *planning) leave(name, reason string, n *names) error {
	filled, err := language().Fill(reason, n)
	if err != nil {
		return err
	}
	left := plan.LeftAlone{Name: name, Reason: oneLine(filled)}
	if c := p.current(name, n); c.Known {
		left.Value = &c.Value
	}
	p.taken[name] = true
	p.plan.LeftAlone = append(p.plan.LeftAlone, left)
	return nil
}

// removals are the audit's findings that say a line is better gone.
func (p *planning) removals() {
	for _, f := range p.Findings {
		if f.Action != audit.Remove || f.File == "" {
			continue
		}
		p.plan.Remove = append(p.plan.Remove, plan.Removal{File: f.File, Line: f.Line, Text: f.Text, Reason: oneLine(f.Message), Finding: f.ID})
	}
}

// order puts settings as people read them: correctness before capacity before
// what was measured, by name within; the removals by place.
func (p *planning) order() {
	rank := map[string]int{plan.Correctness: 0, plan.Arithmetic: 1, plan.MeasuredHere: 2, plan.MeasuredOthers: 3, plan.Unmeasured: 4}
	slices.SortStableFunc(p.plan.Settings, func(a, b plan.Setting) int {
		return cmp.Or(cmp.Compare(rank[a.Evidence.Kind], rank[b.Evidence.Kind]), cmp.Compare(a.ID(), b.ID()))
	})
	slices.SortStableFunc(p.plan.LeftAlone, func(a, b plan.LeftAlone) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortStableFunc(p.plan.Remove, func(a, b plan.Removal) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Finding, b.Finding))
	})
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
