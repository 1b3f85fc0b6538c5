package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"linerate/internal/hint"
)

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

func TestGroupsAndLimit(t *testing.T) {
	all, err := ParseAnsible("hosts.json", listed(t))
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
	all, err := ParseLines("hosts", "# ours\nssh://a\nb role=web states=5M # two\n\nroot@c:22 become=doas\nssh://a\n")
	if err != nil {
		t.Fatal(err)
	}
	want := "a=ssh://a role= become= needs=map[]\nb=ssh://b role=web become= needs=map[states:5M]\nroot@c:22=ssh://root@c:22 role= become=doas needs=map[]"
	if got := describe(all); got != want {
		t.Errorf("%s", got)
	}
}

// TestLimitIsOrderless: exclusions and intersections may be given in any order, and the result is in the
// list's order.
func TestLimitIsOrderless(t *testing.T) {
	all, err := ParseAnsible("hosts.json", listed(t))
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

// FuzzLines: no list gives a target without a name, or with another scheme.
func FuzzLines(f *testing.F) {
	f.Add("# ours\nssh://a\nb role=web states=5M # two\n\nroot@c:22 become=doas\nssh://a\n")
	f.Add("ssh://\n")
	f.Add("\x00 role=\xff\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ParseLines("hosts", text)
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
