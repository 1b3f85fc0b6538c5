package audit_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/audit"
	"linerate/internal/fact/release"
	"linerate/internal/host/filehost"
	"linerate/internal/inspect"
	"linerate/internal/role"
)

// publicTable holds human verdicts on audits of public configurations: sources and verdicts, not the
// texts. A row is one error or warning of one file's audit, or the only row of a file without any.
const publicTable = "testdata/public_verdicts.tsv"

// publicTexts is the environment variable that names a directory with the texts, in any layout: they
// are identified by their hashes.
const publicTexts = "LINERATE_PUBLIC"

// The verdicts of the table's rows.
const (
	isTrue      = "true"      // the finding is right, and so is its severity
	isFalse     = "false"     // it is wrong, or its severity is
	isDebatable = "debatable" // experts may disagree; the row says why
	isMissed    = "missed"    // the audit misses a mistake in the file
	isNone      = "none"      // correctly no errors or warnings
	unjudged    = "?"         // new, not judged yet
)

var publicColumns = []string{"repo", "path", "commit", "sha256", "os", "release", "role", "place", "finding", "line", "severity", "verdict", "why"}

// publicRow is a row of the table.
type publicRow struct {
	publicFile
	// finding is the finding's id, a tunable that the audit missed, or "-".
	finding, line, severity string
	verdict, why            string
}

// publicFile is one audit of one file: its source, and the host that it is audited for.
type publicFile struct{ repo, path, commit, sha256, os, release, role, place string }

func (f publicFile) String() string { return f.repo + " " + f.path }

func (r publicRow) cells() []string {
	return []string{r.repo, r.path, r.commit, r.sha256, r.os, r.release, r.role, r.place, r.finding, r.line, r.severity, r.verdict, r.why}
}

// publicRows reads the table.
func publicRows(t *testing.T) []publicRow {
	t.Helper()
	text, err := os.ReadFile(publicTable)
	if err != nil {
		t.Fatal(err)
	}
	var rows []publicRow
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		c := strings.Split(line, "\t")
		if len(c) != len(publicColumns) {
			t.Fatalf("%s:%d: %d columns, want %d", publicTable, i+1, len(c), len(publicColumns))
		}
		if i == 0 {
			if !slices.Equal(c, publicColumns) {
				t.Fatalf("%s: columns %v, want %v", publicTable, c, publicColumns)
			}
			continue
		}
		rows = append(rows, publicRow{publicFile{c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]}, c[8], c[9], c[10], c[11], c[12]})
	}
	return rows
}

// byFile groups rows by file, in the table's order.
func byFile(rows []publicRow) (order []publicFile, of map[publicFile][]publicRow) {
	of = map[publicFile][]publicRow{}
	for _, r := range rows {
		if of[r.publicFile] == nil {
			order = append(order, r.publicFile)
		}
		of[r.publicFile] = append(of[r.publicFile], r)
	}
	return order, of
}

var publicForms = []*regexp.Regexp{
	regexp.MustCompile(`^[\w.-]+/[\w.-]+$`), regexp.MustCompile(`^[^/\s][^\t]*$`), regexp.MustCompile(`^[0-9a-f]{40}$`), regexp.MustCompile(`^[0-9a-f]{64}$`),
	regexp.MustCompile(`^(freebsd|linux)$`), regexp.MustCompile(`^\d+\.\d+(\.\d+)?$`), regexp.MustCompile(`^[a-z]+$`), regexp.MustCompile(`^/(etc|boot|conf|config|data)/`),
	regexp.MustCompile(`^\S+$`), regexp.MustCompile(`^(-|\d+)$`), regexp.MustCompile(`^(-|error|warning)$`), regexp.MustCompile(`^(true|false|debatable|missed|none)$`), regexp.MustCompile(`.`),
}

// TestPublicVerdicts checks the table's format and the audit's quality goal: no false error, and at
// most one false warning in ten files.
func TestPublicVerdicts(t *testing.T) {
	rows := publicRows(t)
	rules := ruleExists(t)
	for _, r := range rows {
		for i, cell := range r.cells() {
			if !publicForms[i].MatchString(cell) {
				t.Errorf("%s %s: %s is %q; want %s", r.publicFile, r.finding, publicColumns[i], cell, publicForms[i])
			}
		}
		if err := role.Check(r.role); err != nil {
			t.Errorf("%s: %v", r.publicFile, err)
		}
		found := r.verdict != isNone && r.verdict != isMissed
		if found != strings.HasPrefix(r.finding, "LR-") || found != (r.severity != "-") || (r.verdict == isNone) != (r.finding == "-") {
			t.Errorf("%s: a row of verdict %s names %s, severity %s", r.publicFile, r.verdict, r.finding, r.severity)
		}
		if id, _, _ := strings.Cut(r.finding, ":"); found && !rules(id) {
			t.Errorf("%s: there is no rule %s", r.publicFile, id)
		}
	}
	order, of := byFile(rows)
	n := map[string]int{}
	for _, f := range order {
		seen := map[string]bool{}
		for _, r := range of[f] {
			if key := r.finding + " " + r.line; seen[key] {
				t.Errorf("%s: %s is listed twice", f, key)
			} else {
				seen[key] = true
			}
			n[r.verdict+" "+r.severity]++
			if r.verdict == isNone && slices.ContainsFunc(of[f], func(r publicRow) bool { return r.severity != "-" }) {
				t.Errorf("%s: has findings, and a row that says there are none", f)
			}
		}
	}
	t.Logf("%d files: %v", len(order), n)
	if n["false error"] > 0 {
		t.Errorf("%d false errors in %d files; want none", n["false error"], len(order))
	}
	if n["false warning"]*10 > len(order) {
		t.Errorf("%d false warnings in %d files; want at most one in ten files", n["false warning"], len(order))
	}
}

// ruleExists returns a function that reports whether a rule is in the catalogue, or a check that the
// reference names.
func ruleExists(t *testing.T) func(id string) bool {
	t.Helper()
	page, err := os.ReadFile("../../docs/reference/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	_, set := known(t)
	return func(id string) bool {
		return strings.Contains(string(page), "`"+id+"`") || slices.ContainsFunc(set.Rules(), func(r *audit.Rule) bool { return r.ID == id })
	}
}

// TestPublicConfigurations audits the table's texts again, if they are available, and compares. With
// -update it writes the result into the table: new findings get the verdict "?", and the test fails
// until somebody judges them.
func TestPublicConfigurations(t *testing.T) {
	dir := os.Getenv(publicTexts)
	if dir == "" {
		return
	}
	texts := textsByHash(t, dir)
	order, of := byFile(publicRows(t))
	var all []publicRow
	for _, f := range order {
		text, ok := texts[f.sha256]
		if !ok {
			t.Errorf("%s: no text with the hash %s in %s", f, f.sha256, dir)
			all = append(all, of[f]...)
			continue
		}
		now := auditedPublic(t, f, text, of[f])
		all = append(all, now...)
		if *update {
			continue
		}
		for _, r := range of[f] {
			if !slices.Contains(now, r) {
				t.Errorf("%s: the table has %s, line %s (%s, %s, place %s), the audit does not", f, r.finding, r.line, r.severity, r.verdict, f.place)
			}
		}
		for _, r := range now {
			if !slices.Contains(of[f], r) {
				t.Errorf("%s: the audit has %s, line %s (%s, place %s), the table does not; judge it: go test ./internal/audit -run TestPublicConfigurations -update", f, r.finding, r.line, r.severity, r.place)
			}
		}
	}
	if *update {
		writePublic(t, all)
	}
}

// textsByHash reads every file below a directory, keyed by its hash.
func textsByHash(t *testing.T, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		sum := sha256.Sum256(b)
		texts[hex.EncodeToString(sum[:])] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// auditedPublic returns the rows of a file's current audit, with the earlier verdicts on findings
// that remain.
func auditedPublic(t *testing.T, f publicFile, text string, before []publicRow) []publicRow {
	t.Helper()
	place, ok := filehost.Recognise(f.path, text, f.os)
	if !ok {
		t.Errorf("%s is not recognised", f)
		return before
	}
	f.place = place.Path
	h := filehost.New(map[string][]byte{place.Path: []byte(text), "/etc/tuned/active_profile": []byte("this\n")}, f.os)
	facts, err := inspect.Host(context.Background(), h, inspect.Options{Release: release.MustParse(f.release), OS: f.os})
	if err != nil {
		t.Fatal(f, err)
	}
	report := run(t, facts, f.role)
	var rows []publicRow
	for _, x := range report.Findings {
		if x.Severity.AtLeast(audit.Warning) {
			row := publicRow{f, x.ID, fmt.Sprint(x.Line), string(x.Severity), unjudged, x.Message}
			if i := slices.IndexFunc(before, func(r publicRow) bool {
				return r.finding == row.finding && r.line == row.line && r.severity == row.severity
			}); i >= 0 {
				row.verdict, row.why = before[i].verdict, before[i].why
			}
			rows = append(rows, row)
		}
	}
	for _, r := range before {
		r.publicFile = f
		switch {
		case r.verdict == isNone && len(rows) == 0:
			rows = append(rows, r)
		case r.verdict == isMissed && !slices.ContainsFunc(report.Findings, func(x audit.Finding) bool { return x.Name == r.finding }):
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		rows = append(rows, publicRow{f, "-", "-", "-", unjudged, "no error, no warning"})
	}
	return rows
}

// writePublic writes the table, sorted by system and source.
func writePublic(t *testing.T, rows []publicRow) {
	t.Helper()
	slices.SortStableFunc(rows, func(a, b publicRow) int { return strings.Compare(a.os+a.repo+"/"+a.path, b.os+b.repo+"/"+b.path) })
	var b strings.Builder
	b.WriteString(strings.Join(publicColumns, "\t") + "\n")
	clean := strings.NewReplacer("\t", " ", "\n", " ")
	for _, r := range rows {
		cells := r.cells()
		for i := range cells {
			cells[i] = clean.Replace(cells[i])
		}
		b.WriteString(strings.Join(cells, "\t") + "\n")
	}
	if err := os.WriteFile(publicTable, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
