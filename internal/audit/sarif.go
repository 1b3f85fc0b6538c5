package audit

import (
	"cmp"
	"slices"
	"strings"

	"linerate/internal/show"
)

// sarifSchema is where the format is defined: OASIS SARIF 2.1.0.
const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// SARIF is a report as a SARIF 2.1.0 log, ready to marshal: one run, a rule
// per rule of the audit, a result per finding. Suppressed findings are
// results with an accepted suppression. Only what code scanning services
// read is filled: go-sarif, by which the tests read the log back, writes every
// default and empty list of the format, and would bring a schema validator
// and net/http into a package of values.
type SARIF struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Auto    *sarifAuto          `json:"automationDetails,omitempty"`
	Tool    sarifTool           `json:"tool"`
	Calls   []sarifInvocation   `json:"invocations"`
	Results []sarifResult       `json:"results"`
	Bases   map[string]sarifURI `json:"originalUriBaseIds"`
	Props   map[string]any      `json:"properties"`
}

// sarifAuto tells the run from others of one log: services refuse two of a name.
type sarifAuto struct {
	ID string `json:"id"`
}

// sarifInvocation is where a log says what its results do not cover.
type sarifInvocation struct {
	Done  bool                `json:"executionSuccessful"`
	Notes []sarifNotification `json:"toolExecutionNotifications"`
}

type sarifNotification struct {
	Level   string    `json:"level"`
	Message sarifText `json:"message"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID     string         `json:"id"`
	Short  sarifText      `json:"shortDescription"`
	Full   sarifText      `json:"fullDescription"`
	Help   sarifHelp      `json:"help"`
	URI    string         `json:"helpUri,omitempty"`
	Config sarifConfig    `json:"defaultConfiguration"`
	Props  map[string]any `json:"properties"`
}

type sarifHelp struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown"`
}

type sarifConfig struct {
	Level string `json:"level"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       string             `json:"ruleId"`
	RuleIndex    int                `json:"ruleIndex"`
	Level        string             `json:"level"`
	Message      sarifText          `json:"message"`
	Locations    []sarifLocation    `json:"locations,omitempty"`
	Fingerprints map[string]string  `json:"partialFingerprints"`
	Baseline     string             `json:"baselineState,omitempty"`
	Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	Props        map[string]any     `json:"properties"`
}

type sarifLocation struct {
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	Place  sarifURI     `json:"artifactLocation"`
	Region *sarifRegion `json:"region,omitempty"`
}

type sarifURI struct {
	URI    string `json:"uri"`
	BaseID string `json:"uriBaseId,omitempty"`
}

type sarifRegion struct {
	StartLine int        `json:"startLine"`
	Snippet   *sarifText `json:"snippet,omitempty"`
}

type sarifLogical struct {
	Name string `json:"fullyQualifiedName"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification"`
}

// SARIFHost is one host of a log.
type SARIFHost struct {
	Report *Report
	// Name is how it was named; "" takes the host's own name.
	Name string
	// Root is the directory below which its files are; "" is the host itself.
	Root string
	// Prefix is Root from the directory of sources that the log is about, such as a
	// repository: places are then relative to that. "" are places on a host.
	Prefix string
	// Sources is that directory, from the root.
	Sources string
}

// ToSARIF converts a report; toolVersion is linerate's.
func ToSARIF(r *Report, toolVersion string) SARIF {
	return ToSARIFs(toolVersion, SARIFHost{Report: r})
}

// ToSARIFs converts the reports of several hosts, a run for each.
func ToSARIFs(toolVersion string, hosts ...SARIFHost) SARIF {
	log := SARIF{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{}}
	for _, h := range hosts {
		log.Runs = append(log.Runs, h.run(toolVersion))
	}
	return log
}

// run is the run of one host.
func (h SARIFHost) run(toolVersion string) sarifRun {
	r := h.Report
	run := sarifRun{
		Results: []sarifResult{},
		Bases:   map[string]sarifURI{"HOST": baseURI(h.Root)},
		Calls:   []sarifInvocation{{Done: true, Notes: sarifNotes(r)}},
		Props:   map[string]any{"os": r.OS, "release": r.Release, "role": r.Role, "roleReasons": r.RoleReasons, "coverage": r.Coverage},
	}
	if len(r.Unlisted) > 0 {
		run.Props["unlisted"] = r.Unlisted
	}
	index := map[string]int{}
	run.Tool.Driver = sarifDriver{Name: "linerate", Version: toolVersion, Rules: sarifRules(r, index)}
	state := ""
	if r.Baseline != nil {
		state = "new"
		for _, f := range r.Baseline.Known {
			res := h.result(f, index)
			res.Baseline = "unchanged"
			run.Results = append(run.Results, res)
		}
	}
	for _, f := range r.Findings {
		res := h.result(f, index)
		res.Baseline = state
		run.Results = append(run.Results, res)
	}
	for _, s := range r.Suppressed {
		res := h.result(s.Finding, index)
		res.Suppressions = []sarifSuppression{{Kind: "external", Status: "accepted", Justification: s.Reason}}
		run.Results = append(run.Results, res)
	}
	name := cmp.Or(h.Name, r.Host)
	for i := range run.Results {
		if name != "" { // the same trouble on two hosts is two results
			run.Results[i].Fingerprints["hostFindingId/v1"] = name + "/" + run.Results[i].Fingerprints["findingId/v1"]
		}
	}
	if slices.ContainsFunc(run.Results, inSources) {
		run.Bases[sourcesBase] = baseURI(h.Sources)
	}
	if name != "" {
		run.Props["host"] = name
		run.Auto = &sarifAuto{ID: "linerate/" + pathURI(name) + "/"}
	}
	return run
}

// inSources reports a result at a place in the tree of sources.
func inSources(r sarifResult) bool {
	return slices.ContainsFunc(r.Locations, func(l sarifLocation) bool { return l.Physical != nil && l.Physical.Place.BaseID == sourcesBase })
}

// sourcesBase is the base of places in a tree of sources, as code scanning services
// know it.
const sourcesBase = "SRCROOT"

// baseURI is a directory on this machine as a base of places.
func baseURI(dir string) sarifURI {
	uri := "file:///" + pathURI(strings.Trim(dir, "/"))
	if !strings.HasSuffix(uri, "/") {
		uri += "/"
	}
	return sarifURI{URI: uri}
}

// place is where a file is: in the tree of sources, below the host's root, or as it was
// named.
func (h SARIFHost) place(file string) sarifURI {
	switch {
	case h.Prefix != "" && strings.HasPrefix(file, "/"):
		return sarifURI{URI: pathURI(strings.TrimPrefix(h.Prefix+file, "./")), BaseID: sourcesBase}
	case strings.HasPrefix(file, "/"):
		return sarifURI{URI: pathURI(file), BaseID: "HOST"}
	case h.Sources != "":
		return sarifURI{URI: pathURI(strings.TrimPrefix(file, "./")), BaseID: sourcesBase}
	}
	return sarifURI{URI: pathURI(file)}
}

// sarifNotes say what the results are silent of: names that could not be
// judged, findings beyond the bounds, sources that could not be read.
func sarifNotes(r *Report) []sarifNotification {
	notes := []sarifNotification{}
	note := func(level, text string) { notes = append(notes, sarifNotification{level, sarifText{text}}) }
	if text := r.Coverage.sentences(); text != "" {
		note("note", text)
	}
	if more := r.Count(Info) - len(r.Findings); more > 0 {
		note("warning", show.Plural(more, "finding")+" of the same kinds not listed")
	}
	for _, u := range r.Unread {
		note("warning", "not read: "+u.Source+": "+u.Reason)
	}
	return notes
}

// result is a finding as a log has it.
func (h SARIFHost) result(f Finding, index map[string]int) sarifResult {
	res := sarifResult{
		RuleID: f.Rule(), RuleIndex: index[f.Rule()], Level: sarifLevel(f.Severity),
		Message:      sarifText{strings.TrimSpace(sentence(f.Message) + " " + f.Fix)},
		Fingerprints: map[string]string{"findingId/v1": f.ID},
		Props:        map[string]any{"id": f.ID, "kind": f.Kind, "action": f.Action, "name": f.Name, "why": f.Why, "sources": f.Sources},
	}
	loc := sarifLocation{}
	if f.Name != "" {
		loc.Logical = []sarifLogical{{f.Name}}
	}
	if f.File != "" {
		loc.Physical = &sarifPhysical{Place: h.place(f.File)}
		if f.Line > 0 {
			loc.Physical.Region = &sarifRegion{StartLine: f.Line}
			if f.Text != "" {
				loc.Physical.Region.Snippet = &sarifText{f.Text}
			}
		}
	}
	if loc.Physical != nil || loc.Logical != nil {
		res.Locations = []sarifLocation{loc}
	}
	return res
}

// pathURI is a path on the host relative to its root, as a URI reference.
func pathURI(p string) string {
	var b strings.Builder
	for _, c := range []byte(strings.TrimPrefix(p, "/")) {
		if c == '/' || c == '-' || c == '.' || c == '_' || c == '~' ||
			'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' {
			b.WriteByte(c)
			continue
		}
		const hex = "0123456789ABCDEF"
		b.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return b.String()
}

func sarifLevel(s Severity) string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	}
	return "note"
}
