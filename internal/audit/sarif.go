package audit

import (
	"cmp"
	"strings"

	"linerate/internal/show"
)

// sarifSchema is the schema of the format, OASIS SARIF 2.1.0.
const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// SARIF is a report as a SARIF 2.1.0 log, ready to marshal: one run, with a rule per rule of the
// audit and a result per finding. Suppressed findings are results with an accepted suppression. It
// has only the properties that code scanning services read: go-sarif, which the tests use to parse
// the log, writes every default and empty list, and would add a schema validator and net/http to a
// package of pure values.
type SARIF = members

// members are the properties of an object of the format.
type members = map[string]any

func sarifText(text string) members { return members{"text": text} }

// SARIFHost is one host in a log.
type SARIFHost struct {
	Report *Report
	// Name is the name given for the host; "" means the host's own name.
	Name string
	// Root is the directory that contains its files; "" is the host itself.
	Root string
	// Prefix is the path of Root relative to the source directory of the log, such as a repository:
	// places are then relative to that directory. "" means places on a host.
	Prefix string
	// Sources is that directory, as an absolute path.
	Sources string
}

// ToSARIF converts the report of a host.
func ToSARIF(toolVersion string, h SARIFHost) SARIF {
	return SARIF{"$schema": sarifSchema, "version": "2.1.0", "runs": []members{h.run(toolVersion)}}
}

// run returns the run of one host.
func (h SARIFHost) run(toolVersion string) members {
	r, index := h.Report, map[string]int{}
	driver := members{"name": "linerate", "rules": sarifRules(r, index)}
	if toolVersion != "" {
		driver["version"] = toolVersion
	}
	bases := members{"HOST": members{"uri": baseURI(h.Root)}}
	results := []members{}
	add := func(f Finding, more string, with any) {
		if h.inSources(f.File) {
			bases[sourcesBase] = members{"uri": baseURI(h.Sources)}
		}
		res := h.result(f, index)
		if more != "" {
			res[more] = with
		}
		results = append(results, res)
	}
	for _, f := range r.Findings {
		add(f, "", nil)
	}
	for _, s := range r.Suppressed {
		add(s.Finding, "suppressions", []members{{"kind": "external", "status": "accepted", "justification": s.Reason}})
	}
	props := members{"os": r.OS, "release": r.Release, "role": r.Role, "roleReasons": r.RoleReasons, "coverage": r.Coverage}
	if len(r.Unlisted) > 0 {
		props["unlisted"] = r.Unlisted
	}
	run := members{"tool": members{"driver": driver}, "results": results, "originalUriBaseIds": bases, "properties": props,
		"invocations": []members{{"executionSuccessful": true, "toolExecutionNotifications": sarifNotes(r)}}}
	if name := h.name(); name != "" { // distinguishes the runs of one log: services reject duplicates
		props["host"], run["automationDetails"] = name, members{"id": "linerate/" + pathURI(name) + "/"}
	}
	return run
}

func (h SARIFHost) name() string { return cmp.Or(h.Name, h.Report.Host) }

// sourcesBase is the URI base of places in a source tree; code scanning services know it.
const sourcesBase = "SRCROOT"

// baseURI returns a directory of this machine as a URI base.
func baseURI(dir string) string {
	uri := "file:///" + pathURI(strings.Trim(dir, "/"))
	if !strings.HasSuffix(uri, "/") {
		uri += "/"
	}
	return uri
}

// inSources reports whether a file is in the source tree.
func (h SARIFHost) inSources(file string) bool {
	return file != "" && (h.Prefix != "" && strings.HasPrefix(file, "/") || h.Sources != "" && !strings.HasPrefix(file, "/"))
}

// place returns the location of a file: in the source tree, below the host's root, or as named.
func (h SARIFHost) place(file string) members {
	switch {
	case h.inSources(file) && strings.HasPrefix(file, "/"):
		return members{"uri": pathURI(strings.TrimPrefix(h.Prefix+file, "./")), "uriBaseId": sourcesBase}
	case h.inSources(file):
		return members{"uri": pathURI(strings.TrimPrefix(file, "./")), "uriBaseId": sourcesBase}
	case strings.HasPrefix(file, "/"):
		return members{"uri": pathURI(file), "uriBaseId": "HOST"}
	}
	return members{"uri": pathURI(file)}
}

// sarifNotes returns what the results do not cover: names that could not be judged, findings beyond
// the limits, sources that could not be read.
func sarifNotes(r *Report) []members {
	notes := []members{}
	note := func(level, text string) { notes = append(notes, members{"level": level, "message": sarifText(text)}) }
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

// result converts a finding.
func (h SARIFHost) result(f Finding, index map[string]int) members {
	prints := members{"findingId/v1": f.ID}
	if name := h.name(); name != "" { // the same finding on two hosts gives two results
		prints["hostFindingId/v1"] = name + "/" + f.ID
	}
	res := members{
		"ruleId": f.Rule(), "ruleIndex": index[f.Rule()], "level": sarifLevel(f.Severity),
		"message":             sarifText(strings.TrimSpace(sentence(f.Message) + " " + f.Fix)),
		"partialFingerprints": prints,
		"properties":          members{"id": f.ID, "kind": f.Kind, "action": f.Action, "name": f.Name, "why": f.Why, "sources": f.Sources},
	}
	loc := members{}
	if f.Name != "" {
		loc["logicalLocations"] = []members{{"fullyQualifiedName": f.Name}}
	}
	if f.File != "" {
		physical := members{"artifactLocation": h.place(f.File)}
		if f.Line > 0 {
			region := members{"startLine": f.Line}
			if f.Text != "" {
				region["snippet"] = sarifText(f.Text)
			}
			physical["region"] = region
		}
		loc["physicalLocation"] = physical
	}
	if len(loc) > 0 {
		res["locations"] = []members{loc}
	}
	return res
}

// pathURI returns a path relative to the host's root as a URI reference.
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
	return cmp.Or(map[Severity]string{Error: "error", Warning: "warning"}[s], "note")
}
