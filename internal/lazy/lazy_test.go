package lazy

import "testing"

// TestRegexpWaits: a mistake in an expression shows at its first use, since only that compiles it.
func TestRegexpWaits(t *testing.T) {
	broken, word := Regexp(`(`), Regexp(`^\w+$`)
	first := word()
	if !word().MatchString("word") || word().MatchString("two words") || word() != first {
		t.Error("the expression is compiled wrongly, or again")
	}
	defer func() {
		if recover() == nil {
			t.Error("a broken expression compiles")
		}
	}()
	broken()
}
