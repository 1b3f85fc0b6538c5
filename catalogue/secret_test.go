package catalogue_test

import (
	"slices"
	"strings"
	"testing"

	"linerate/catalogue"
	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/setting"
)

// TestNamesAreNoSecrets: a tunable whose name contains a word such as secret, key or token keeps its number in
// redacted text; one whose value is a key does not.
func TestNamesAreNoSecrets(t *testing.T) {
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{"fastopen_key", "stable_secret", "setkey", "setpsk", "rss_key", "passphrase", "password"}
	for _, system := range []string{fact.Linux, fact.FreeBSD} {
		for _, name := range c.Names(system) {
			if r, _ := c.Lookup(system, name); r.Mechanism != setting.Sysctl {
				continue
			}
			isKey := slices.ContainsFunc(keys, func(k string) bool { return strings.Contains(name, k) })
			for kind, line := range map[string]string{redact.Sysctl: name + "=600", redact.Values: name + ": 600"} {
				if kept, _ := redact.Text(kind, line); kept != line && !isKey {
					t.Errorf("%s becomes %s", line, kept)
				}
			}
		}
	}
}
