package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"linerate/internal/hint"
)

// maxBaseline bounds a baseline's findings.
const maxBaseline = 200_000

// Baseline is what an audit found at some time: against it only what is new counts.
type Baseline struct {
	Version  int     `json:"version"`
	Findings []Known `json:"findings"`
	// Unlisted are findings that were beyond a report's bounds.
	Unlisted []KnownMore `json:"unlisted,omitempty"`
}

// Known is a finding of a baseline: the same trouble at the same name in the same file,
// and no worse, is not new. Lines move, so they do not tell.
type Known struct {
	// Host is the host among several, or over SSH, as it was named; "" is this machine,
	// a directory, or single files.
	Host     string   `json:"host,omitempty"`
	File     string   `json:"file,omitempty"`
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
}

// KnownMore is how many findings of a severity were beyond a report's bounds.
type KnownMore struct {
	Host     string   `json:"host,omitempty"`
	Severity Severity `json:"severity"`
	Count    int      `json:"count"`
}

// Against is what a report has of a baseline.
type Against struct {
	// Known are the findings that the baseline has, Gone what it has and the audit
	// no longer found.
	Known []Finding `json:"known"`
	Gone  []Known   `json:"gone"`
}

// ParseBaseline reads a baseline that Text wrote.
func ParseBaseline(text []byte) (Baseline, error) {
	b := Baseline{}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(&b)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			err = fmt.Errorf("something follows it")
		}
	}
	switch {
	case err != nil:
		return Baseline{}, hint.With(hint.Usagef("not a baseline: %v", err), "%s writes one", hint.Option("write-baseline", ""))
	case b.Version != 1:
		return Baseline{}, hint.Usagef("the baseline is of version %d; this linerate reads version 1", b.Version)
	case len(b.Findings)+len(b.Unlisted) > maxBaseline:
		return Baseline{}, hint.Usagef("the baseline has more than %d findings", maxBaseline)
	}
	for _, k := range b.Findings {
		if k.ID == "" || !slices.Contains(severities, k.Severity) {
			return Baseline{}, hint.Usagef("the baseline has a finding without an id, or of an unknown severity: %.60q", k.ID)
		}
	}
	return b, nil
}

// Text is the baseline as a file has it: the same findings are the same bytes.
func (b Baseline) Text() ([]byte, error) {
	b.Version = 1
	if b.Findings == nil {
		b.Findings = []Known{}
	}
	slices.SortFunc(b.Findings, func(x, y Known) int {
		return cmp.Or(cmp.Compare(x.Host, y.Host), cmp.Compare(x.File, y.File), cmp.Compare(x.ID, y.ID))
	})
	text, err := json.MarshalIndent(b, "", " ")
	return append(text, '\n'), err
}

// Add takes everything that a report found of a host into the baseline, what an
// earlier one knew too.
func (b *Baseline) Add(host string, r *Report) {
	all := r.Findings
	if r.Baseline != nil {
		all = append(slices.Clone(all), r.Baseline.Known...)
	}
	for _, f := range all {
		b.Findings = append(b.Findings, Known{host, f.File, f.ID, f.Severity})
	}
	for _, s := range severities {
		if n := r.Unlisted[s]; n > 0 {
			b.Unlisted = append(b.Unlisted, KnownMore{host, s, n})
		}
	}
}

// Hold takes what the baseline knows of a host out of the report's findings.
func (b Baseline) Hold(host string, r *Report) {
	type key struct{ file, id string }
	known := map[key]Known{}
	for _, k := range b.Findings {
		if k.Host == host {
			known[key{k.File, k.ID}] = k
		}
	}
	against := &Against{Known: []Finding{}, Gone: []Known{}}
	fresh := []Finding{}
	for _, f := range r.Findings {
		at := key{f.File, f.ID}
		k, ok := known[at]
		delete(known, at)
		if ok && k.Severity.AtLeast(f.Severity) {
			against.Known = append(against.Known, f)
		} else {
			fresh = append(fresh, f)
		}
	}
	for _, s := range r.Suppressed {
		delete(known, key{s.File, s.ID})
	}
	for _, k := range b.Findings {
		if _, left := known[key{k.File, k.ID}]; left && k.Host == host {
			against.Gone = append(against.Gone, k)
		}
	}
	for _, more := range b.Unlisted {
		if more.Host != host || r.Unlisted[more.Severity] == 0 {
			continue
		}
		if r.Unlisted[more.Severity] -= more.Count; r.Unlisted[more.Severity] <= 0 {
			delete(r.Unlisted, more.Severity)
		}
	}
	r.Findings, r.Baseline = fresh, against
}
