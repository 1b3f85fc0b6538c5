package explain

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"linerate/internal/fact/release"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

//go:embed words.yaml
var tables []byte

var byTable = sync.OnceValue(func() (all map[string]map[string]string) {
	if err := yaml.Unmarshal(tables, &all); err != nil {
		panic(err) // the file is embedded; a test reads it
	}
	return all
})

// told returns the description of a record's word, from a table of words.yaml.
func told[K ~string](table string, word K) string { return byTable()[table][string(word)] }

// where describes where a tunable is set.
func where(r *tunable.Record, s tunable.State, rel release.Release) string {
	if !s.Exists {
		return "nowhere: " + gone(r, rel)
	}
	if w := told("place", s.Mechanism); w != "" && (r.OS != tunable.Linux || s.Mechanism != setting.Module) {
		return w
	}
	return told(r.OS, s.Settable)
}

// gone says why a release does not have the tunable.
func gone(r *tunable.Record, rel release.Release) string {
	to := ""
	if r.RenamedTo != "" {
		to = "; now " + r.RenamedTo
	}
	switch {
	case !r.Removed.IsZero() && (rel.IsZero() || !rel.Before(r.Removed)):
		return "removed in " + r.Removed.String() + to
	case !r.Since.IsZero() && rel.Before(r.Since):
		return "there since " + r.Since.String()
	default:
		return "not on this release" + to
	}
}

// history returns the changes of a tunable as runs of releases.
func history(r *tunable.Record) []Period {
	var all []Period
	var first, last string
	flush := func(is string) {
		if is == "" {
			return
		}
		rs := first
		if first != last {
			rs += " to " + last
		}
		all = append(all, Period{rs, is})
	}
	is := ""
	for _, text := range Releases[r.OS] {
		now := describe(r.At(release.MustParse(text)))
		if now != is {
			flush(is)
			first, is = text, now
		}
		last = text
	}
	flush(is)
	return all
}

// describe summarises a state in one line.
func describe(s tunable.State) string {
	if !s.Exists {
		return "not there"
	}
	d := "no default"
	switch {
	case s.Default != nil && *s.Default == "":
		d = "empty by default"
	case s.Default != nil:
		d = "default " + *s.Default
	case s.Formula != "":
		d = "default computed from the machine"
	}
	parts := []string{d, told("settable", s.Settable), string(s.Type)}
	switch s.Scope {
	case tunable.VNET:
		parts = append(parts, "per vnet")
	case tunable.NetNS:
		parts = append(parts, "per network namespace")
	}
	return strings.Join(parts, ", ")
}

func (p Page) defaultText() string {
	d := ""
	switch {
	case !p.Exists:
		return ""
	case p.DefaultIsFormula:
		d = "computed: " + p.Default
	case p.Settable == tunable.ReadOnly && p.Default == "", p.noDefault && p.Effective == "":
		return ""
	case p.noDefault:
		return p.Effective
	case p.Default == "":
		d = "empty"
	default:
		d = strings.TrimSpace(p.Default + " " + p.Unit)
	}
	if p.Effective != "" {
		d += fmt.Sprintf(" (%s)", p.Effective)
	}
	return d
}

// becomes names the successor of a tunable that still exists but will be removed.
func (p Page) becomes() string {
	if !p.Exists || p.RenamedTo == "" {
		return ""
	}
	if p.RemovedIn == "" {
		return p.RenamedTo
	}
	return p.RenamedTo + " in " + p.RemovedIn
}
