package hosts

import (
	"fmt"
	"io"
	"strings"

	"linerate/internal/audit"
	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/role"
	"linerate/internal/show"
)

// Inspected is the document of inspect --json: the facts, and what was made
// of them. docs/reference/facts.md describes it.
type Inspected struct {
	*fact.Facts
	role.Guess
	Drops []fact.Drop `json:"drops"`
}

// HostDocument is one host in the JSON of several.
type HostDocument struct {
	Source string `json:"source"`
	// Error and Hint say why there is no document; "" where there is one.
	Error  string        `json:"error,omitempty"`
	Hint   string        `json:"hint,omitempty"`
	Report *audit.Report `json:"report,omitempty"`
}

// Document is what audit prints of several hosts with --json.
type Document struct {
	Version int            `json:"version"`
	Hosts   []HostDocument `json:"hosts"`
}

// About is an error in words that follow the host's name.
func About(source string, err error) string {
	text := strings.TrimPrefix(err.Error(), source+": ")
	return show.Clean(strings.Replace(text, " on "+source+": ", ": ", 1))
}

// Failed is a host that could not be read; flag writes an option as the hint names it.
func Failed(source string, err error, flag func(name, value string) string) HostDocument {
	return HostDocument{Source: source, Error: About(source, err), Hint: show.Clean(hint.Render(err, flag))}
}

// Advise writes what to do about hosts that could not be read, hosts with the
// same trouble on one line.
func (doc Document) Advise(w io.Writer) {
	var order []string
	about := map[string][]string{}
	for _, h := range doc.Hosts {
		if h.Hint == "" {
			continue
		}
		general := strings.ReplaceAll(h.Hint, " "+strings.TrimPrefix(h.Source, "ssh://")+" ", " HOST ")
		if about[general] == nil {
			order = append(order, general)
		}
		about[general] = append(about[general], h.Source)
	}
	for _, text := range order {
		names := about[text]
		if len(names) == 1 {
			text = strings.ReplaceAll(text, " HOST ", " "+strings.TrimPrefix(names[0], "ssh://")+" ")
		}
		fmt.Fprintf(w, "hint: %s: %s\n", strings.Join(names, ", "), text)
	}
}
