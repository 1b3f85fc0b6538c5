package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"linerate/internal/fact/factexpr"
	"linerate/internal/judge"
	"linerate/internal/setting"
	"linerate/internal/show"
	"linerate/internal/tunable"
)

// at returns the names with the values of one tunable.
func (p *planning) at(name, device string) *names {
	n := *p.names
	n.Device = device
	c := p.current(name, &n)
	n.Current, n.Lasts = tunable.Number(c.Value), !c.Fleeting
	return &n
}

// set adds a setting to the plan, unless the host already has the value permanently.
func (p *planning) set(a *Advice, r *tunable.Record, name, device string, n *names) error {
	current := p.current(name, n)
	if lacks := p.lacks(name, current, a.Want, a.Value); len(lacks) > 0 {
		p.leave(name, fmt.Sprintf("It is computed from what is not known here (%s): plan on the running host, or from a bundle of it.", strings.Join(lacks, ", ")), n)
		return nil
	}
	value, err := p.value(a, r, n)
	if err != nil {
		return err
	}
	done, err := p.enough(a, r, name, &value, current, n)
	if err != nil || done {
		return err
	}
	if problem := r.Reject(value); problem != nil {
		p.leave(name, fmt.Sprintf("It would be %s, which this system does not take: %s.", value, problem.Message), n)
		return nil
	}
	if device == "" && p.Facts.Container != "" && r.ScopeOn(name, p.Facts.Release) == tunable.Host {
		p.unmet(fmt.Sprintf("%s should be %s, and belongs to the kernel of the host that runs this container (%s): plan it there.", name, value, p.Facts.Container))
		return p.leaveFor(name, "It belongs to the kernel of the host; a container cannot set it.", a.Reason, n)
	}
	s := step(name, value, r, current)
	if err := p.place(&s, r, a.Name(), device); err != nil {
		return err
	}
	if s.Where.File == "" && !s.Where.Runtime {
		return p.leaveFor(name, fmt.Sprintf("It should be %s, but linerate cannot set it: %s", value, setBy(r, name, value)), a.Reason, n)
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
	s.Evidence = p.evidence(a, r, name, value)
	p.add(s, r, value)
	return nil
}

func step(name, value string, r *tunable.Record, now judge.Standing) Step {
	s := Step{Name: name, Value: value, Current: Current{Origin: now.Origin}, ResetCost: string(r.Reset)}
	if now.Known {
		s.Current.Value = &now.Value
	}
	return s
}

// add adds a step to the plan; advised is its value as the catalogue has it.
func (p *planning) add(s Step, r *tunable.Record, advised string) {
	s.Undo = cmp.Or(s.Undo, undo(s))
	s.For, s.Against = p.claims(r, advised)
	p.taken[s.Name] = set
	p.plan.Settings = append(p.plan.Settings, s)
}

// enough leaves a tunable alone if the host already has the value permanently. A value that only
// the running host has is planned anyway, to make it persistent.
func (p *planning) enough(a *Advice, r *tunable.Record, name string, value *string, current judge.Standing, n *names) (done bool, err error) {
	if r.At(p.Facts.Release).Mechanism == setting.Module && p.moduleLasts(moduleName(name)) {
		return true, p.leaveFor(name, "It is loaded, and will be at the next boot.", a.Reason, n)
	}
	more := a.Raise && current.Value != "" && n.Current >= n.New
	switch {
	case current.Fleeting && more:
		*value, n.New = current.Value, n.Current
	case current.Fleeting:
	case current.Value != "" && r.SameValue(current.Value, *value):
		return true, p.leaveFor(name, "It is "+current.Value+" already.", a.Reason, n)
	case more:
		p.leave(name, fmt.Sprintf("It is %s, which is enough: %s would do.", current.Value, *value), n)
		return true, nil
	}
	return false, nil
}

// value computes the value that advice sets: the wanted number within its bounds.
func (p *planning) value(a *Advice, r *tunable.Record, n *names) (string, error) {
	if a.Want != "" {
		if err := p.grant(a, r, n); err != nil {
			return "", err
		}
	}
	v := any(n.Granted)
	if a.Value != "" {
		var err error
		if v, err = language().Value(a.Value, n); err != nil {
			return "", err
		}
	}
	n.New = tunable.Number(text(v))
	return text(v), nil
}

// grant limits the wanted number and reports the part that the host cannot have.
func (p *planning) grant(a *Advice, r *tunable.Record, n *names) error {
	v, err := language().Value(a.Want, n)
	if err != nil {
		return err
	}
	n.Want = factexpr.Number(v)
	n.Granted = n.Want
	if most := r.Greatest(); n.Granted > most {
		n.Granted, n.Bound = most, "the kernel takes no more than "+show.Grouped(most, 0)
	}
	for _, b := range a.Bounds {
		holds, err := language().Holds(b.When, n)
		if err != nil {
			return err
		}
		if !holds || len(p.lacks("", judge.Standing{Value: "0"}, b.Most)) > 0 {
			continue
		}
		v, err := language().Value(b.Most, n)
		if err != nil {
			return err
		}
		if most := math.Floor(factexpr.Number(v)); most < n.Granted {
			n.Granted, n.Bound = most, b.Reason
		}
	}
	if n.Granted >= n.Want || a.Short == "" {
		return nil
	}
	text, err := language().Fill(a.Short, n)
	if err == nil {
		p.unmet(text)
	}
	return err
}

// lacks lists the unknown facts that expressions about a tunable read, including its own value.
func (p *planning) lacks(name string, now judge.Standing, codes ...string) []string {
	var all []string
	for _, code := range codes {
		if code == "" {
			continue
		}
		names, calls := language().Reads(code)
		all = append(all, tunable.Env{Names: &p.names.Names}.Lacks(names, calls)...)
		if slices.Contains(names, "current") && now.Value == "" {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// undo describes how to revert a setting.
func undo(s Step) string {
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

// leaveFor leaves a tunable alone, with a finding, if any, and the advice's reason, whose
// expressions it evaluates.
func (p *planning) leaveFor(name, found, advice string, n *names) error {
	filled, err := language().Fill(advice, n)
	if err != nil {
		return err
	}
	p.leave(name, found+" "+filled, n)
	return nil
}

// leave leaves a tunable alone; reason is not a template.
func (p *planning) leave(name, reason string, n *names) {
	l := LeftAlone{Name: name, Reason: oneLine(reason)}
	if c := p.current(name, n); c.Known {
		l.Value = &c.Value
	}
	p.taken[name] = left
	p.plan.LeftAlone = append(p.plan.LeftAlone, l)
}
