package freebsd

import (
	"strconv"
	"strings"

	"linerate/internal/fact"
)

// Values is the output of `sysctl -a`: names in order, values by name.
type Values struct {
	Names []string
	Value map[string]string
}

// Get returns a value, "" if the name does not exist.
func (v Values) Get(name string) string { return v.Value[name] }

// Uint returns a value as a number, 0 if it is not one.
func (v Values) Uint(name string) uint64 {
	n, err := strconv.ParseUint(strings.TrimSpace(v.Value[name]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Int is Uint as an int, 0 outside its range.
func (v Values) Int(name string) int {
	if n := v.Uint(name); n < 1<<31 {
		return int(n)
	}
	return 0
}

// longValues lists multi-line values whose lines can look like settings.
var longValues = map[string]bool{"kern.msgbuf": true, "kern.geom.confxml": true, "kern.geom.confdot": true, "kern.geom.conftxt": true}

// ParseValues parses `sysctl -a` or `-ao`: "name: value", where a value may span lines. types holds
// the names from `sysctl -at`; without them a line starts a setting if it looks like one.
func ParseValues(text string, types map[string]string) Values {
	v := Values{Value: map[string]string{}}
	current := ""
	var value strings.Builder
	flush := func() {
		if current == "" {
			return
		}
		if _, seen := v.Value[current]; !seen {
			v.Names = append(v.Names, current)
		}
		v.Value[current] = strings.TrimRight(value.String(), "\n")
	}
	for _, line := range fact.Lines(text) {
		name, rest, ok := cutValue(line)
		_, known := types[name]
		if ok && !known && (len(types) > 0 && !strings.HasPrefix(name, "dev.") || longValues[current] && !strings.HasPrefix(name, "kern.")) {
			ok = false
		}
		if ok {
			flush()
			current = name
			value.Reset()
			value.WriteString(rest)
		} else if current != "" && value.Len() < maxValue {
			value.WriteString("\n" + line)
		}
	}
	flush()
	return v
}

// cutValue splits "a.b: value" or "a.b=value" (-e).
func cutValue(line string) (name, value string, ok bool) {
	i := strings.IndexAny(line, ":=")
	if i < 3 || line[0] < 'a' || line[0] > 'z' {
		return "", "", false
	}
	name = line[:i]
	if !strings.Contains(name, ".") || !sysctlName().MatchString(name) {
		return "", "", false
	}
	return name, strings.TrimPrefix(line[i+1:], " "), true
}

// ParseTypes parses `sysctl -at`: the type of every setting.
func ParseTypes(text string) map[string]string {
	types := map[string]string{}
	for _, line := range fact.Lines(text) {
		if name, kind, ok := strings.Cut(line, ": "); ok && sysctlName().MatchString(name) {
			types[name] = strings.TrimSpace(kind)
		}
	}
	return types
}

// ParseNames parses `sysctl -aNT` and similar: one name per line.
func ParseNames(text string) map[string]bool {
	names := map[string]bool{}
	for _, line := range fact.Lines(text) {
		if line = strings.TrimSpace(line); sysctlName().MatchString(line) {
			names[line] = true
		}
	}
	return names
}

// AddValues adds the running values to facts. boot and runtime hold the names from -aNT and -aNW,
// nil if not read.
func AddValues(f *fact.Facts, v Values, types map[string]string, boot, runtime map[string]bool) {
	for _, name := range v.Names {
		if longValues[name] {
			continue
		}
		value := v.Value[name]
		s := fact.Tunable{Name: name, Namespace: fact.Kernel, Live: &value}
		s.Access = access(name, boot, runtime)
		f.Settings = append(f.Settings, s)
	}
	for name, kind := range types {
		if _, printed := v.Value[name]; !printed && kind != "node" {
			f.Settings = append(f.Settings, fact.Tunable{Name: name, Namespace: fact.Kernel, Access: access(name, boot, runtime)})
		}
	}
}

func access(name string, boot, runtime map[string]bool) *fact.Access {
	if len(boot) == 0 || len(runtime) == 0 {
		return nil
	}
	return &fact.Access{Boot: boot[name], Runtime: runtime[name]}
}

// ParseKenv parses kenv(1): name="value" lines.
func ParseKenv(text string) map[string]string {
	env := map[string]string{}
	for _, line := range fact.Lines(text) {
		if name, value, ok := strings.Cut(line, "="); ok && sysctlName().MatchString(name) {
			value = strings.TrimPrefix(strings.TrimSuffix(value, `"`), `"`)
			env[name] = value
		}
	}
	return env
}
