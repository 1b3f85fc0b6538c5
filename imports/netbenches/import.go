// Package netbenches reads the archive of FreeBSD forwarding benchmarks that
// has been kept since 2015 with Olivier Cochard-Labbé's netbenches scripts,
// and any tree with the same layout: pkt-gen and equilibrium logs, .info
// files, reductions, configuration sets, lab topologies and READMEs.
//
// No file of a tree is ever executed or sourced. Files that cannot be read are
// listed with the reason. Numbers are reduced twice: as by the archive's own
// script, for comparison with published results, and by linerate's own rule.
package netbenches

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"linerate/internal/ledger"
	"linerate/internal/list"
	"linerate/internal/show"
)

// Tool names this importer in records.
const Tool = "netbenches importer 1"

// kindStudy is the kind of studies and ledger entries that come from an archive.
const kindStudy = "netbenches"

// Totals counts what an import found.
type Totals struct {
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

// Take imports a listed tree into a ledger, and returns how many studies were new.
func Take(ctx context.Context, s ledger.Store, t *Tree) (added int, of Totals, err error) {
	if err := t.Load(ctx, true); err != nil {
		return 0, of, err
	}
	im := NewImport(t, time.Now())
	added, err = store(ctx, s, im)
	return added, im.Totals, err
}

// perTransaction is how many rows are committed together: enough to make
// syncing cheap, few enough to fit in memory.
const perTransaction = 20_000

// store appends the studies of an import, several per transaction.
func store(ctx context.Context, s ledger.Store, im *Import) (added int, err error) {
	var waiting []*ledger.Batch
	rows := 0
	flush := func() error {
		n, err := s.Append(ctx, waiting...)
		added, waiting, rows = added+n, nil, 0
		return err
	}
	err = im.Batches(func(b *ledger.Batch) error {
		waiting = append(waiting, b)
		rows += len(b.Trials) + len(b.Sources) + len(b.Blobs)
		if rows < perTransaction {
			return nil
		}
		return flush()
	})
	if err == nil && len(waiting) > 0 {
		err = flush()
	}
	return added, err
}

// Import converts a tree to ledger entries.
type Import struct {
	t       *Tree
	now     time.Time
	readmes conclusions
	ids     map[string]ledger.ID // study folder → identifier
	Totals  Totals
}

// NewImport prepares a loaded tree for the ledger.
func NewImport(t *Tree, now time.Time) *Import {
	return &Import{t: t, now: now, readmes: conclude(t), ids: map[string]ledger.ID{}}
}

// Batches calls emit with one batch per study, in path order.
func (im *Import) Batches(emit func(*ledger.Batch) error) error {
	im.Totals.Files, im.Totals.Bytes, im.Totals.Unread = len(im.t.Files), im.t.Bytes, len(im.t.Unread())
	studies := im.studies()
	for _, st := range studies {
		im.ids[st.dir] = st.identity()
	}
	for _, st := range studies {
		if err := emit(im.batch(st)); err != nil {
			return err
		}
		for _, f := range st.files {
			f.Packed = nil // stored: free the memory
		}
	}
	return nil
}

// batch returns the ledger entry of a study.
func (im *Import) batch(st *studyFiles) *ledger.Batch {
	id := im.ids[st.dir]
	m := maker{im: im, st: st, id: id, b: &ledger.Batch{Kind: kindStudy, Ref: string(id), Time: im.now}}
	m.sources()
	for _, s := range st.series {
		m.series(s)
	}
	m.verdicts()
	m.study()
	im.Totals.Studies++
	im.Totals.Series += len(st.series)
	im.Totals.Trials += len(m.b.Trials)
	im.Totals.Verdicts += len(m.b.Verdicts)
	return m.b
}

// maker builds the batch of a study.
type maker struct {
	im      *Import
	st      *studyFiles
	b       *ledger.Batch
	id      ledger.ID
	notes   []string
	started *time.Time
}

// sources adds all files of the study, and the contents of those that were packed.
func (m *maker) sources() {
	kept := map[string]bool{}
	for _, f := range m.st.files {
		m.b.Sources = append(m.b.Sources, ledger.Source{
			ID: m.id.Part(f.Path, f.SHA256), Study: m.id, Path: f.Path, SHA256: f.SHA256,
			Size: f.Size, Role: string(f.Role), Problem: f.Problem,
		})
		if f.Packed != nil && !kept[f.SHA256] {
			kept[f.SHA256] = true
			m.b.Blobs = append(m.b.Blobs, ledger.Blob{SHA256: f.SHA256, Size: f.Size, Encoding: "zstd", Data: f.Packed})
		}
		if f.Problem != "" && f.Role != RoleSecret {
			m.notes = append(m.notes, f.Path+": "+f.Problem)
		}
	}
}

func (m *maker) series(s *Series) {
	env, name, load, start := m.environment(s), variantName(s), workload(s), m.start(s)
	for i, it := range s.Iterations {
		t := it.Judge()
		t.ID, t.Study, t.Environment, t.Variant, t.Workload = m.im.trialID(s, it), m.id, env, name, load
		t.Block, t.Order, t.Start, t.Sources = it.Number, i+1, start, it.logs()
		m.b.Trials = append(m.b.Trials, t)
		m.im.Totals.trial(&t)
	}
}

func (n *Totals) trial(t *ledger.Trial) {
	if !t.Valid {
		n.Invalid++
	}
	if slices.Contains(t.Flags, FlagGenerator) {
		n.GeneratorBound++
	}
	if slices.Contains(t.Flags, FlagDrift) {
		n.Drifting++
	}
}

// logs returns the logs from which a trial's numbers come.
func (it *Iteration) logs() (refs []ledger.Ref) {
	if e := it.Equilibrium; e != nil {
		refs = append(refs, ledger.Ref{SHA256: e.File.SHA256, Path: e.File.Path, Role: "equilibrium"})
	}
	for role, logs := range map[string][]*Reading{"receiver": it.Receivers, "sender": it.Senders} {
		for _, r := range logs {
			refs = append(refs, ledger.Ref{SHA256: r.File.SHA256, Path: r.File.Path, Role: role, First: r.First, Last: r.Last})
		}
	}
	list.Sort(refs, func(a, b ledger.Ref) int { return cmp.Compare(a.Path, b.Path) })
	return refs
}

func (m *maker) start(s *Series) *time.Time {
	if s.Info == nil {
		return nil
	}
	t, ok := s.Info.Started()
	if !ok {
		return nil
	}
	if m.started == nil || t.Before(*m.started) {
		m.started = &t
	}
	return &t
}

// environment adds a description of the DUT of a series.
func (m *maker) environment(s *Series) ledger.ID {
	p := m.st.place
	e := ledger.Environment{OS: "FreeBSD", Hardware: p.Hardware, CPU: p.CPU, Cores: p.Cores, NIC: p.NIC, Label: "measured by others; logs only"}
	if s.Info != nil {
		u := ParseUname(s.Info.Uname)
		e.Release, e.Revision, e.Arch, e.Uname = u.Release, u.Revision, u.Arch, s.Info.Uname
		e.OS = cmp.Or(u.OS, e.OS)
	}
	e.Revision = cmp.Or(e.Revision, RevisionOf(p.Label))
	e.Release = cmp.Or(e.Release, releaseOf(p.Label))
	if c := m.im.t.configFor(s); c != nil {
		e.Driver = c.Driver()
	}
	e.Driver = cmp.Or(e.Driver, loadNames().driver(p.NIC))
	if s.Image != "" {
		e.Extra = map[string]string{"image": s.Image}
	}
	e.ID = ledger.IDOf("environment", e.OS, e.Release, e.Revision, e.Arch, e.Hardware, e.NIC, e.Driver, e.Uname, s.Image)
	if !slices.ContainsFunc(m.b.Environments, func(o ledger.Environment) bool { return o.ID == e.ID }) {
		m.b.Environments = append(m.b.Environments, e)
	}
	return e.ID
}

// study adds the record of the study itself, after everything else.
func (m *maker) study() {
	p := m.st.place
	s := ledger.Study{
		ID: m.id, Kind: kindStudy, Name: join(p.Topic, p.Label), Place: m.st.canonical(), Path: path.Join(m.im.t.Root, m.st.dir),
		Question: "What does " + p.Topic + " change?", Design: "independent", Metric: MetricRate,
		Started: m.started, Notes: m.notes, Tool: Tool,
		Label: "variants ran one after the other, not in blocks: time is confounded with them",
	}
	has := func(metric string) bool {
		return slices.ContainsFunc(m.b.Trials, func(t ledger.Trial) bool { _, ok := t.Metrics[metric]; return ok })
	}
	if has(MetricEquilibrium) && !has(MetricRate) {
		s.Metric = MetricEquilibrium
	}
	if r := m.st.readme; r != nil {
		s.Question, s.Facts = cmp.Or(r.Title, s.Question), r.Facts
	}
	m.b.Studies = []ledger.Study{s}
}

// Imported is the JSON output of the import of an archive.
type Imported struct {
	Version int      `json:"version"`
	Root    string   `json:"root"`
	Ledger  string   `json:"ledger"`
	Added   int      `json:"studies_added"`
	Totals  Totals   `json:"totals"`
	Unread  []Unread `json:"unread"`
	Seconds float64  `json:"seconds"`
}

// Unread is a file that could not be read or parsed, and the reason.
type Unread struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// ImportedOf describes the import of a tree into a ledger.
func ImportedOf(t *Tree, added int, of Totals, ledger string, took time.Duration) *Imported {
	i := &Imported{Version: 1, Root: t.Root, Ledger: ledger, Added: added, Totals: of, Unread: []Unread{}, Seconds: took.Seconds()}
	for _, file := range t.Unread() {
		i.Unread = append(i.Unread, Unread{file.Path, file.Problem})
	}
	return i
}

// Write prints the import as text.
func (i *Imported) Write(to io.Writer) error {
	w := &strings.Builder{}
	t := &i.Totals
	fmt.Fprintf(w, "%s (%s) read in %.1f s; %d could not be read or understood.\n", show.Plural(t.Files, "file"), show.Bytes(float64(t.Bytes)), i.Seconds, t.Unread)
	studies := show.Count(t.Studies) + " studies"
	if t.Studies == 1 {
		studies = "1 study"
	}
	fmt.Fprintf(w, "%s (%d new), %d series, %s: %d invalid, %d generator-bound, %d drifting by more than 1 %%.\n",
		studies, i.Added, t.Series, show.Plural(t.Trials, "trial"), t.Invalid, t.GeneratorBound, t.Drifting)
	fmt.Fprintf(w, "%s, each corrected within its study (Holm); %d come out otherwise than their README says.\n", show.Plural(t.Verdicts, "comparison"), t.Disagree)
	for n, u := range i.Unread {
		if n == 10 {
			fmt.Fprintf(w, "  … and %d more, in the JSON\n", len(i.Unread)-n)
			break
		}
		fmt.Fprintf(w, "  not read: %s: %s\n", u.Path, u.Reason)
	}
	fmt.Fprintf(w, "Ledger: %s\n", i.Ledger)
	_, err := io.WriteString(to, w.String())
	return err
}
