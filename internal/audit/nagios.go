package audit

import (
	"fmt"
	"strings"

	"linerate/internal/show"
)

// The states of a check, as Nagios, Icinga, Naemon and others take them from its
// exit code.
const (
	NagiosOK = iota
	NagiosWarning
	NagiosCritical
	NagiosUnknown
)

// maxNagios bounds the line: some of them cut it at 1024 bytes.
const maxNagios = 900

// Nagios is the report as the one line of a check, with performance data, and its exit
// code: errors are critical, warnings a warning; where configuration could not be read
// nothing worse than that is unknown.
func (r *Report) Nagios() (line string, code int) {
	errs := r.Count(Error)
	warnings := r.Count(Warning) - errs
	infos := r.Count(Info) - errs - warnings
	word := "OK"
	switch {
	case errs > 0:
		word, code = "CRITICAL", NagiosCritical
	case r.Blind():
		word, code = "UNKNOWN", NagiosUnknown
	case warnings > 0:
		word, code = "WARNING", NagiosWarning
	}
	text := show.Plural(errs, "error") + ", " + show.Plural(warnings, "warning") + ", " + show.Count(infos) + " info"
	if r.Baseline != nil {
		text += " beside " + show.Count(len(r.Baseline.Known)) + " known"
	}
	if n := r.unreadConfig(); n > 0 {
		text += ", " + show.Plural(n, "file") + " of configuration not read"
	}
	for _, f := range r.Findings {
		if f.Severity == Info || len(text) > maxNagios/2 {
			break
		}
		text += "; " + f.Rule() + " " + f.Name
		if f.File != "" {
			text += fmt.Sprintf(" (%s:%d)", f.File, f.Line)
		}
	}
	return NagiosLine(word, r.Host, text) + fmt.Sprintf(" | errors=%d;;0;0 warnings=%d;0;;0 infos=%d;;;0 lines=%d;;;0", errs, warnings, infos, r.Lines), code
}

func (r *Report) unreadConfig() (n int) {
	for _, u := range r.Unread {
		if u.Config {
			n++
		}
	}
	return n
}

// NagiosLine is the text of a check in a state, without what would begin its
// performance data or another line.
func NagiosLine(state, host, text string) string {
	if host != "" {
		text = host + ": " + text
	}
	text = strings.Map(func(c rune) rune {
		if c == '|' || c == '\n' || c == '\r' {
			return ' '
		}
		return c
	}, show.Clean(text))
	if len(text) > maxNagios {
		text = strings.ToValidUTF8(text[:maxNagios], "") + "…"
	}
	return "LINERATE " + state + " - " + text
}
