package inventory

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"linerate/internal/hint"
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

// TestWhoseVariableCounts: a host's own, then a group's, then those of the groups it is in, the
// deeper the more, and all's least, whatever they are called.
func TestWhoseVariableCounts(t *testing.T) {
	for name, c := range map[string]struct{ text, role string }{
		"all alone":                          {"h\n[all:vars]\nlinerate_role=router", "router"},
		"a group before all":                 {"[web]\nh\n[web:vars]\nlinerate_role=web\n[all:vars]\nlinerate_role=router", "web"},
		"a group whose name is before all's": {"[all]\nh\n[agg]\nh\n[agg:vars]\nlinerate_role=web\n[all:vars]\nlinerate_role=router", "web"},
		"a child before its parent":          {"[a]\nh\n[z:children]\na\n[a:vars]\nlinerate_role=web\n[z:vars]\nlinerate_role=router", "web"},
		"a grandchild before a child":        {"[c]\nh\n[a:children]\nb\n[b:children]\nc\n[a:vars]\nlinerate_role=mail\n[b:vars]\nlinerate_role=router\n[c:vars]\nlinerate_role=web", "web"},
		"the deeper of two ways":             {"[a]\nh\n[b]\nh\n[top:children]\nmid\nb\n[mid:children]\na\n[a:vars]\nlinerate_role=web\n[b:vars]\nlinerate_role=router", "web"},
		"of equals the last by name":         {"[a]\nh\n[b]\nh\n[a:vars]\nlinerate_role=web\n[b:vars]\nlinerate_role=router", "router"},
		"the host before all groups":         {"[a]\nh linerate_role=cdn\n[a:vars]\nlinerate_role=web", "cdn"},
		"a value that is given later":        {"h linerate_role=web\nh linerate_role=cdn", "cdn"},
		"a value of a group it is not in":    {"h\n[a]\nother\n[a:vars]\nlinerate_role=web", ""},
		"quoted":                             {"h\n[all:vars]\nlinerate_role='web'", "web"},
		"with a comment":                     {"h\n[all:vars]\nlinerate_role=web # the new ones", "web"},
	} {
		all, err := Ansible("hosts", c.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		i := slices.IndexFunc(all, func(t Target) bool { return t.Name == "h" })
		if i < 0 || all[i].Role != c.role {
			t.Errorf("%s: %+v, want role %q", name, all, c.role)
		}
	}
}

// TestRanges are Ansible's: letters go from a to z and on from A to Z, numbers keep their zeros.
func TestRanges(t *testing.T) {
	for pattern, want := range map[string]string{
		"w[1:3]":         "w1 w2 w3",
		"w[08:11]x":      "w08x w09x w10x w11x",
		"w[0:10:5]":      "w0 w5 w10",
		"w[0:11:5]":      "w0 w5 w10",
		"w[a:e:2]":       "wa wc we",
		"w[y:B]":         "wy wz wA wB",
		"r[1:2]-h[a:b]":  "r1-ha r1-hb r2-ha r2-hb",
		"w[7:7]":         "w7",
		"w[98:102]":      "w98 w99 w100 w101 w102",
		"192.0.2.[9:10]": "192.0.2.9 192.0.2.10",
		"plain.example":  "plain.example",
	} {
		if got, err := expand(pattern); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v; want %s", pattern, got, err, want)
		}
	}
	for _, bad := range []string{"w[A:a]", "w[B:A]", "w[b:a]", "w[1:]", "w[:3]", "w[1]", "w[1:2:0]", "w[1:2:-1]", "w[1:2:3:4]", "w[a:f:9223372036854775807]", "w[1:2:9223372036854775807]", "w[a:10]", "w[-1:3]", "w[]", "w[1:2", "", "w[1:99999999999]",
		"w[00000000001:2]", strings.Repeat("w", maxWord+1)} {
		if got, err := expand(bad); err == nil {
			t.Errorf("%.40q means %d hosts", bad, len(got))
		}
	}
}

// TestHowAHostIsReached: names, addresses, ports and users come to one source.
func TestHowAHostIsReached(t *testing.T) {
	for line, want := range map[string]string{
		"h":                      "ssh://h",
		"h:2222":                 "ssh://h:2222",
		"h:2222 ansible_port=22": "ssh://h:22", // the variable is said of the host too
		"h ansible_host=192.0.2.1 ansible_user=op":                   "ssh://op@192.0.2.1",
		"h ansible_ssh_host=a ansible_ssh_user=b ansible_ssh_port=3": "ssh://b@a:3",
		"h ansible_host=x ansible_ssh_host=y":                        "ssh://x",
		"2001:db8::1":                                                "ssh://[2001:db8::1]",
		"h ansible_host=2001:db8::1":                                 "ssh://[2001:db8::1]",
		"h ansible_host=[2001:db8::1]:22":                            "ssh://[2001:db8::1]:22",
		"h ansible_host=a:99":                                        "ssh://a:99",
		"h ansible_host=a:99 ansible_port=98":                        "ssh://a:98",
	} {
		all, err := Ansible("hosts", line)
		if err != nil || len(all) != 1 || all[0].Source != want {
			t.Errorf("%s: %+v, %v; want %s", line, all, err, want)
		}
	}
	for line, want := range map[string]string{
		"h ansible_become=yes": "sudo", "h ansible_become=True": "sudo", "h ansible_become=no ansible_become_method=doas": "", "h ansible_become=1 ansible_become_method=doas": "doas",
		"h ansible_become=yes linerate_become=doas": "doas", "h linerate_become=sudo": "sudo", "h ansible_become=yes ansible_become_method=su": "",
	} {
		if all, err := Ansible("hosts", line); err != nil || all[0].Become != want {
			t.Errorf("%s: %+v, %v; want %q", line, all, err, want)
		}
	}
	for line, want := range map[string]string{
		"h ansible_port=65536": "no port", "h ansible_port=x": "no port", "h linerate_become=root": "sudo", "h linerate_role='{{ role }}'": "template",
	} {
		if _, err := Ansible("hosts", line); err == nil || !strings.Contains(err.Error()+hint.Of(err), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// TestManyHosts: the bounds hold for hosts that lines name, ranges make and groups share.
func TestManyHosts(t *testing.T) {
	if _, err := Ansible("hosts", "w[1:99999]\nx[1:2]\n"); err == nil || !strings.Contains(err.Error(), "more than 100000") {
		t.Errorf("one host too many: %v", err)
	}
	if _, err := Lines("hosts", strings.Repeat("h\n", MaxHosts+1)); err == nil || !strings.Contains(err.Error(), "more than 100000") {
		t.Errorf("one line too many: %v", err)
	}
	for name, text := range map[string]string{
		"a long name": strings.Repeat("n", maxWord+1), "a long value": "h linerate_role=" + strings.Repeat("n", maxWord+1), "a long section": "[" + strings.Repeat("n", maxWord+1) + "]\nh",
		"a long file": strings.Repeat("#\n", MaxBytes/2) + "h\n",
	} {
		if _, err := Ansible("hosts", text); err == nil {
			t.Errorf("%s is taken", name)
		}
		if name == "a long name" {
			if _, err := Lines("hosts", text); err == nil {
				t.Errorf("%s is taken from lines", name)
			}
		}
	}
	deep := func(n int) string {
		var b strings.Builder
		b.WriteString("[g0]\nh\n")
		for i := range n {
			fmt.Fprintf(&b, "[g%d:children]\ng%d\n", i+1, i)
		}
		return b.String()
	}
	if _, err := Ansible("hosts", deep(maxDepth)); err != nil {
		t.Errorf("groups %d deep: %v", maxDepth, err)
	}
	if _, err := Ansible("hosts", deep(maxDepth+1)); err == nil {
		t.Error("groups deeper than that are taken")
	}
}

// TestYAMLThatIsNone of what an inventory may say.
func TestYAMLThatIsNone(t *testing.T) {
	for text, want := range map[string]string{
		"a: &x {hosts: {h: }}\nb: *x\n":                      "alias",
		"all: [h]\n":                                         "no mapping with hosts",
		"all: {children: [a]}\n":                             "children of group",
		"all: {vars: [a]}\n":                                 "variables",
		"all: {hosts: {h: [1]}}\n":                           "variables",
		"all: {vars: {linerate_role: {a: b}}, hosts: {h: }}": "plain value",
		"all: {hosts: {'h[2:1]': }}\n":                       "no range",
		"all: {hosts: {h: }}\n---\nall: {}\n":                "document",
		"all: {\n":                                           "hosts.yml",
	} {
		if all, err := Ansible("hosts.yml", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, all, err, want)
		}
	}
	// What ansible-inventory --list --yaml and --list write beside groups is passed over.
	all, err := Ansible("hosts.json", `{"_meta": {"hostvars": {}}, "all": {"children": ["x"]}}`)
	if err == nil {
		t.Errorf("children that are a list: %+v", all)
	}
	all, err = Ansible("hosts.json", `{"_meta": {"hostvars": {"h": [1]}}, "all": {"hosts": {"h": {"ansible_port": 2200, "other": [1]}}}}`)
	if err != nil || len(all) != 1 || all[0].Source != "ssh://h:2200" {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestLimitIsOrderless: the order of what is left out or narrowed does not matter, and what
// Limit keeps is in the list's order.
func TestLimitIsOrderless(t *testing.T) {
	all, err := Ansible("hosts", ini)
	if err != nil {
		t.Fatal(err)
	}
	names := func(pattern string) string {
		got, err := Limit(all, pattern)
		if err != nil {
			return err.Error()
		}
		var out []string
		for _, g := range got {
			out = append(out, g.Name)
		}
		return strings.Join(out, " ")
	}
	for _, same := range [][]string{{"web,edge,!fw1", "!fw1,edge,web", "edge:!fw1:web"}, {"all,&edge", "&edge,all", "&edge"}, {"fw[12]", "fw1,fw2", "edge"}, {"!web,!edge,!db", "gw*,odd*"}} {
		for _, p := range same[1:] {
			if names(p) != names(same[0]) {
				t.Errorf("%q: %s\n%q: %s", same[0], names(same[0]), p, names(p))
			}
		}
	}
	if _, err := Limit(all, "fw3"); err == nil || !hint.IsUsage(err) || !strings.Contains(err.Error(), `"fw3"`) {
		t.Errorf("no such host: %v", err)
	}
}

// FuzzLines: no list makes a target without a name, or one of another scheme.
func FuzzLines(f *testing.F) {
	f.Add("# ours\nssh://a\nb role=web states=5M # two\n\nroot@c:22 become=doas\nssh://a\n")
	f.Add("ssh://\n")
	f.Add("\x00 role=\xff\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Lines("hosts", text)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, target := range all {
			if target.Name == "" || seen[target.Name] || target.Source != Scheme+target.Name {
				t.Errorf("target %+v", target)
			}
			seen[target.Name] = true
		}
	})
}
