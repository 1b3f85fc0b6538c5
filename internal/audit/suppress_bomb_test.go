package audit

import (
	"strings"
	"testing"
)

// TestSuppressionsRefuseBombs: aliases and nesting that cost gigabytes or minutes are refused; a file
// of comments suppresses nothing.
func TestSuppressionsRefuseBombs(t *testing.T) {
	for name, text := range map[string]string{
		"an alias":      "suppressions:\n  - &a {id: LR-X, reason: r}\n  - *a\n",
		"a merge":       "suppressions:\n  - {id: LR-X, <<: {reason: r}}\n",
		"a blank block": "suppressions: |\n" + strings.Repeat(" \n", 50_000),
	} {
		if _, err := ParseSuppressions([]byte(text)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if got, err := ParseSuppressions([]byte("# none yet\n---\n\n")); err != nil || len(got) != 0 {
		t.Errorf("a file of comments: %v %v", got, err)
	}
}
