package inventory

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"linerate/internal/hint"
	"linerate/internal/yamlfile"
)

// Ansible reads an inventory of Ansible's: INI, or YAML where it looks so.
func Ansible(file, text string) ([]Target, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("inventory %s: larger than %d bytes", file, MaxBytes)
	}
	g := &groups{file: file, by: map[string]*group{}, known: map[string]bool{}}
	var err error
	switch {
	case strings.HasPrefix(text, "#!"):
		err = hint.With(hint.Usagef("inventory %s is a program, and linerate runs none", file), "ansible-inventory(1) writes what it says as a file of YAML")
	case isYAML(file, text):
		err = g.yaml(text)
	default:
		err = g.ini(text)
	}
	if err != nil {
		return nil, err
	}
	return g.targets()
}

// isYAML tells the two formats apart, by the name or by the first line that says
// something.
func isYAML(file, text string) bool {
	if strings.HasSuffix(file, ".yml") || strings.HasSuffix(file, ".yaml") || strings.HasSuffix(file, ".json") {
		return true
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		return line == "---" || line[0] == '{' || strings.HasSuffix(line, ":") && !strings.ContainsAny(line, " =[")
	}
	return false
}

// ini reads sections of hosts, of variables and of groups.
func (g *groups) ini(text string) error {
	section, kind, n := ungrouped, "hosts", 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		at := fmt.Sprintf("%s:%d", g.file, n)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if len(line) > 64*maxWord {
			return hint.Usagef("%s: the line is too long", at)
		}
		if line[0] == '[' {
			name, ok := strings.CutSuffix(strings.TrimSpace(strings.TrimPrefix(withoutComment(line), "[")), "]")
			if !ok || name == "" || len(name) > maxWord {
				return hint.Usagef("%s: %.60q is no name of a section", at, line)
			}
			section, kind, ok = strings.Cut(name, ":")
			if !ok {
				kind = "hosts"
			}
			g.group(section)
			continue
		}
		if err := g.iniLine(at, section, kind, line); err != nil {
			return err
		}
	}
	return nil
}

func (g *groups) iniLine(at, section, kind, line string) error {
	switch kind {
	case "vars":
		key, value, _ := strings.Cut(withoutComment(line), "=")
		if key = strings.TrimSpace(key); ours(key) {
			return g.set(at, g.group(section).vars, key, unquote(strings.TrimSpace(value)))
		}
		return nil
	case "children":
		name := strings.Fields(withoutComment(line))[0]
		g.group(name)
		g.group(section).children = append(g.group(section).children, name)
		return nil
	case "hosts":
	default:
		return hint.Usage(fmt.Errorf("%s: %w", at, hint.Unknown("section of an inventory", section+":"+kind, []string{section + ":vars", section + ":children"})))
	}
	words, err := split(line)
	if err != nil {
		return hint.Usagef("%s: %v", at, err)
	}
	if len(words) == 0 {
		return nil
	}
	vars := map[string]string{}
	for _, w := range words[1:] {
		key, value, ok := strings.Cut(w, "=")
		if !ok {
			return hint.Usagef("%s: %.40q is not key=value", at, w)
		}
		if ours(key) {
			if err := g.set(at, vars, key, value); err != nil {
				return err
			}
		}
	}
	names, err := expand(words[0])
	if err != nil {
		return hint.Usagef("%s: %v", at, err)
	}
	for _, name := range names {
		host, port, _ := splitPort(name)
		own := vars
		if port != "" {
			own = map[string]string{"ansible_port": port}
			for k, v := range vars {
				own[k] = v
			}
		}
		if err := g.host(section, host, own); err != nil {
			return err
		}
	}
	return nil
}

func (g *groups) set(at string, vars map[string]string, key, value string) error {
	if len(value) > maxWord || len(vars) >= maxVars {
		return hint.Usagef("%s: %.40s is too long, or one variable too many", at, key)
	}
	vars[key] = value
	return nil
}

// withoutComment cuts what follows a # behind a blank.
func withoutComment(line string) string {
	if i := strings.Index(line, " #"); i >= 0 {
		return strings.TrimSpace(line[:i])
	}
	return line
}

func unquote(s string) string {
	if len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// split splits a line into words as a shell would: quotes keep blanks, # ends it.
func split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, inside := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, inside = r, true
		case r == ' ' || r == '\t':
			if inside {
				words = append(words, word.String())
			}
			word.Reset()
			inside = false
		case r == '#' && !inside:
			return words, nil
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %q is not closed", quote)
	}
	if inside {
		words = append(words, word.String())
	}
	return words, nil
}

// expand makes of web[01:50] or db-[a:f] each host that it means; steps are allowed:
// [0:100:10].
func expand(pattern string) ([]string, error) {
	open := strings.IndexByte(pattern, '[')
	if open < 0 || strings.HasPrefix(pattern, "[") && strings.Count(pattern, ":") > 2 {
		return []string{pattern}, checkName(pattern)
	}
	end := strings.IndexByte(pattern[open:], ']')
	if end < 0 {
		return nil, fmt.Errorf("%.60q: a [ is not closed", pattern)
	}
	head, tail := pattern[:open], pattern[open+end+1:]
	values, err := rangeOf(pattern[open+1 : open+end])
	if err != nil {
		return nil, err
	}
	rest, err := expand(tail)
	if err != nil && tail != "" {
		return nil, err
	}
	if tail == "" {
		rest = []string{""}
	}
	if len(values)*len(rest) > MaxHosts {
		return nil, fmt.Errorf("%.60q means more than %d hosts", pattern, MaxHosts)
	}
	out := make([]string, 0, len(values)*len(rest))
	for _, v := range values {
		for _, r := range rest {
			out = append(out, head+v+r)
		}
	}
	return out, nil
}

func checkName(s string) error {
	if s == "" || len(s) > maxWord {
		return fmt.Errorf("%.60q is no name of a host", s)
	}
	return nil
}

func rangeOf(text string) ([]string, error) {
	bounds := strings.Split(text, ":")
	bad := fmt.Errorf("[%.40s] is no range: want [01:50] or [a:f]", text)
	if len(bounds) != 2 && len(bounds) != 3 {
		return nil, bad
	}
	step := 1
	if len(bounds) == 3 {
		n, err := strconv.Atoi(bounds[2])
		if err != nil || n < 1 || n > MaxHosts {
			return nil, bad
		}
		step = n
	}
	from, to := bounds[0], bounds[1]
	var out []string
	if first, last := strings.Index(letters, from), strings.Index(letters, to); len(from) == 1 && len(to) == 1 && first >= 0 && last >= 0 {
		for ; first <= last; first += step {
			out = append(out, letters[first:first+1])
		}
	} else {
		a, err1 := strconv.ParseUint(from, 10, 31)
		b, err2 := strconv.ParseUint(to, 10, 31)
		if err1 != nil || err2 != nil || b < a || (b-a)/uint64(step) >= MaxHosts {
			return nil, bad
		}
		width := 0
		if len(from) > 1 && from[0] == '0' {
			width = len(from)
		}
		if width > 10 {
			return nil, bad
		}
		for ; a <= b; a += uint64(step) {
			out = append(out, fmt.Sprintf("%0*d", width, a))
		}
	}
	if len(out) == 0 {
		return nil, bad
	}
	return out, nil
}

// letters in the order of Ansible's ranges (Python's string.ascii_letters).
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// yaml reads a tree of groups with hosts, vars and children.
func (g *groups) yaml(text string) error {
	if err := yamlfile.CheckShape(g.file, yamlfile.Kind{Noun: "an inventory", Content: "groups with their hosts", Most: MaxBytes}, []byte(text)); err != nil {
		return err
	}
	var root map[string]any
	if err := g.decode(text, &root); err != nil {
		return hint.With(hint.Usagef("inventory %s: %v", g.file, firstLine(err)), "ansible-inventory(1) writes one in YAML that can be read")
	}
	for _, name := range slices.Sorted(maps.Keys(root)) {
		if name == "_meta" {
			continue
		}
		if err := g.yamlGroup(name, root[name], 0); err != nil {
			return err
		}
	}
	return nil
}

// decode fills root, unless the text has anchors: by them a short text means a long one.
func (g *groups) decode(text string, root *map[string]any) error {
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return err
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return errors.New("want one document")
	}
	if found := ast.Filter(ast.AliasType, file.Docs[0].Body); len(found) > 0 {
		return fmt.Errorf("line %d has an alias, and aliases are not followed", found[0].GetToken().Position.Line)
	}
	return yaml.NodeToValue(file.Docs[0].Body, root)
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func (g *groups) yamlGroup(name string, v any, depth int) error {
	if depth > maxDepth || len(name) > maxWord {
		return hint.Usagef("%s: groups are more than %d deep", g.file, maxDepth)
	}
	in := g.group(name)
	m, ok := v.(map[string]any)
	if !ok && v != nil {
		return hint.Usagef("%s: group %.80q is no mapping with hosts, vars and children", g.file, name)
	}
	if err := g.yamlVars(in.vars, m["vars"]); err != nil {
		return err
	}
	hosts, ok := m["hosts"].(map[string]any)
	if !ok && m["hosts"] != nil {
		return hint.Usagef("%s: hosts of group %.80q are no mapping", g.file, name)
	}
	for _, pattern := range slices.Sorted(maps.Keys(hosts)) {
		vars := map[string]string{}
		if err := g.yamlVars(vars, hosts[pattern]); err != nil {
			return err
		}
		names, err := expand(pattern)
		if err != nil {
			return hint.Usagef("%s: %v", g.file, err)
		}
		for _, h := range names {
			if err := g.host(name, h, vars); err != nil {
				return err
			}
		}
	}
	children, ok := m["children"].(map[string]any)
	if !ok && m["children"] != nil {
		return hint.Usagef("%s: children of group %.80q are no mapping", g.file, name)
	}
	for _, child := range slices.Sorted(maps.Keys(children)) {
		in.children = append(in.children, child)
		if err := g.yamlGroup(child, children[child], depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (g *groups) yamlVars(into map[string]string, v any) error {
	vars, ok := v.(map[string]any)
	if !ok && v != nil {
		return hint.Usagef("%s: variables are no mapping", g.file)
	}
	for key, value := range vars {
		if !ours(key) {
			continue
		}
		switch value.(type) {
		case map[string]any, []any:
			return hint.Usagef("%s: %s is no plain value", g.file, key)
		}
		if err := g.set(g.file, into, key, fmt.Sprint(value)); err != nil {
			return err
		}
	}
	return nil
}
