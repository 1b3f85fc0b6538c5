package netbenches

import (
	"fmt"
	"path"
	"time"

	"linerate/internal/evidence"
	"linerate/internal/ledger"
)

// Tool names the importer in records and caches: a new version reads a tree
// again even when its files have not changed.
const Tool = "netbenches importer 1"

// Kind of the studies and ledger entries that come from an archive.
const kindStudy = "netbenches"

// Import is a tree turned into ledger entries.
type Import struct {
	t         *Tree
	x         *Index
	check     *Check
	now       time.Time
	published map[[2]*Series]*evidence.Published
	first     map[*Series]int         // how often a README compares others with it
	refers    map[string][][2]*Series // study → pairs its README compares across folders
	aliases   map[*Series]string
	ids       map[string]ledger.ID // study folder → identifier
	Totals    ImportTotals
}

// ImportTotals count what an import found.
type ImportTotals struct {
	Files          int   `json:"files"`
	Bytes          int64 `json:"bytes"`
	Studies        int   `json:"studies"`
	Series         int   `json:"series"`
	Trials         int   `json:"trials"`
	Invalid        int   `json:"invalid"`
	GeneratorBound int   `json:"generator_bound"`
	Drifting       int   `json:"drifting"`
	Verdicts       int   `json:"verdicts"`
	Disagree       int   `json:"verdicts_unlike_readme"`
	Unread         int   `json:"unread"`
}

// NewImport prepares a loaded tree for the ledger.
func NewImport(t *Tree, now time.Time) *Import {
	im := &Import{
		t: t, x: NewIndex(t), now: now,
		published: map[[2]*Series]*evidence.Published{}, first: map[*Series]int{},
		refers: map[string][][2]*Series{}, aliases: map[*Series]string{}, ids: map[string]ledger.ID{},
	}
	im.check = CheckReadmes(t, im.x)
	im.readmes()
	for _, st := range t.Stored {
		if key, ok := cutPps(st.Name); ok {
			for _, v := range im.x.sameAs(st) {
				alias, _ := cutSuffixPart(key, v.Series.Workload)
				im.aliases[v.Series] = alias
			}
		}
	}
	return im
}

// Check is the READMEs' check that the import made on its way.
func (im *Import) Check() *Check { return im.check }

// readmes notes what the READMEs conclude, by the pair of series.
func (im *Import) readmes() {
	for i := range im.check.Readmes {
		rc := &im.check.Readmes[i]
		for _, b := range rc.Detail {
			ref := seriesOf(&b.Rows[0])
			if ref != nil {
				im.first[ref]++
			}
			for j := 1; j < len(b.Rows); j++ {
				im.claim(rc, &b, ref, &b.Rows[j])
			}
		}
	}
}

func (im *Import) claim(rc *ReadmeCheck, b *BlockCheck, ref *Series, row *RowCheck) {
	s := seriesOf(row)
	if ref == nil || s == nil || row.Verdict == "none" {
		return
	}
	p := &evidence.Published{Source: fmt.Sprintf("%s:%d", rc.Path, b.Line), Verdict: row.Verdict, Percent: row.Percent, PercentError: row.PercentError}
	im.published[[2]*Series{ref, s}] = p
	if ref.Study != s.Study {
		study := path.Dir(rc.Path)
		im.refers[study] = append(im.refers[study], [2]*Series{ref, s})
	}
}

func seriesOf(r *RowCheck) *Series {
	if r.source == nil || r.source.vector == nil {
		return nil
	}
	return r.source.vector.Series
}

// Batches calls emit with one batch per study, in path order.
func (im *Import) Batches(emit func(*ledger.Batch) error) error {
	im.Totals.Files, im.Totals.Bytes, im.Totals.Unread = len(im.t.Files), im.t.Bytes, len(im.t.Unread())
	studies := im.studies()
	for _, st := range studies {
		im.ids[st.dir] = st.identity()
	}
	for _, st := range studies {
		b := im.batch(st)
		if err := emit(b); err != nil {
			return err
		}
		for _, f := range st.files {
			f.Packed = nil // stored: let it go
		}
	}
	return nil
}
