package catalogue_test

import (
	"strings"
	"testing"

	"linerate/catalogue"
	"linerate/internal/fact"
	"linerate/internal/fact/secret"
)

// TestNamesAreNoSecrets: a tunable whose name holds a telling word (secret,
// key, token) keeps its number; those whose value is a key do not.
func TestNamesAreNoSecrets(t *testing.T) {
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{"fastopen_key", "stable_secret", "fastopen.setkey", "setkey", "setpsk", "rss_key", "passphrase", "password"}
	for _, name := range append(c.Names(fact.Linux), c.Names(fact.FreeBSD)...) {
		line := strings.TrimSuffix(name, "=") + "=600"
		isKey := false
		for _, k := range keys {
			isKey = isKey || strings.Contains(name, k)
		}
		if _, hidden := secret.Line(line); hidden && !isKey {
			t.Errorf("%s: its value is taken for a secret", name)
		}
	}
}
