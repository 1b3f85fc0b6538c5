// Package inventory reads the lists that say which hosts a fleet has: a file with a
// host a line, and Ansible's inventories, INI and YAML, as data: nothing in them is
// run, and no template is evaluated.
package inventory

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/hint"
)

// Limits of a list.
const (
	MaxBytes = 16 << 20
	MaxHosts = 100_000
	maxWord  = 512 // of a name or value, in bytes
	maxDepth = 32  // of groups in groups
	maxVars  = 64  // of one host that are kept
)

// Scheme begins a host over SSH.
const Scheme = "ssh://"

// Target is one host to reach.
type Target struct {
	// Name is what the list calls it.
	Name string
	// Source is how it is reached: ssh://[user@]host[:port], or the file of a bundle.
	Source string
	// Role is what the list says it is for, "" where the audit shall guess.
	Role string
	// Become is sudo, doas, or "" for nothing and what the command says.
	Become string
	// Groups it is in, sorted; Needs are what it must carry, by name as plan has
	// them: states, link, rtt, connections.
	Groups []string
	Needs  map[string]string
}

// Needs are the names that a list may say a host's needs by.
var Needs = []string{"link", "rtt", "states", "connections"}

// prefix begins the variables of an inventory that are ours: linerate_role.
const prefix = "linerate_"

// Lines reads a list with one host a line: ssh:// may be left out, # begins a comment,
// and words after the host say more of it: role=firewall states=5M.
func Lines(file, text string) ([]Target, error) {
	var out []Target
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		at := fmt.Sprintf("%s:%d", file, n)
		t, err := lineTarget(at, words)
		if err != nil {
			return nil, err
		}
		if out = append(out, t); len(out) > MaxHosts {
			return nil, fmt.Errorf("hosts: %s names more than %d", file, MaxHosts)
		}
	}
	if len(out) == 0 {
		return nil, hint.With(fmt.Errorf("hosts: %s names none", file), "one ssh://[user@]host[:port] a line")
	}
	return firsts(out), nil
}

func lineTarget(at string, words []string) (Target, error) {
	if len(words[0]) > maxWord {
		return Target{}, fmt.Errorf("hosts: the name at %s is too long for the name of a host", at)
	}
	name := strings.TrimPrefix(words[0], Scheme)
	if name == "" {
		return Target{}, hint.Usagef("%s: %q names no host", at, words[0])
	}
	t := Target{Name: name, Source: Scheme + name, Groups: []string{}}
	vars := map[string]string{}
	for _, w := range words[1:] {
		key, value, ok := strings.Cut(w, "=")
		if !ok {
			return t, hint.With(hint.Usagef("%s: %.40q is not key=value", at, w), "one host a line; role=firewall may follow it")
		}
		if key != "become" && key != "role" && !slices.Contains(Needs, key) {
			return t, hint.Usage(fmt.Errorf("%s: %w", at, hint.Unknown("word about a host", key, append([]string{"role", "become"}, Needs...))))
		}
		vars[prefix+key] = value
	}
	return t, t.take(at, vars)
}

// take takes over what variables say of a host.
func (t *Target) take(at string, vars map[string]string) error {
	t.Role, t.Become = vars[prefix+"role"], vars[prefix+"become"]
	if t.Become != "" && t.Become != "sudo" && t.Become != "doas" {
		return hint.Usage(fmt.Errorf("%s: %w", at, hint.Unknown("way to become root", t.Become, []string{"sudo", "doas"})))
	}
	for _, n := range Needs {
		if v := vars[prefix+n]; v != "" {
			if t.Needs == nil {
				t.Needs = map[string]string{}
			}
			t.Needs[n] = v
		}
	}
	return nil
}

// firsts drops a host that is named again.
func firsts(all []Target) []Target {
	seen := make(map[string]bool, len(all))
	return slices.DeleteFunc(all, func(t Target) bool {
		again := seen[t.Name]
		seen[t.Name] = true
		return again
	})
}

// group is a group of an Ansible inventory.
type group struct {
	hosts    map[string]map[string]string // with their variables
	children []string
	vars     map[string]string
}

// groups is an inventory as it is read.
type groups struct {
	file  string
	by    map[string]*group
	order []string // of hosts, as named first
	known map[string]bool
}

func (g *groups) group(name string) *group {
	if g.by[name] == nil {
		g.by[name] = &group{hosts: map[string]map[string]string{}, vars: map[string]string{}}
	}
	return g.by[name]
}

func (g *groups) host(group, name string, vars map[string]string) error {
	if err := checkName(name); err != nil {
		return hint.Usagef("%s: %v", g.file, err)
	}
	if !g.known[name] {
		g.known[name] = true
		if g.order = append(g.order, name); len(g.order) > MaxHosts {
			return fmt.Errorf("%s names more than %d hosts", g.file, MaxHosts)
		}
	}
	in := g.group(group)
	if in.hosts[name] == nil {
		in.hosts[name] = map[string]string{}
	}
	maps.Copy(in.hosts[name], vars)
	return nil
}

// ours reports variables that say how a host is reached, and ours; others are not kept.
func ours(name string) bool {
	return strings.HasPrefix(name, prefix) || slices.Contains([]string{"ansible_host", "ansible_port", "ansible_user", "ansible_ssh_host", "ansible_ssh_port", "ansible_ssh_user", "ansible_become", "ansible_become_method", "ansible_connection"}, name)
}

// targets flattens the groups: what a host says of itself counts more than its groups,
// a group more than those it is in, and all least.
func (g *groups) targets() ([]Target, error) {
	depth, err := g.depths()
	if err != nil {
		return nil, err
	}
	in := map[string][]string{} // groups by host
	for name, gr := range g.by {
		for h := range gr.hosts {
			in[h] = append(in[h], name)
		}
	}
	parents := map[string][]string{}
	for name, gr := range g.by {
		for _, c := range gr.children {
			parents[c] = append(parents[c], name)
		}
	}
	var out []Target
	for _, h := range g.order {
		of := above(in[h], parents)
		slices.SortFunc(of, func(a, b string) int { return cmp.Or(cmp.Compare(depth[a], depth[b]), strings.Compare(a, b)) })
		vars := map[string]string{}
		if all := g.by["all"]; all != nil {
			maps.Copy(vars, all.vars)
		}
		for _, name := range of {
			if name != "all" { // whose name may be behind that of a group as deep
				maps.Copy(vars, g.by[name].vars)
			}
		}
		for _, name := range of {
			maps.Copy(vars, g.by[name].hosts[h])
		}
		t, err := g.target(h, vars)
		if err != nil {
			return nil, err
		}
		t.Groups = slices.DeleteFunc(slices.Sorted(slices.Values(of)), func(n string) bool { return n == "all" || n == ungrouped })
		out = append(out, t)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s names no host", g.file)
	}
	return out, nil
}

const ungrouped = "ungrouped"

// above are groups and all those that they are in.
func above(names []string, parents map[string][]string) []string {
	seen := map[string]bool{}
	queue := slices.Clone(names)
	var out []string
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if seen[n] {
			continue
		}
		seen[n] = true
		out = append(out, n)
		queue = append(queue, parents[n]...)
	}
	return out
}

// depths is how deep each group lies; a circle is an error.
func (g *groups) depths() (map[string]int, error) {
	depth, state := map[string]int{}, map[string]int{}
	var visit func(name string, at int) error
	visit = func(name string, at int) error {
		if state[name] == 1 || at > maxDepth {
			return hint.Usagef("%s: group %.80q is in itself, or more than %d deep", g.file, name, maxDepth)
		}
		if d, ok := depth[name]; ok && d >= at {
			return nil
		}
		state[name], depth[name] = 1, at
		for _, c := range g.group(name).children {
			if err := visit(c, at+1); err != nil {
				return err
			}
		}
		state[name] = 2
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(g.by)) {
		if _, ok := depth[name]; !ok {
			if err := visit(name, 0); err != nil {
				return nil, err
			}
		}
	}
	return depth, nil
}

func (g *groups) target(name string, vars map[string]string) (Target, error) {
	t := Target{Name: name}
	if c := vars["ansible_connection"]; c == "local" {
		return t, hint.With(hint.Usagef("%s: %s has ansible_connection=local", g.file, name), "a fleet's hosts are reached over SSH; linerate audit audits this machine")
	}
	for k, v := range vars {
		if strings.Contains(v, "{{") {
			return t, hint.With(hint.Usagef("%s: %s of %s is a template, and templates are not evaluated", g.file, k, name), "give the value, or the list that ansible-inventory(1) writes as YAML")
		}
	}
	host := cmp.Or(vars["ansible_host"], vars["ansible_ssh_host"], name)
	if h, port, ok := splitPort(host); ok {
		host = h
		vars["ansible_port"] = cmp.Or(vars["ansible_port"], port)
	}
	if strings.Contains(host, ":") {
		host = "[" + strings.Trim(host, "[]") + "]"
	}
	if user := cmp.Or(vars["ansible_user"], vars["ansible_ssh_user"]); user != "" {
		host = user + "@" + host
	}
	if port := cmp.Or(vars["ansible_port"], vars["ansible_ssh_port"]); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return t, hint.Usagef("%s: %q is no port of %s", g.file, port, name)
		}
		host += ":" + port
	}
	t.Source = Scheme + host
	if method := cmp.Or(vars["ansible_become_method"], "sudo"); truth(vars["ansible_become"]) && vars[prefix+"become"] == "" && (method == "sudo" || method == "doas") {
		vars[prefix+"become"] = method
	}
	return t, t.take(g.file+": "+name, vars)
}

// splitPort splits host:port, and leaves an IPv6 address alone.
func splitPort(s string) (host, port string, ok bool) {
	if strings.Count(s, ":") != 1 && !strings.HasPrefix(s, "[") {
		return s, "", false
	}
	host, port, err := net.SplitHostPort(s)
	return host, port, err == nil
}

func truth(s string) bool {
	return slices.Contains([]string{"yes", "true", "on", "1"}, strings.ToLower(s))
}

// Limit keeps the targets that a pattern in Ansible's manner admits: names and groups
// by commas or colons, * and ? for parts, !PART to leave out, &PART to narrow.
func Limit(all []Target, pattern string) ([]Target, error) {
	if pattern == "" {
		return all, nil
	}
	parts := strings.FieldsFunc(pattern, func(r rune) bool { return r == ',' || r == ' ' })
	if !strings.ContainsAny(pattern, "[") && !slices.ContainsFunc(all, func(t Target) bool { return slices.Contains(parts, t.Name) }) {
		parts = strings.FieldsFunc(pattern, func(r rune) bool { return r == ',' || r == ':' || r == ' ' })
	}
	matched := map[string]bool{}
	out := slices.DeleteFunc(slices.Clone(all), func(t Target) bool {
		in, any := false, false
		for _, p := range parts {
			if strings.HasPrefix(p, "!") || strings.HasPrefix(p, "&") {
				continue
			}
			any = true
			if t.matches(p) {
				in, matched[p] = true, true
			}
		}
		in = in || !any
		for _, p := range parts {
			switch {
			case strings.HasPrefix(p, "!") && t.matches(p[1:]), strings.HasPrefix(p, "&") && !t.matches(p[1:]):
				in = false
			}
		}
		return !in
	})
	for _, p := range parts {
		if !strings.ContainsAny(p, "!&") && !matched[p] {
			return nil, hint.Usage(hint.Unknown("host or group", p, known(all)))
		}
	}
	if len(out) == 0 {
		return nil, hint.Usagef("no host is left by %q", pattern)
	}
	return out, nil
}

func (t *Target) matches(pattern string) bool {
	if pattern == "all" {
		return true
	}
	for _, name := range append([]string{t.Name}, t.Groups...) {
		if ok, err := path.Match(pattern, name); err == nil && ok || pattern == name {
			return true
		}
	}
	return false
}

// known are names that a message may offer: of groups, and of some hosts.
func known(all []Target) []string {
	names := map[string]bool{}
	for i := range all {
		for _, g := range all[i].Groups {
			names[g] = true
		}
		if i < 2000 {
			names[all[i].Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
