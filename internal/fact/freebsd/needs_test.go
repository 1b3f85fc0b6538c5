package freebsd

import (
	"regexp"
	"strings"
	"testing"

	"linerate/internal/fact/texts"
	"linerate/internal/list"
)

// TestNeeds: each row of needs.txt is found in its wrong text, and no row in its right one.
func TestNeeds(t *testing.T) {
	found := func(text string) (names []string) {
		files := map[string]string{"/etc/rc.conf": "hostname=\"a.example.org\"\nifconfig_em0=\"inet 192.0.2.10/24\"\ndefaultrouter=\"192.0.2.1\"\n"}
		for i, part := range strings.Split("/etc/rc.conf«¶"+text, "»") {
			file, lines, _ := strings.Cut(part, "«¶")
			if lines = strings.ReplaceAll(strings.Trim(lines, "¶"), "¶", "\n") + "\n"; i > 0 {
				files[file] = lines
				continue
			}
			for l := range strings.Lines(lines) { // a variable replaces that of the common text
				name, _, _ := strings.Cut(l, "=")
				files[file] = regexp.MustCompile("(?m)^"+name+"=.*\n").ReplaceAllString(files[file], "") + l
			}
		}
		_, files["host"], _ = Refused(tree(files), "/etc/pf.conf", "/etc/ipfw.rules")
		for _, p := range needProblems(files) {
			names = append(names, p.Message+": "+p.Detail)
		}
		return names
	}
	for _, row := range list.Rows(texts.Read("freebsd/needs.txt")) {
		if got := found(row[5]); len(got) != 1 || !strings.HasPrefix(got[0], row[0]) {
			t.Errorf("%s: %q, want %s: %s", row[5], got, row[0], row[4])
		}
		if got := found(row[6]); len(got) > 0 {
			t.Errorf("%s: %q, want nothing", row[6], got)
		}
	}
}
