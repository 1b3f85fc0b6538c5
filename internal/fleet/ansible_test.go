package fleet

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"linerate/internal/hint"
)

// listed is the output of ansible-inventory 2.14 for an inventory with ranges, nested groups, and variables of
// hosts and groups.
func listed(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/ansible-inventory.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAnsible: the output of ansible-inventory becomes targets.
func TestAnsible(t *testing.T) {
	all, err := ParseAnsible("hosts.json", listed(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := describe(all); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for i := range all {
		if groups := strings.Join(all[i].Groups, " "); all[i].Name == "fw1" && groups != "edge site" || all[i].Name == "odd name" && groups != "" {
			t.Errorf("%s is in %q", all[i].Name, groups)
		}
	}
}

// one is a listing of one host with some variables.
func one(name, vars string) string {
	return fmt.Sprintf(`{"_meta": {"hostvars": {%q: {%s}}}, "all": {"children": ["ungrouped"]}, "ungrouped": {"hosts": [%q]}}`, name, vars, name)
}

// TestAnsibleMistakes: what is not the listing, or cannot be reached, is refused.
func TestAnsibleMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"[web]\nw1\n": "ansible-inventory", "all:\n  hosts:\n    h:\n": "ansible-inventory", "#!/bin/sh\necho": "ansible-inventory", "": "ansible-inventory",
		"{}": "no hosts", `{"all": {"hosts": {"h": {}}}}`: "ansible-inventory", `{"all": {"hosts": ["h"], "vars": {"a": 1}}}`: "not merged",
		one("x", `"ansible_connection": "local"`): "local", one("x", `"ansible_host": "{{y}}"`): "template", one("x", `"linerate_role": "{{ role }}"`): "template",
		one("x", `"ansible_port": 0`): "not a port", one("x", `"ansible_port": 65536`): "not a port", one("x", `"ansible_port": "x"`): "not a port",
		one("x", `"linerate_become": "su"`): "become root", one("x", `"ansible_host": [1]`): "plain value", one("x", `"ansible_user": {"__ansible_vault": "x"}`): "plain value",
		one("", ""): "not the name", one(strings.Repeat("n", maxWord+1), ""): "not the name", one("x", `"linerate_role": "`+strings.Repeat("n", maxWord+1)+`"`): "too long",
	} {
		if all, err := ParseAnsible("hosts.json", text); err == nil || !strings.Contains(err.Error()+hint.Of(err), want) {
			t.Errorf("%.80q: %d hosts, %v; want %q", text, len(all), err, want)
		}
	}
	var many strings.Builder
	for i := range MaxHosts + 1 {
		fmt.Fprintf(&many, `"h%d",`, i)
	}
	if _, err := ParseAnsible("hosts.json", `{"all": {"hosts": [`+strings.TrimSuffix(many.String(), ",")+`]}}`); err == nil || !strings.Contains(err.Error(), "more than 100000") {
		t.Errorf("one host too many: %v", err)
	}
	if all, err := ParseAnsible("h.json", `{"a": {"hosts": ["h"], "children": ["b"]}, "b": {"children": ["a"]}}`); err != nil || len(all) != 1 || strings.Join(all[0].Groups, " ") != "a b" {
		t.Errorf("groups in a circle: %+v, %v", all, err)
	}
}

// TestHowAHostIsReached: names, addresses, ports and users make one source.
func TestHowAHostIsReached(t *testing.T) {
	for _, c := range []struct{ name, vars, source, become string }{
		{"h", "", "ssh://h", ""},
		{"h", `"ansible_port": 2222`, "ssh://h:2222", ""},
		{"h", `"ansible_host": "192.0.2.1", "ansible_user": "op"`, "ssh://op@192.0.2.1", ""},
		{"2001:db8::1", "", "ssh://[2001:db8::1]", ""},
		{"h", `"ansible_host": "2001:db8::1"`, "ssh://[2001:db8::1]", ""},
		{"h", `"ansible_host": "[2001:db8::1]:22"`, "ssh://[2001:db8::1]:22", ""},
		{"h", `"ansible_host": "a:99"`, "ssh://a:99", ""},
		{"h", `"ansible_host": "a:99", "ansible_port": 98`, "ssh://a:98", ""},
		{"h", `"ansible_become": "yes"`, "ssh://h", "sudo"},
		{"h", `"ansible_become": true`, "ssh://h", "sudo"},
		{"h", `"ansible_become": false, "ansible_become_method": "doas"`, "ssh://h", ""},
		{"h", `"ansible_become": 1, "ansible_become_method": "doas"`, "ssh://h", "doas"},
		{"h", `"ansible_become": "yes", "linerate_become": "doas"`, "ssh://h", "doas"},
		{"h", `"linerate_become": "sudo"`, "ssh://h", "sudo"},
		{"h", `"ansible_become": "yes", "ansible_become_method": "su"`, "ssh://h", ""},
	} {
		if all, err := ParseAnsible("hosts.json", one(c.name, c.vars)); err != nil || len(all) != 1 || all[0].Source != c.source || all[0].Become != c.become {
			t.Errorf("%s %s: %+v, %v; want %s by %q", c.name, c.vars, all, err, c.source, c.become)
		}
	}
}

// TestManyLines: the bounds hold for a plain list.
func TestManyLines(t *testing.T) {
	if _, err := ParseLines("hosts", strings.Repeat("h\n", MaxHosts+1)); err == nil || !strings.Contains(err.Error(), "more than 100000") {
		t.Errorf("one line too many: %v", err)
	}
	if _, err := ParseLines("hosts", strings.Repeat("n", maxWord+1)); err == nil {
		t.Error("a long name is taken")
	}
	for text, want := range map[string]string{"": "names none", "a rol=x": "word about", "a x": "key=value"} {
		if _, err := ParseLines("hosts", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

func FuzzAnsible(f *testing.F) {
	f.Add(listed(f))
	f.Add(one("h", `"ansible_port": 22`))
	f.Add(`{"a": {"hosts": ["h"], "children": ["a"]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ParseAnsible("hosts.json", text)
		if err == nil && (len(all) == 0 || len(all) > MaxHosts) {
			t.Errorf("%d hosts without an error", len(all))
		}
		for _, target := range all {
			if target.Name == "" || !strings.HasPrefix(target.Source, Scheme) {
				t.Errorf("target %+v", target)
			}
		}
	})
}
