// Package outputs makes ledger entries from the output of benchmark tools: numbers of
// other people's runs, of which linerate has only the files. They are labelled as
// such, keep their source, and never count as measured by linerate.
package outputs

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"linerate/internal/compare"
	"linerate/internal/evidence"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// Kind is the kind of studies and ledger entries from tools' output.
const Kind = "measurement"

// Tool names this importer in records.
const Tool = "linerate import 1"

// maxKept is the size up to which a file is kept in the ledger.
const maxKept = 16 << 20

// Measurement is the input of an import: files, and what the user adds.
type Measurement struct {
	// Control are the files of the unmodified runs, Variant those of the runs
	// with Tunable set to After. Without Variant, nothing is compared.
	Control, Variant []compare.File
	Tunable          string
	Before, After    string
	// Column selects the numbers in files with several (compare.Input).
	Column string
	// What is known of the runs; "" is unknown. OS and Release in a tool's output take precedence.
	By, Host, OS, Release, CPU, Workload, Question string
	Now                                            time.Time
}

// Taken is the result of an import.
type Taken struct {
	Batch  *ledger.Batch
	Metric string
	Sides  []compare.Side
	// Verdict is nil if nothing was compared.
	Verdict *ledger.Verdict
}

// Take makes a ledger entry of a measurement. The same files give the same entry.
func Take(m Measurement) (Taken, error) {
	t := Taken{}
	for _, files := range [][]compare.File{m.Control, m.Variant} {
		if len(files) == 0 {
			continue
		}
		side, err := compare.ReadSide(files, compare.Input{Column: m.Column})
		if err != nil {
			return t, err
		}
		if side.Of == nil {
			return t, hint.With(hint.Usagef("%s is not the output of a known tool, so the meaning of its numbers is unknown", files[0].Name),
				"linerate help comparisons lists the tools; linerate compare reads plain numbers, too")
		}
		t.Sides = append(t.Sides, side)
	}
	if _, _, err := compare.Agree(t.Sides); err != nil {
		return t, err
	}
	of := t.Sides[0].Of
	t.Metric = of.Metric + " (" + of.Tool + ")"
	b := &builder{m: m, t: &t, of: of}
	b.build()
	return t, nil
}

// builder builds the rows of the entry.
type builder struct {
	m       Measurement
	t       *Taken
	of      *compare.Output
	id, env ledger.ID
	batch   *ledger.Batch
	trials  [2][]ledger.ID
}

func (b *builder) build() {
	sums := map[string]string{} // by file name
	parts := []string{Kind, b.m.Tunable, b.m.Before, b.m.After, b.m.Column}
	for side, files := range [][]compare.File{b.m.Control, b.m.Variant} {
		for _, f := range files {
			sum := sha256.Sum256(f.Data)
			sums[f.Name] = hex.EncodeToString(sum[:])
			parts = append(parts, fmt.Sprint(side), sums[f.Name])
		}
	}
	b.id = ledger.IDOf(parts...)
	b.batch = &ledger.Batch{Kind: Kind, Ref: string(b.id), Time: b.m.Now}
	b.t.Batch = b.batch
	b.environment()
	for side, files := range [][]compare.File{b.m.Control, b.m.Variant} {
		for _, f := range files {
			b.file(side, f, sums[f.Name])
		}
	}
	b.study()
	if len(b.t.Sides) == 2 {
		b.verdict()
	}
}

// system returns the system's name, release and host from the output of uname -a.
func system(uname string) (os, release, host string) {
	f := strings.Fields(uname)
	if len(f) < 3 {
		return "", "", ""
	}
	return strings.ToLower(f[0]), f[2], f[1]
}

func (b *builder) environment() {
	os, release, host := system(b.of.Origin.System)
	e := ledger.Environment{OS: cmp.Or(os, b.m.OS), Release: cmp.Or(release, b.m.Release), Hardware: cmp.Or(b.m.Host, host), CPU: b.m.CPU,
		Uname: b.of.Origin.System, Label: evidence.ByOthers}
	e.ID = b.id.Part("environment", e.OS, e.Release, e.Hardware, e.CPU)
	b.env = e.ID
	b.batch.Environments = append(b.batch.Environments, e)
}

func (b *builder) arm(side int) string {
	switch {
	case b.m.Tunable == "":
		return b.t.Sides[side].Name
	case side == 0:
		return b.m.Tunable + "=" + cmp.Or(b.m.Before, "default")
	}
	return b.m.Tunable + "=" + b.m.After
}

// file adds the trials of a file, one per value, its source and its content.
func (b *builder) file(side int, f compare.File, sum string) {
	b.batch.Sources = append(b.batch.Sources, ledger.Source{ID: b.id.Part("source", f.Name, sum), Study: b.id, Path: f.Name, SHA256: sum,
		Size: int64(len(f.Data)), Role: "output of " + b.of.Tool})
	if len(f.Data) <= maxKept && !slices.ContainsFunc(b.batch.Blobs, func(o ledger.Blob) bool { return o.SHA256 == sum }) {
		b.batch.Blobs = append(b.batch.Blobs, ledger.Pack(sum, f.Data))
	}
	one, _, err := compare.ReadTool(f.Name, f.Data, b.m.Column)
	if err != nil {
		return // already parsed by ReadSide
	}
	for i, v := range one.Values {
		t := ledger.Trial{ID: b.id.Part("trial", fmt.Sprint(side), f.Name, sum, fmt.Sprint(i)), Study: b.id, Environment: b.env, Variant: b.arm(side),
			Workload: b.workload(), Block: len(b.trials[side]) + 1, Valid: true, Flags: one.Warnings, Metrics: map[string]float64{b.t.Metric: v},
			Sources: []ledger.Ref{{SHA256: sum, Path: f.Name, Role: "output of " + b.of.Tool}}}
		if at := one.Origin.Started; !at.IsZero() {
			t.Start = &at
		}
		b.trials[side] = append(b.trials[side], t.ID)
		b.batch.Trials = append(b.batch.Trials, t)
	}
}

func (b *builder) workload() string { return cmp.Or(b.m.Workload, "not known") }

func (b *builder) study() {
	first := b.m.Control[0].Name
	s := ledger.Study{ID: b.id, Kind: Kind, Name: "measured by " + cmp.Or(b.m.By, "others") + " (" + b.of.Tool + "): " + filepath.Base(first), Place: "by " + cmp.Or(b.m.By, "others") + ": " + filepath.Base(first) + " " + b.id.Short(), Path: first,
		Question: cmp.Or(b.m.Question, b.question()), Design: "independent", Metric: b.t.Metric, Control: b.arm(0),
		Label: evidence.ByOthers + ": " + cmp.Or(b.m.By, "author unknown") + "; of the run there is what " + cmp.Or(b.of.Origin.Version, b.of.Tool) + " printed", Tool: Tool}
	for _, side := range b.t.Sides {
		s.Notes = append(s.Notes, side.Of.Warnings...)
	}
	if at := b.of.Origin.Started; !at.IsZero() {
		s.Started = &at
	}
	for _, fact := range []struct{ what, is string }{{"tool", cmp.Or(b.of.Origin.Version, b.of.Tool)}, {"system", b.of.Origin.System}, {"measured by", b.m.By}} {
		if fact.is != "" {
			s.Facts = append(s.Facts, fact.what+": "+fact.is)
		}
	}
	b.batch.Studies = append(b.batch.Studies, s)
}

func (b *builder) question() string {
	if b.m.Tunable == "" {
		return b.t.Metric
	}
	return "What does " + b.arm(1) + " change?"
}

func (b *builder) verdict() {
	c, v := b.t.Sides[0].Arm, b.t.Sides[1].Arm
	c.Name, v.Name = b.arm(0), b.arm(1)
	r := stats.CompareSamples(c, []stats.Arm{v}, stats.Options{Better: b.of.Better, NoPlan: true})[0]
	out := ledger.FromComparison(&r)
	out.ID, out.Study, out.Environment, out.Metric, out.Primary = b.id.Part("verdict"), b.id, b.env, b.t.Metric, true
	out.Unit, out.Better, out.Workload = b.of.Unit, b.of.Better, b.workload()
	out.ControlTrials, out.VariantTrials = b.trials[0], b.trials[1]
	for _, side := range b.t.Sides {
		out.Flags = append(out.Flags, side.Of.Warnings...)
	}
	out.Flags = append(out.Flags, evidence.ByOthers)
	if b.m.Tunable != "" {
		out.Changes = []ledger.Change{{Tunable: b.m.Tunable, Before: b.m.Before, After: b.m.After}}
	}
	b.batch.Verdicts = append(b.batch.Verdicts, out)
	b.t.Verdict = &b.batch.Verdicts[0]
}

// Document is the output of import FILE… --json.
type Document struct {
	Version int             `json:"version"`
	Ledger  string          `json:"ledger"`
	Study   ledger.ID       `json:"study"`
	Known   bool            `json:"known"` // the ledger already contained it
	Tool    string          `json:"tool"`
	Metric  string          `json:"metric"`
	Unit    string          `json:"unit"`
	Better  string          `json:"better"`
	Sides   []SideDocument  `json:"sides"`
	Verdict *ledger.Verdict `json:"verdict"` // null if nothing was compared
}

// SideDocument is one side of a comparison, with its runs.
type SideDocument struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

// Document returns the JSON form of what was imported. The caller sets Ledger and Known.
func (t Taken) Document() Document {
	of := t.Sides[0].Of
	d := Document{Version: 1, Study: t.Batch.Studies[0].ID, Tool: of.Tool, Metric: t.Metric, Unit: of.Unit, Better: string(of.Better), Verdict: t.Verdict}
	for _, s := range t.Sides {
		d.Sides = append(d.Sides, SideDocument{s.Name, s.Values})
	}
	return d
}

// Print prints what was imported.
func (d Document) Print(p *show.Page) {
	state := "taken into"
	if d.Known {
		state = "was there before, in"
	}
	for _, s := range d.Sides {
		p.Line(fmt.Sprintf("%s: %s of %s, %s", show.Clean(s.Name), show.Plural(len(s.Values), "run"), show.Clean(d.Metric), show.Clean(d.Unit)))
	}
	if v := d.Verdict; v != nil {
		p.Line(fmt.Sprintf("%s: %s, %s (n %d, %s)", show.Clean(v.Variant), v.TextWithBounds(), v.Verdict, v.N, evidence.ByOthers))
	}
	p.Line(fmt.Sprintf("study %s %s %s", d.Study.Short(), state, show.Clean(d.Ledger)))
}
