package fleet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/hint"
)

// listing is the JSON output of `ansible-inventory --list` without the groups: each
// host's variables, merged with those of its groups.
type listing struct {
	Meta struct {
		Hostvars map[string]map[string]any `json:"hostvars"`
	} `json:"_meta"`
}

// ansibleGroup is one group of the listing.
type ansibleGroup struct {
	Hosts    []string       `json:"hosts"`
	Children []string       `json:"children"`
	Vars     map[string]any `json:"vars"`
}

// makeListing advises how to make the JSON that ParseAnsible reads.
const makeListing = "ansible-inventory -i INVENTORY with its options for a list prints the JSON to read"

// ParseAnsible parses the JSON of ansible-inventory(1). Ansible itself reads INI, YAML
// and inventory plug-ins, expands ranges and merges group variables.
func ParseAnsible(file, text string) ([]Target, error) {
	var l listing
	groups := map[string]ansibleGroup{}
	raw := map[string]json.RawMessage{}
	err := json.Unmarshal([]byte(text), &raw)
	if err == nil {
		err = json.Unmarshal([]byte(text), &l)
	}
	delete(raw, "_meta")
	for name, r := range raw {
		var g ansibleGroup
		if err == nil {
			err = json.Unmarshal(r, &g)
		}
		groups[name] = g
	}
	if err != nil {
		return nil, hint.With(hint.Usagef("inventory %s: not the JSON of ansible-inventory: %v", file, err), makeListing)
	}
	parents, in := map[string][]string{}, map[string][]string{} // of groups; of hosts
	for name, g := range groups {
		if len(g.Vars) > 0 {
			return nil, hint.With(hint.Usagef("inventory %s: the variables of group %.80q are not merged into its hosts", file, name), "leave out ansible-inventory's option for an export")
		}
		for _, c := range g.Children {
			parents[c] = append(parents[c], name)
		}
		for _, h := range g.Hosts {
			in[h] = append(in[h], name)
		}
	}
	return ansibleTargets(file, l.Meta.Hostvars, in, parents)
}

// above returns groups and all groups that contain them, sorted, without Ansible's implicit ones.
func above(names []string, parents map[string][]string) []string {
	seen := map[string]bool{"all": true, "ungrouped": true}
	out := []string{}
	for queue := slices.Clone(names); len(queue) > 0; queue = queue[1:] {
		if n := queue[0]; !seen[n] {
			seen[n] = true
			out = append(out, n)
			queue = append(queue, parents[n]...)
		}
	}
	slices.Sort(out)
	return out
}

// ansibleTargets returns the hosts, sorted by name.
func ansibleTargets(file string, hostvars map[string]map[string]any, in, parents map[string][]string) ([]Target, error) {
	names := maps.Clone(in)
	for h := range hostvars {
		names[h] = in[h]
	}
	switch {
	case len(names) > MaxHosts:
		return nil, fmt.Errorf("inventory %s: more than %d hosts", file, MaxHosts)
	case len(names) == 0:
		return nil, hint.With(fmt.Errorf("inventory %s: no hosts", file), makeListing)
	}
	var out []Target
	memberships := 0
	for _, h := range slices.Sorted(maps.Keys(names)) {
		vars, err := ansibleVars(file, h, hostvars[h])
		if err != nil {
			return nil, err
		}
		t, err := ansibleTarget(file, h, vars)
		if err != nil {
			return nil, err
		}
		t.Groups = above(names[h], parents)
		if memberships += len(t.Groups); memberships > maxMemberships {
			return nil, fmt.Errorf("inventory %s: hosts are in more than %d groups altogether", file, maxMemberships)
		}
		out = append(out, t)
	}
	return out, nil
}

// usedVars are Ansible's variables for reaching a host.
var usedVars = []string{"ansible_host", "ansible_port", "ansible_user", "ansible_become", "ansible_become_method", "ansible_connection"}

// ansibleVars returns those of a host's variables that linerate uses, as text.
func ansibleVars(file, name string, all map[string]any) (map[string]string, error) {
	if name == "" || len(name) > maxWord {
		return nil, hint.Usagef("inventory %s: %.60q is not the name of a host", file, name)
	}
	vars := map[string]string{}
	for key, value := range all {
		if !strings.HasPrefix(key, prefix) && !slices.Contains(usedVars, key) {
			continue
		}
		text := fmt.Sprint(value)
		switch value.(type) {
		case map[string]any, []any:
			return nil, hint.Usagef("inventory %s: %.40s of %s is not a plain value", file, key, name)
		}
		if len(text) > maxWord {
			return nil, hint.Usagef("inventory %s: %.40s of %s is too long", file, key, name)
		}
		if strings.Contains(text, "{{") {
			return nil, hint.With(hint.Usagef("inventory %s: %s of %s is a template, and templates are not evaluated", file, key, name), "put its value in the inventory")
		}
		vars[key] = text
	}
	return vars, nil
}

// ansibleTarget returns a host, given its variables.
func ansibleTarget(file, name string, vars map[string]string) (Target, error) {
	t := Target{Name: name}
	if vars["ansible_connection"] == "local" {
		return t, hint.With(hint.Usagef("inventory %s: %s has ansible_connection=local", file, name), "a fleet's hosts are reached over SSH; linerate audit audits this machine")
	}
	address := cmp.Or(vars["ansible_host"], name)
	if strings.Count(address, ":") == 1 || strings.HasPrefix(address, "[") {
		if h, port, err := net.SplitHostPort(address); err == nil {
			address, vars["ansible_port"] = h, cmp.Or(vars["ansible_port"], port)
		}
	}
	if strings.Contains(address, ":") {
		address = "[" + strings.Trim(address, "[]") + "]"
	}
	if user := vars["ansible_user"]; user != "" {
		address = user + "@" + address
	}
	if port := vars["ansible_port"]; port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return t, hint.Usagef("inventory %s: %q is not a port of %s", file, port, name)
		}
		address += ":" + port
	}
	t.Source = Scheme + address
	become := slices.Contains([]string{"yes", "true", "on", "1"}, strings.ToLower(vars["ansible_become"]))
	if method := cmp.Or(vars["ansible_become_method"], "sudo"); become && vars[prefix+"become"] == "" && (method == "sudo" || method == "doas") {
		vars[prefix+"become"] = method
	}
	return t, t.take(file+": "+name, vars)
}
