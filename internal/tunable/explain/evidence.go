package explain

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Evidence is a verdict of a study about this tunable, or about another of
// the same idea.
type Evidence struct {
	Tunable  string `json:"tunable"` // as the study set it
	Sibling  bool   `json:"sibling"` // another tunable of the same concept
	Before   string `json:"before"`  // "" for the system's default
	After    string `json:"after"`
	Alone    bool   `json:"alone"`   // nothing else was changed with it
	Machine  string `json:"machine"` // CPU, cores, NIC and driver
	OS       string `json:"os"`
	Release  string `json:"release"`
	Workload string `json:"workload"`
	Study    string `json:"study"`
	Source   string `json:"source"` // where the study was read
	Metric   string `json:"metric"`
	Effect   string `json:"effect"` // "+3.1 % [+2.4, +3.9]"

	EffectPercent *float64 `json:"effect_percent"`
	CILow         *float64 `json:"ci_low"`
	CIHigh        *float64 `json:"ci_high"`
	N             int      `json:"n"`
	PHolm         *float64 `json:"p_holm"`
	// Verdict is better, worse, equivalent, inconclusive or invalid.
	Verdict string `json:"verdict"`
	// Published is the verdict of the study's author, Agrees whether it is
	// the same; "" where there is none.
	Published string   `json:"published,omitempty"`
	Agrees    bool     `json:"published_agrees,omitempty"`
	Flags     []string `json:"flags,omitempty"`
	Excluded  string   `json:"excluded,omitempty"`
	Label     string   `json:"label,omitempty"` // what the number is not
}

// evidence prints what was measured, machine by machine, nulls and losses
// with the gains.
func (o *page) evidence(p Page) {
	o.heading("Measured")
	if len(p.Evidence) == 0 {
		o.line("  not yet: no verdict in the ledger")
		return
	}
	w := evidenceWidths(p.Evidence)
	machine, sibling := "", false
	for i := range p.Evidence {
		e := &p.Evidence[i]
		if e.Sibling && !sibling {
			o.line("\n  The same idea under other names:")
			sibling, machine = true, ""
		}
		if e.Machine != machine {
			o.line("  %s", o.bold(e.Machine))
			machine = e.Machine
		}
		o.line("    %s  %s  %s  %s  %s", pad(e.setting(), w[0]), pad(e.Effect, w[1]), pad(fmt.Sprintf("n %d", e.N), 4), pad(e.p(), 9), e.verdict())
		o.wrap("        ", "        ", e.context())
	}
	if p.Conflict {
		o.line("\n  The evidence conflicts: it depends on the machine, the release or what else was set.")
	}
	o.wrap("  ", "  ", "Intervals are 95 %, verdicts after Holm within each study; linerate ledger query shows all of it.")
}

func evidenceWidths(es []Evidence) (w [2]int) {
	for i := range es {
		w[0] = max(w[0], utf8.RuneCountInString(es[i].setting()))
		w[1] = max(w[1], utf8.RuneCountInString(es[i].Effect))
	}
	return w
}

func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
}

// setting is what was changed; a sibling says its name.
func (e *Evidence) setting() string {
	s := orDefault(e.Before) + " → " + orDefault(e.After)
	if e.Sibling {
		s = e.Tunable + ": " + s
	}
	if !e.Alone {
		s += " *"
	}
	return s
}

func orDefault(s string) string {
	if s == "" {
		return "default"
	}
	return s
}

func (e *Evidence) p() string {
	switch {
	case e.PHolm == nil:
		return "p –"
	case *e.PHolm < 0.0001:
		return "p <0.0001"
	}
	return fmt.Sprintf("p %.4f", *e.PHolm)
}

// verdict is the outcome, and its author's where that was another.
func (e *Evidence) verdict() string {
	s := e.Verdict
	if e.Excluded != "" {
		s = "excluded (" + e.Excluded + ")"
	}
	if e.Published != "" && !e.Agrees {
		s += "; its author says " + e.Published
	}
	return s
}

// context is where and how it was measured.
func (e *Evidence) context() string {
	parts := []string{strings.TrimSpace(e.OS + " " + e.Release), e.Workload, e.Study}
	if !e.Alone {
		parts = append(parts, "* other settings changed with it")
	}
	parts = append(parts, e.Flags...)
	kept := parts[:0]
	for _, s := range parts {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, "; ")
}
