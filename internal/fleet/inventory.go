package fleet

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"linerate/internal/hint"
)

// Limits on a list.
const (
	MaxList  = 16 << 20 // bytes of its file
	MaxHosts = 100_000
	maxWord  = 512 // bytes of a name or value
	// maxMemberships bounds the groups of all hosts together.
	maxMemberships = 64 * MaxHosts
)

// Scheme begins the name of a host reached over SSH.
const Scheme = "ssh://"

// Target is one host to reach.
type Target struct {
	// Name is its name in the list.
	Name string
	// Source is the address of the host, ssh://[user@]host[:port], or the file of a bundle.
	Source string
	// Role is the role given in the list; "" lets the audit guess.
	Role string
	// Become is sudo, doas, or "" for the command's default.
	Become string
	// Site is its location, "" if the list does not state one.
	Site string
	// Groups are its groups, sorted; Needs is its required load, by the keys in Needs.
	Groups []string
	Needs  map[string]string
}

// Needs lists the keys for a host's required load.
var Needs = []string{"link", "rtt", "states", "connections", "connection_rate"}

// prefix begins the names of linerate's own variables in an inventory, such as linerate_role.
const prefix = "linerate_"

// ParseLines parses a list with one host per line: ssh:// is optional, # begins a
// comment, and words after the host describe it: role=firewall states=5M.
func ParseLines(file, text string) ([]Target, error) {
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
	return firstsByName(out), nil
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
		if key != "become" && key != "role" && key != "site" && !slices.Contains(Needs, key) {
			return t, hint.Usage(fmt.Errorf("%s: %w", at, hint.Unknown("word about a host", key, append([]string{"role", "become", "site"}, Needs...))))
		}
		vars[prefix+key] = value
	}
	return t, t.take(at, vars)
}

// take sets a host's fields from its variables.
func (t *Target) take(at string, vars map[string]string) error {
	t.Role, t.Become, t.Site = vars[prefix+"role"], vars[prefix+"become"], vars[prefix+"site"]
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

// firstsByName removes repeated hosts.
func firstsByName(all []Target) []Target {
	seen := make(map[string]bool, len(all))
	return slices.DeleteFunc(all, func(t Target) bool {
		again := seen[t.Name]
		seen[t.Name] = true
		return again
	})
}

// Limit returns the targets that match a pattern in Ansible's syntax: names and groups separated by
// commas or colons, with * and ? as wildcards, !PART to exclude, &PART to intersect.
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
			return nil, hint.Usage(hint.Unknown("host or group", p, offered(all)))
		}
	}
	if len(out) == 0 {
		return nil, hint.Usagef("%q leaves no host", pattern)
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

// offered lists names that a message may suggest: all groups and some hosts.
func offered(all []Target) []string {
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
