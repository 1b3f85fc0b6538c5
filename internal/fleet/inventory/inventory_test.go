package inventory

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const ini = `; a fleet
gw.example.org:2222 ansible_user=ops
"odd name"

[web]
web[01:03].example.org linerate_role=web # a comment

[db]
db-[a:b] ansible_host=192.0.2.7 ansible_become=yes

[edge]
fw1 linerate_states=5M
fw2 ansible_host=2001:db8::2 ansible_port=22

[edge:vars]
linerate_role=firewall
linerate_link="10G"
other = {{ a template that nobody evaluates }}

[site:children]
web
edge

[site:vars]
linerate_role=router
ansible_become=true
ansible_become_method=doas
`

const yml = `---
all:
  hosts:
    gw.example.org: {ansible_port: 2222, ansible_user: ops}
  children:
    ungrouped:
      hosts: {"odd name": }
    db:
      hosts:
        "db-[a:b]": {ansible_host: 192.0.2.7, ansible_become: true}
    site:
      vars: {linerate_role: router, ansible_become: true, ansible_become_method: doas}
      children:
        web:
          hosts:
            web[01:03].example.org: {linerate_role: web}
        edge:
          vars: {linerate_role: firewall, linerate_link: 10G, other: ["{{ x }}"]}
          hosts:
            fw1: {linerate_states: 5M}
            fw2: {ansible_host: "2001:db8::2", ansible_port: 22}
`

func describe(all []Target) string {
	var lines []string
	for _, t := range all {
		lines = append(lines, fmt.Sprintf("%s=%s role=%s become=%s needs=%v", t.Name, t.Source, t.Role, t.Become, t.Needs))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

const want = `db-a=ssh://192.0.2.7 role= become=sudo needs=map[]
db-b=ssh://192.0.2.7 role= become=sudo needs=map[]
fw1=ssh://fw1 role=firewall become=doas needs=map[link:10G states:5M]
fw2=ssh://[2001:db8::2]:22 role=firewall become=doas needs=map[link:10G]
gw.example.org=ssh://ops@gw.example.org:2222 role= become= needs=map[]
odd name=ssh://odd name role= become= needs=map[]
web01.example.org=ssh://web01.example.org role=web become=doas needs=map[]
web02.example.org=ssh://web02.example.org role=web become=doas needs=map[]
web03.example.org=ssh://web03.example.org role=web become=doas needs=map[]`

// TestBothFormats: INI and YAML mean the same.
func TestBothFormats(t *testing.T) {
	for file, text := range map[string]string{"hosts": ini, "hosts.yml": yml, "inventory": yml} {
		all, err := Ansible(file, text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if got := describe(all); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", file, got, want)
		}
	}
}

func TestGroupsAndLimit(t *testing.T) {
	all, err := Ansible("hosts", ini)
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{
		"": "9", "all": "9", "edge": "fw1 fw2", "site,!web": "fw1 fw2", "web*,&site": "web01.example.org web02.example.org web03.example.org",
		"site:!fw1:!web": "fw2", "!site": "db-a db-b gw.example.org odd name", "fw?": "fw1 fw2",
	} {
		got, err := Limit(all, pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		var names []string
		for _, g := range got {
			names = append(names, g.Name)
		}
		slices.Sort(names)
		if s := strings.Join(names, " "); s != want && fmt.Sprint(len(names)) != want {
			t.Errorf("limit %q: %s, want %s", pattern, s, want)
		}
	}
	for _, pattern := range []string{"edg", "edge,!edge", "web,nosuch"} {
		if got, err := Limit(all, pattern); err == nil {
			t.Errorf("limit %q leaves %d hosts", pattern, len(got))
		}
	}
}

func TestLines(t *testing.T) {
	all, err := Lines("hosts", "# ours\nssh://a\nb role=web states=5M # two\n\nroot@c:22 become=doas\nssh://a\n")
	if err != nil {
		t.Fatal(err)
	}
	want := "a=ssh://a role= become= needs=map[]\nb=ssh://b role=web become= needs=map[states:5M]\nroot@c:22=ssh://root@c:22 role= become=doas needs=map[]"
	if got := describe(all); got != want {
		t.Errorf("%s", got)
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"[a:children]\nb\n[b:children]\na\n": "in itself",
		"x ansible_connection=local":         "local",
		"x ansible_host={{y}}":               "template",
		"x ansible_port=0":                   "no port",
		"x[1:900000]":                        "no range",
		"x[1:99999]y[1:99999]":               "more than",
		"x[5:1]":                             "no range",
		"x[":                                 "not closed",
		"x 'y":                               "not closed",
		"[a:oops]\nx":                        "section",
		"x y":                                "key=value",
		"x linerate_become=su":               "become root",
		"#!/bin/sh\necho":                    "program",
		"":                                   "no host",
		"all:\n  hosts: [a]\n":               "no mapping",
		"all:\n  hosts: {a: {ansible_host: [1]}}": "plain value",
	} {
		if all, err := Ansible("hosts", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d hosts, %v; want %q", text, len(all), err, want)
		}
	}
	for text, want := range map[string]string{"": "names none", "a rol=x": "word about", "a x": "key=value"} {
		if _, err := Lines("hosts", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

func FuzzAnsible(f *testing.F) {
	f.Add("hosts", ini)
	f.Add("hosts.yml", yml)
	f.Add("h", "[a:children]\na[1:2]\n[x[a:c]:vars]")
	f.Add("h.yml", "all: {children: {all: {hosts: {a: }}}}")
	f.Fuzz(func(t *testing.T, file, text string) {
		all, err := Ansible(file, text)
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
