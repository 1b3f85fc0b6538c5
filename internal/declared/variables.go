package declared

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"linerate/internal/lazy"
)

// Variables is the context that a repository provides for each of its files: variables from Ansible
// roles and inventories, whether it mentions FreeBSD, and sysctl.d settings from MachineConfigs.
type Variables struct {
	all     map[string][]definition
	freeBSD bool
	machine []Line
}

// definition is one value of a variable.
type definition struct {
	value, file string
	line        int
}

// variableFile matches files with variables of a role, a group or a host.
var variableFile = lazy.Regexp(`(^|/)(defaults|vars|group_vars|host_vars)/(.*/)?[^/]*(\.ya?ml)?$`)

// Add reads a file, which may define variables.
func (v *Variables) Add(name string, text []byte) {
	v.freeBSD = v.freeBSD || bytes.Contains(text, []byte("FreeBSD"))
	if bytes.Contains(text, []byte("machineconfiguration.openshift.io/")) {
		v.addMachine(name, text)
	}
	if ext := path.Ext(name); !variableFile().MatchString(name) || ext != "" && ext != ".yml" && ext != ".yaml" {
		return
	}
	for _, doc := range documents(string(text)) {
		for _, e := range doc.keys {
			if !e.scalar {
				continue
			}
			if v.all == nil {
				v.all = map[string][]definition{}
			}
			v.all[e.key] = append(v.all[e.key], definition{e.text, name, e.line})
		}
	}
}

// addMachine stores what the MachineConfigs of a file set in sysctl.d.
func (v *Variables) addMachine(name string, text []byte) {
	for _, h := range Read(name, text, nil) {
		for file, lines := range h.Files {
			if strings.HasPrefix(file, "/etc/sysctl.d/") && file != SysctlFile {
				for _, l := range lines {
					l.File = name
					v.machine = append(v.machine, l)
				}
			}
		}
	}
}

// join adds to a profile of the Tuned operator the lines of MachineConfigs that set the same names:
// TuneD applies sysctl.d again after its profile.
func (h *Host) join(vars *Variables) {
	if vars == nil || h.Form != "Tuned profile" {
		return
	}
	sets := map[string]bool{}
	for _, lines := range h.Files {
		for _, l := range lines {
			sets[assigned(l)] = true
		}
	}
	delete(sets, "")
	for _, l := range vars.machine {
		if sets[assigned(l)] {
			h.Files["/etc/sysctl.d/machine.conf"] = append(h.Files["/etc/sysctl.d/machine.conf"], l)
		}
	}
}

// assigned returns the name that a line sets, "" if it sets none.
func assigned(l Line) string {
	name, _, ok := strings.Cut(l.Text, "=")
	if name = strings.TrimLeft(strings.TrimSpace(name), "-"); !ok || !wholeName().MatchString(name) {
		return ""
	}
	return name
}

// role returns the directory of the role that contains a file; ok is false outside roles.
func role(name string) (dir string, ok bool) {
	parts := strings.Split(path.Dir(name), "/")
	for i := len(parts) - 1; i >= 0; i-- {
		if slices.Contains([]string{"tasks", "templates", "handlers", "defaults", "vars"}, parts[i]) {
			return "/" + path.Join(parts[:i]...), true
		}
	}
	return "", false
}

// expressed matches a Jinja expression that only names a variable.
var expressed = lazy.Regexp(`\{\{-?\s*(\w+)\s*((?:\|\s*(?:int|string|bool|d|default)\s*(?:\([^()]*\))?\s*)*)-?\}\}`)

// otherwise matches the default value in a filter.
var otherwise = lazy.Regexp(`\|\s*(?:d|default)\s*\(\s*["']?([\w .]*?)["']?\s*(?:,\s*true\s*)?\)`)

// resolve substitutes the variables that the repository defines.
func (h *Host) resolve(name string, vars *Variables) {
	if vars == nil {
		return
	}
	all := h.Unresolved
	h.Unresolved = nil
	for _, u := range all {
		from := ""
		value := u.value
		for range 4 { // a variable may refer to another
			if !expressed().MatchString(value) {
				break
			}
			value = expressed().ReplaceAllStringFunc(value, func(e string) string {
				v, where, why := vars.find(name, expressed().FindStringSubmatch(e))
				if u.Why = cmp.Or(why, u.Why); why != "" {
					return e
				}
				from = where
				return v
			})
		}
		if value == u.value || variable().MatchString(value) || variable().MatchString(u.Name) {
			h.Unresolved = append(h.Unresolved, u)
			continue
		}
		h.set(u.Name, value, strings.TrimSpace(u.place+", "+from), u.At)
	}
}

// find returns the value of a variable for a file and where it is defined, or why it has none.
func (v *Variables) find(name string, e []string) (value, from, why string) {
	mine, _ := role(name)
	var found []definition
	for _, d := range v.all[e[1]] {
		if theirs, of := role(d.file); !of || theirs == mine {
			found = append(found, d)
		}
	}
	if len(found) == 0 {
		if m := otherwise().FindStringSubmatch(e[2]); m != nil {
			return m[1], "by default", ""
		}
		return "", "", "the repository does not define " + e[1]
	}
	for _, d := range found[1:] {
		if d.value != found[0].value {
			return "", "", fmt.Sprintf("%s is %s in %s and %s in %s", e[1], short(found[0].value), found[0].file, short(d.value), d.file)
		}
	}
	return found[0].value, fmt.Sprintf("%s (%s:%d)", e[1], found[0].file, found[0].line), ""
}
