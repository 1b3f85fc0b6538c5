package filter

import "slices"

// mostRules bounds the chains whose rules are compared with each other.
const mostRules = 1000

// Dead is a rule without an effect, because another one decides about all its packets. Of is empty if
// that one does the opposite, "unseen" if the rule itself decides nothing, "limit" if only its limit is lost.
type Dead struct {
	Line, By int
	Of       string
}

// Unreached returns the rules whose packets another rule treats the opposite way: one above, where
// the first match decides, or one below, where the last does. It returns one for each of the latter.
func (s *Ruleset) Unreached() (dead []Dead) {
	for i := range s.Chains {
		c, seen := &s.Chains[i], map[int]bool{}
		if len(c.Rules) > mostRules {
			continue
		}
		for j := range c.Rules {
			by, of := c.decided(j), ""
			if by < 0 {
				by, of = s.unseen(c, j), "unseen"
			}
			if by >= 0 && !seen[by] {
				seen[by] = true
				dead = append(dead, Dead{c.Rules[j].Line, c.Rules[by].Line, of})
			}
			if line := s.limitless(c, j); by < 0 && line > 0 {
				dead = append(dead, Dead{c.Rules[j].Line, line, "limit"})
			}
		}
	}
	return dead
}

// decided returns the rule that decides in place of another, −1 if there is none.
func (c *Chain) decided(j int) int {
	r := &c.Rules[j]
	if r.Action != Accept && r.Action != Drop && r.Action != Return {
		return -1
	}
	for i := range c.Rules {
		by := &c.Rules[i]
		opposite := r.Action == Accept && by.Action == Drop || r.Action == Drop && by.Action == Accept
		if r.Action == Drop && (len(r.Conditions) == 0 && r.Number >= 65000 || c.Last && !r.Quick && r.isDefault()) {
			opposite = false // a default, which the rules behind it change on purpose
		}
		if by.Translates && (r.Action == Accept || r.Action == Return) && i < j && by.translates(r) {
			return i
		}
		first := i < j && (!c.Last || by.Quick)
		after := c.Last && i > j && !r.Quick
		if opposite && (first || after) && by.covers(r) && !c.passed(i, j) {
			return i
		}
	}
	return -1
}

// unseen returns the rule that decides about all packets of one that logs, marks or calls a chain; −1 if there is none.
func (s *Ruleset) unseen(c *Chain, j int) int {
	r := &c.Rules[j]
	if c.Last || r.Number > 0 || r.Action != Continue && r.Action != Jump && r.Action != Goto {
		return -1
	}
	may := outcome{true, true, true}
	if target := s.chain(r.Target); target != nil {
		may = s.walk(target, Packet{}, 0)
	}
	return slices.IndexFunc(c.Rules[:j], func(by Rule) bool {
		return (by.Action == Accept && may.drop || by.Action == Drop && may.accept) && by.covers(r)
	})
}

// limitless returns the line of what accepts the packets that exceed a rule's limit; 0 if something may drop them.
func (s *Ruleset) limitless(c *Chain, j int) (line int) {
	r := &c.Rules[j]
	if !r.Limited || r.Action != Accept || c.Last || s.Partial {
		return 0
	}
	p := Packet{State: "new"}
	for _, of := range r.Conditions {
		if v, one := One([]Condition{of}, of.Field); one {
			p[of.Field] = v
		}
	}
	s.steps = 0
	may := s.from(c, j+1, p, 0)
	if may.drop || may.on && c.Policy != Accept {
		return 0
	}
	if by := slices.IndexFunc(c.Rules[j+1:], func(by Rule) bool { return by.Action == Accept && by.matches(p) == yes }); by >= 0 {
		return c.Rules[j+1+by].Line
	}
	return c.Line
}

// translates reports whether a rule translates what an exception is about, on the interface of its own.
func (r *Rule) translates(exception *Rule) bool {
	there := *r
	there.Conditions = slices.DeleteFunc(slices.Clone(r.Conditions), func(c Condition) bool { return c.Field == Out })
	return len(exception.Conditions) > 0 && len(there.Conditions) < len(exception.Conditions) && there.covers(exception)
}

// Default returns the line of the first rule that drops what no other rule is about; 1 if there is none.
func (c *Chain) Default() int {
	for i := range c.Rules {
		if r := &c.Rules[i]; r.Action == Drop && r.isDefault() {
			return r.Line
		}
	}
	return 1
}

// isDefault reports whether a rule is about all packets of an interface, or all of a protocol.
func (r *Rule) isDefault() bool {
	return !slices.ContainsFunc(r.Conditions, func(c Condition) bool {
		return c.Field != Way && c.Field != In && c.Field != Family && c.Field != Proto
	})
}

// passed reports whether a skip leads over a rule to one below, or behind it.
func (c *Chain) passed(rule, below int) bool {
	for i := range min(rule, len(c.Rules)) {
		if c.Rules[i].Action == Skip {
			if to := c.number(c.Rules[i].Target); to < 0 || to > rule && to <= below {
				return true
			}
		}
	}
	return false
}

// covers reports whether a rule matches each packet that another one matches.
func (r *Rule) covers(other *Rule) bool {
	return !r.Vague && !slices.ContainsFunc(r.Conditions, func(c Condition) bool {
		return !slices.ContainsFunc(other.Conditions, c.Covers)
	})
}

// Covers reports whether a condition holds wherever another one does.
func (c Condition) Covers(other Condition) bool {
	if c.Field != other.Field || c.Not != other.Not {
		return false
	}
	wide, narrow := c.Any, other.Any
	if c.Not {
		wide, narrow = narrow, wide
	}
	const most = 1 << 14 // comparisons
	return len(narrow) > 0 && len(narrow)*len(wide) <= most && !slices.ContainsFunc(narrow, func(n string) bool {
		return !slices.ContainsFunc(wide, func(w string) bool { return among(c.Field, n, w) == yes })
	})
}
