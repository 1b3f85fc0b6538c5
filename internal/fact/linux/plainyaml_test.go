package linux

import (
	"strings"
	"testing"

	"linerate/internal/fact"
)

// TestPlainYAML: constructs with which a hostile file could exhaust the parser are refused before parsing.
func TestPlainYAML(t *testing.T) {
	for name, text := range map[string]string{
		"a billion laughs":        "a: &a [x, x]\nb: &b [*a, *a]\n",
		"brackets on one line":    strings.Repeat("[", 2000),
		"brackets line by line":   strings.Repeat("[\n", 2000),
		"sequences in sequences":  strings.Repeat("- ", 1000),
		"deep by indentation":     strings.Repeat(" ", 2000) + "a: 1\n",
		"more than a megabyte":    strings.Repeat("a: 1\n", 1<<18),
		"a blank block":           "a: |\n" + strings.Repeat(" \n", 50_000),
		"an alias in a flow list": "a: [*x]\n",
	} {
		if plainYAML(text) {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, text := range []string{
		"network:\n  ethernets:\n    lan:\n      match: {name: en*, macaddress: \"00:00:5e:00:53:01\"}\n      addresses: [198.18.0.1/24, \"2001:2::1/64\"]\n      nameservers:\n        addresses: [198.18.0.53]\n",
		"network:\n  ethernets:\n    all:\n      match:\n        name: \"*\"\n",
	} {
		if !plainYAML(text) {
			t.Errorf("%s is refused", text)
		}
	}
}

// TestNetplanRefused: a file that is refused is reported as unreadable.
func TestNetplanRefused(t *testing.T) {
	c := ReadNetplan(tree{"/etc/netplan/50.yaml": "network:\n  ethernets:\n    a: &x\n      mtu: 9000\n    b: *x\n"})
	if len(c.Problems) != 1 || c.Problems[0].File != "/etc/netplan/50.yaml" || c.Problems[0].Kind != fact.ProblemUnreadable || len(c.Lines) != 0 {
		t.Errorf("%+v", c)
	}
}
