package linux

import (
	"regexp"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/yamlfile"
)

// yamlReference matches an anchor or an alias, with which few lines can expand to gigabytes.
var yamlReference = regexp.MustCompile(`(?m)(?:^|[\s\[{,:-])[&*][A-Za-z0-9_]`)

// plainYAML reports whether a text is safe for a YAML parser: of limited size, without references,
// and not deeply nested. Netplan's files need no more.
func plainYAML(text string) bool {
	if yamlfile.CheckShape("", yamlfile.Kind{}, []byte(text)) != nil || yamlReference.MatchString(text) {
		return false
	}
	depth := 0
	for _, line := range fact.Lines(text) {
		if len(line) > 1<<12 || strings.Count(line, "- ")+strings.Count(line, "? ") > 32 || len(line)-len(strings.TrimLeft(line, " ")) > 128 {
			return false
		}
		depth += strings.Count(line, "[") + strings.Count(line, "{")
		if depth > 32 {
			return false
		}
		depth = max(0, depth-strings.Count(line, "]")-strings.Count(line, "}"))
	}
	return true
}
