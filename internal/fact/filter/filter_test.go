package filter

import (
	"fmt"
	"testing"
)

// chains returns chains in which each jumps n times to the next.
func chains(depth, n int, last Action) (s Ruleset) {
	for i := range depth {
		c := Chain{Name: fmt.Sprint(i)}
		for range n {
			c.Rules = append(c.Rules, Rule{Action: Jump, Target: fmt.Sprint(i + 1)})
		}
		s.Chains = append(s.Chains, c)
	}
	s.Chains[0].Hook, s.Chains[0].Policy = "input", Drop
	s.Chains = append(s.Chains, Chain{Name: fmt.Sprint(depth), Rules: []Rule{{Action: last}}})
	return s
}

// TestJumps: a chain that ends returns to the one that jumped, goto to the one before that, and what is too
// deep, or too much, may do anything.
func TestJumps(t *testing.T) {
	for _, c := range []struct {
		what  string
		set   Ruleset
		drops bool
	}{
		{"accepted behind jumps", chains(3, 1, Accept), false},
		{"dropped behind jumps", chains(3, 1, Drop), true},
		{"undecided behind jumps: the policy", chains(3, 2, Return), true},
		{"too deep", chains(40, 1, Drop), false},
		{"too much", chains(12, 12, Return), false},
	} {
		if _, is := c.set.Drops("input", Packet{}); is != c.drops {
			t.Errorf("%s: dropped %t", c.what, is)
		}
	}
	s := chains(2, 1, Return)
	s.Chains[0].Rules = append(s.Chains[0].Rules, Rule{Action: Accept})
	if _, is := s.Drops("input", Packet{}); is {
		t.Error("a jump does not return")
	}
	s.Chains[0].Rules[0].Action = Goto
	if _, is := s.Drops("input", Packet{}); !is {
		t.Error("goto returns")
	}
}
