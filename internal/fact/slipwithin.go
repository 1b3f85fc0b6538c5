package fact

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"linerate/internal/lazy"
	"linerate/internal/list"
)

// heads matches the lines that begin a section or a stanza.
var heads = lazy.Regexp(`^[ \t]*\[[^\]]+\]|^(?:iface|auto|allow-|global|defaults|frontend|backend|listen|peers|LoadModule[ \t]+mpm_).*|^[ \t]*</?\w.*`)

// within returns a text with each line behind what it stands in and " > ": a section, a stanza or,
// in YAML of block style, the keys above it. For JSON see members.
func within(file, text string) string {
	if path.Ext(file) == ".json" {
		return members(text)
	}
	type key struct {
		indent int
		name   string
	}
	var above []key
	yaml := path.Ext(file) == ".yaml"
	return strings.Join(list.Map(strings.Split(text, "\n"), func(line string) string {
		rest := strings.TrimLeft(line, " \t-")
		name, isHead := heads().FindString(line), heads().MatchString(line)
		if yaml {
			before, value, ok := strings.Cut(rest, ":")
			name, isHead = strings.Trim(before, `"'`), ok && strings.TrimSpace(value) == ""
		}
		for n := len(above); n > 0 && (yaml && rest != "" && above[n-1].indent >= len(line)-len(rest) || !yaml && isHead); n-- {
			above = above[:n-1]
		}
		names := strings.Join(list.Map(above, func(k key) string { return k.name }), " ")
		if isHead {
			above = append(above, key{len(line) - len(rest), strings.TrimSpace(name)})
		}
		return names + " > " + rest
	}), "\n")
}

// members returns for each value of JSON, on its line, " /OUTER/INNER KIND;": string, number N, true,
// false, null, { or [. It stops at a mistake.
func members(text string) string {
	lines := make([]string, 1+strings.Count(text, "\n"))
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value func(name string) bool
	value = func(name string) bool {
		t, err := d.Token()
		if err != nil {
			return false
		}
		kind := map[bool]string{true: "null", false: fmt.Sprint(t)}[t == nil]
		switch t.(type) {
		case string:
			kind = "string"
		case json.Number:
			kind = "number " + kind
		}
		lines[strings.Count(text[:d.InputOffset()], "\n")] += " " + name + " " + kind + ";"
		for (kind == "{" || kind == "[") && d.More() {
			inner := any("")
			if kind == "{" {
				inner, _ = d.Token()
			}
			if !value(fmt.Sprint(name, "/", inner)) {
				return false
			}
		}
		if kind == "{" || kind == "[" {
			_, err = d.Token()
		}
		return err == nil
	}
	value("")
	return strings.Join(lines, "\n")
}
