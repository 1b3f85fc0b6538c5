package plan

import (
	"strings"
	"testing"

	"linerate/internal/fact/redact"
)

// TestUnifiedShowsNoSecret: a diff shows neither the lines around a removed one nor the comment and
// unknown words after it.
func TestUnifiedShowsNoSecret(t *testing.T) {
	old := "# db pw: hunter2\nnet.core.somaxconn=4096 # pw=hunter2\nvendor.pin = hunter2\nnet.core.somaxconn=4096 ; hunter2\nvm.swappiness=10\nnet.core.somaxconn=8192"
	seen, _ := redact.Text(redact.Sysctl, old)
	cut := func(line int) (r Removal) { r.Line = line; return r }
	as, not := Shown(old, seen, []Removal{cut(2), cut(4), cut(6)})
	if len(as) != 1 || as[0].Line != 6 || len(not) != 2 {
		t.Errorf("lines that patch(1) would not find are in the diff: %v, left out %v", as, not)
	}
	got := Unified("/etc/sysctl.conf", old, seen, []Removal{cut(2), cut(4), cut(6)})
	if strings.Contains(got, "hunter2") || strings.Contains(got, "vendor") || strings.Count(got, "\n-net.core.somaxconn=") != 3 || !strings.HasSuffix(got, "@@ -6 +3,0 @@\n-net.core.somaxconn=8192\n\\ No newline at end of file\n") {
		t.Errorf("%s", got)
	}
	if got := Unified("f", old, seen, nil); got != "" {
		t.Errorf("the lines are not redacted: %q", got)
	}
}
