package netbenches

import (
	"fmt"
	"math"
	"slices"

	"linerate/internal/list"
	"linerate/internal/stats/ministat"
)

// Check is the outcome of comparing READMEs with the logs they rest on.
type Check struct {
	Version int           `json:"version"`
	Root    string        `json:"root"`
	Readmes []ReadmeCheck `json:"readmes"`
	Totals  Totals        `json:"totals"`
	Pps     PpsTotals     `json:"pps"`
	Plots   PlotTotals    `json:"gnuplot"`
}

// ReadmeCheck is one README with ministat blocks.
type ReadmeCheck struct {
	Path       string       `json:"path"` // relative to the root
	Blocks     int          `json:"blocks"`
	Rows       int          `json:"rows"`
	Reproduced bool         `json:"reproduced"` // every block of it is
	Reasons    []string     `json:"reasons"`    // why not; empty when it is
	Detail     []BlockCheck `json:"detail"`
}

// BlockCheck is one ministat block.
type BlockCheck struct {
	Line       int        `json:"line"`
	Rows       []RowCheck `json:"rows"`
	Reproduced bool       `json:"reproduced"`
}

// RowCheck is one data set of a block and what it was found to be.
type RowCheck struct {
	Label        string  `json:"label"`
	Source       string  `json:"source"`         // logs or stored file that give its numbers, "" if none
	FromRaw      bool    `json:"from_raw"`       // from logs
	SameFolder   bool    `json:"same_folder"`    // of the README's own folder or its RAW
	Verdict      string  `json:"verdict"`        // "reference", "difference" or "no difference"
	Recomputed   *bool   `json:"recomputed"`     // the verdict and its numbers follow from the data; null for the reference
	Note         string  `json:"note,omitempty"` // what differs
	Mean         float64 `json:"mean"`           // as printed
	Percent      float64 `json:"percent"`        // the difference as printed, 0 where none is proven
	PercentError float64 `json:"percent_error"`
	source       *candidate
}

// Totals count over all READMEs with blocks.
type Totals struct {
	Readmes             int `json:"readmes"`
	Reproduced          int `json:"reproduced"`
	ReproducedInFolder  int `json:"reproduced_in_folder"` // with every log in the README's own folder
	Blocks              int `json:"blocks"`
	BlocksReproduced    int `json:"blocks_reproduced"`
	Rows                int `json:"rows"`
	RowsFromRaw         int `json:"rows_from_raw"`
	RowsStored          int `json:"rows_stored"` // match a stored file, with or without logs
	Verdicts            int `json:"verdicts"`
	VerdictsRecomputed  int `json:"verdicts_recomputed"`
	Differences         int `json:"differences"`
	DifferencesComputed int `json:"differences_recomputed"`
}

// CheckReadmes asks of every README with ministat blocks whether its numbers,
// verdicts and differences follow from the logs of the tree.
func CheckReadmes(t *Tree, x *Index) *Check {
	c := &Check{Version: 1, Root: t.Root, Readmes: []ReadmeCheck{}, Pps: CheckStored(t, x), Plots: checkPlots(t, x)}
	for _, r := range t.Readmes {
		if len(r.Blocks) == 0 {
			continue
		}
		rc := checkReadme(t, x, r)
		c.Readmes = append(c.Readmes, rc)
		c.Totals.count(&rc)
	}
	return c
}

func checkReadme(t *Tree, x *Index, r *Readme) ReadmeCheck {
	rc := ReadmeCheck{Path: r.File.Path, Blocks: len(r.Blocks), Reproduced: true, Reasons: []string{}}
	for i := range r.Blocks {
		b := checkBlock(t, x, r, &r.Blocks[i])
		rc.Rows += len(b.Rows)
		rc.Reproduced = rc.Reproduced && b.Reproduced
		for _, row := range b.Rows {
			if row.Note != "" {
				rc.Reasons = append(rc.Reasons, fmt.Sprintf("line %d, %q: %s", b.Line, row.Label, row.Note))
			}
		}
		rc.Detail = append(rc.Detail, b)
	}
	return rc
}

func checkBlock(t *Tree, x *Index, r *Readme, b *Block) BlockCheck {
	out := BlockCheck{Line: b.Line, Reproduced: len(b.Rows) > 0}
	samples := make([][]float64, len(b.Rows))
	for i := range b.Rows {
		row := &b.Rows[i]
		rc := RowCheck{Label: row.Label, Mean: finite(row.Mean), Verdict: "reference"}
		if found := x.find(row, r.Dir); len(found) > 0 {
			rc.found(found[0], r.Dir)
		}
		if !rc.FromRaw {
			rc.Note = unlike(t, row)
		}
		samples[i] = rc.values()
		out.Rows = append(out.Rows, rc)
	}
	out.claims(b, samples)
	for i := range out.Rows {
		rc := &out.Rows[i]
		out.Reproduced = out.Reproduced && rc.FromRaw && (rc.Recomputed == nil || *rc.Recomputed)
	}
	return out
}

// claims recomputes what a block says of its rows, by every generation of
// ministat: a claim holds when one generation prints the same.
func (bc *BlockCheck) claims(b *Block, samples [][]float64) {
	for i := range bc.Rows {
		rc, test := &bc.Rows[i], b.Rows[i].Test
		if test == nil {
			if i > 0 {
				rc.Verdict = "none"
			}
			continue
		}
		rc.Verdict = "no difference"
		if test.Proven {
			rc.Verdict = "difference"
			rc.Percent, rc.PercentError = finite(printed(test.Percent)), finite(printed(test.PercentError))
		}
		ok := false
		rc.Recomputed = &ok
		if samples[0] == nil || samples[i] == nil {
			continue
		}
		var note string
		if ok, note = holds(b, samples, i); !ok {
			rc.Note = appendNote(rc.Note, note)
		}
	}
}

// holds checks row i of a block against the data.
func holds(b *Block, samples [][]float64, i int) (ok bool, note string) {
	only := make([][]float64, len(samples))
	only[0], only[i] = samples[0], samples[i]
	for _, g := range ministat.Generations() {
		own := list.Filter(b.Check(only, g), func(m ministat.Mismatch) bool { return m.Symbol == b.Rows[i].Symbol })
		if len(own) == 0 {
			return true, ""
		}
		note = own[0].String()
	}
	return false, note
}

func (rc *RowCheck) found(c *candidate, dir string) {
	rc.source, rc.Source, rc.FromRaw = c, c.name(), c.raw()
	rc.SameFolder = c.dir == dir
}

func (rc *RowCheck) values() []float64 {
	switch {
	case rc.source == nil:
		return nil
	case rc.source.vector != nil:
		return rc.source.vector.Values
	}
	return rc.source.stored.Values
}

// finite makes a number fit for JSON.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

func appendNote(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

func (t *Totals) count(r *ReadmeCheck) {
	t.Readmes++
	t.Blocks += r.Blocks
	t.Rows += r.Rows
	same := r.Reproduced
	for _, b := range r.Detail {
		if b.Reproduced {
			t.BlocksReproduced++
		}
		for i := range b.Rows {
			t.row(&b.Rows[i])
			same = same && b.Rows[i].SameFolder
		}
	}
	if r.Reproduced {
		t.Reproduced++
	}
	if same {
		t.ReproducedInFolder++
	}
}

func (t *Totals) row(r *RowCheck) {
	if r.FromRaw {
		t.RowsFromRaw++
	}
	if r.Source != "" {
		t.RowsStored++
	}
	if r.Recomputed == nil || r.Verdict == "none" {
		return
	}
	t.Verdicts++
	if *r.Recomputed {
		t.VerdictsRecomputed++
	}
	if r.Verdict == "difference" {
		t.Differences++
		if *r.Recomputed {
			t.DifferencesComputed++
		}
	}
}

// PpsTotals count the stored .pps files against their logs.
type PpsTotals struct {
	Files   int      `json:"files"`
	WithRaw int      `json:"with_raw"`
	Exact   int      `json:"exact"`
	Skipped int      `json:"after_skipping_unusable"` // equal once iterations without a usable row are left out
	Differ  int      `json:"differ"`
	NoRaw   int      `json:"no_raw"`
	Which   []string `json:"differing"`
}

// CheckStored recomputes every .pps file from the logs it is named after.
func CheckStored(t *Tree, x *Index) PpsTotals {
	p := PpsTotals{Which: []string{}}
	byKey := map[string][]*Vector{}
	for _, v := range x.Vectors {
		if v.Kind == KindReceiver || v.Kind == KindUpper {
			s := v.Series
			byKey[s.Study+"\x00"+s.Key] = append(byKey[s.Study+"\x00"+s.Key], v)
			if s.Dir != s.Study {
				byKey[s.Dir+"\x00"+s.Key] = append(byKey[s.Dir+"\x00"+s.Key], v)
			}
		}
	}
	for _, st := range t.Stored {
		key, ok := cutPps(st.Name)
		if !ok {
			continue
		}
		p.Files++
		vs := byKey[st.Dir+"\x00"+key]
		if !anySame(vs, st) {
			vs = append(vs, x.sameAs(st)...)
		}
		p.judge(st, vs)
	}
	return p
}

func anySame(vs []*Vector, st *Stored) bool {
	return slices.ContainsFunc(vs, func(v *Vector) bool { return sameValues(v.Values, st.Values) })
}

// sameAs finds the vectors of a stored file that was renamed after the run:
// those of its folder with exactly its values.
func (x *Index) sameAs(st *Stored) []*Vector {
	s := Summarise(st.Values)
	var out []*Vector
	for _, c := range x.byRange[rangeKey(s.N, s.Min, s.Max)] {
		if c.vector != nil && c.dir == st.Dir && sameValues(c.vector.Values, st.Values) {
			out = append(out, c.vector)
		}
	}
	return out
}

// PlotTotals count the points of gnuplot.data against the logs of their
// folder.
type PlotTotals struct {
	Files      int `json:"files"`
	Rows       int `json:"rows"`
	Reproduced int `json:"reproduced"` // median, minimum and maximum are those of the logs next to them
}

func checkPlots(t *Tree, x *Index) PlotTotals {
	byDir := map[string][]Summary{}
	for _, v := range x.Vectors {
		byDir[v.Series.Study] = append(byDir[v.Series.Study], Summarise(v.Values))
	}
	p := PlotTotals{Files: len(t.Plots)}
	for _, plot := range t.Plots {
		for _, r := range plot.Rows {
			p.Rows++
			for _, s := range byDir[plot.Dir] {
				if same8(s.Min, r.Minimum) && same8(s.Max, r.Max) && (same8(s.Median, r.Median) || same8(s.Upper, r.Median)) {
					p.Reproduced++
					break
				}
			}
		}
	}
	return p
}

func cutPps(name string) (string, bool) {
	if n := len(name) - len(".pps"); n >= 0 && name[n:] == ".pps" {
		return name[:n], true
	}
	return name, false
}

func (p *PpsTotals) judge(st *Stored, vs []*Vector) {
	if len(vs) == 0 {
		p.NoRaw++
		return
	}
	p.WithRaw++
	for _, v := range vs {
		if sameValues(v.Values, st.Values) {
			if v.Skipped > 0 {
				p.Skipped++
			} else {
				p.Exact++
			}
			return
		}
	}
	p.Differ++
	p.Which = append(p.Which, st.File.Path)
}

func sameValues(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-7*math.Abs(a[i]) {
			return false
		}
	}
	return true
}
