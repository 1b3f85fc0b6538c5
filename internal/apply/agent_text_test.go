package apply

import (
	"regexp"
	"strings"
	"testing"

	"linerate/internal/capture"
)

var assignment = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)=`)

// usesOwn reports whether a command of a line assigns a variable and uses it in another assignment of the
// same command.
func usesOwn(line string) bool {
	var set []string
	for _, word := range strings.Fields(line) {
		m := assignment.FindStringSubmatch(word)
		if m == nil {
			set = nil
			continue
		}
		for _, name := range set {
			if regexp.MustCompile(`\$\{?` + name + `\b`).MatchString(word) {
				return true
			}
		}
		if set = append(set, m[1]); strings.HasSuffix(word, ";") {
			set = nil
		}
	}
	return false
}

// TestAssignmentsOfACommandAreIndependent: POSIX leaves the order of a command's assignments open: dash
// assigns from left to right, FreeBSD's sh expands all before it sets the first. With
// `i=$((i+1)) to=file.$i` a 14.0-STABLE wrote every file under the number of the one before.
func TestAssignmentsOfACommandAreIndependent(t *testing.T) {
	for line, want := range map[string]bool{
		`i=1 to=file.$i`: true, `a=x b=${a}y`: true, `i=1; to=$i`: false,
		`i=1 && to=$i`: false, `to=$i i=1`: false, `a=1 b=$ab`: false,
	} {
		if usesOwn(line) != want {
			t.Errorf("usesOwn(%q) is not %v", line, want)
		}
	}
	for name, text := range map[string]string{"agent": Script(""), "capture": capture.Script()} {
		for i, line := range strings.Split(text, "\n") {
			// An arithmetic expansion is one word.
			if line = regexp.MustCompile(`\$\(\([^)]*\)\)`).ReplaceAllString(line, "N"); usesOwn(line) {
				t.Errorf("%s line %d: %s", name, i+1, strings.TrimSpace(line))
			}
		}
	}
}
