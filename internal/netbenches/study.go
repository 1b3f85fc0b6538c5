package netbenches

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

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
	published map[[2]*Series]*ledger.Published
	first     map[*Series]int         // how often a README compares others with it
	refers    map[string][][2]*Series // study → pairs its README compares across folders
	aliases   map[*Series]string
	ids       map[string]string // study folder → identifier
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
		published: map[[2]*Series]*ledger.Published{}, first: map[*Series]int{},
		refers: map[string][][2]*Series{}, aliases: map[*Series]string{}, ids: map[string]string{},
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
	p := &ledger.Published{Source: fmt.Sprintf("%s:%d", rc.Path, b.Line), Verdict: row.Verdict, Percent: row.Percent, PercentError: row.PercentError}
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

// studyFiles is one folder of results with all that belongs to it.
type studyFiles struct {
	dir    string
	place  Place
	series []*Series
	readme *Readme
	files  []*File
}

func (im *Import) studies() []*studyFiles {
	byDir := map[string]*studyFiles{}
	for _, s := range im.t.Series {
		st := byDir[s.Study]
		if st == nil {
			st = &studyFiles{dir: s.Study}
			st.place, _ = ParsePlace(im.t.named(s.Study))
			byDir[s.Study] = st
		}
		st.series = append(st.series, s)
	}
	for _, r := range im.t.Readmes {
		if st := byDir[r.Dir]; st != nil && (st.readme == nil || len(r.Blocks) > len(st.readme.Blocks)) {
			st.readme = r
		}
	}
	im.assignFiles(byDir)
	out := make([]*studyFiles, 0, len(byDir))
	for _, k := range sortedKeys(byDir) {
		out = append(out, byDir[k])
	}
	return out
}

// assignFiles gives every file to the study whose folder holds it, and the
// topic's configurations to each of its studies.
func (im *Import) assignFiles(byDir map[string]*studyFiles) {
	topics := map[string][]*studyFiles{}
	for _, k := range sortedKeys(byDir) {
		st := byDir[k]
		topics[topicDir(st.dir)] = append(topics[topicDir(st.dir)], st)
	}
	for _, f := range im.t.Files {
		dir := path.Dir(f.Path)
		if f.Role == RoleConfig {
			set, _ := configSet(f.Path)
			for dir = path.Dir(set); path.Base(dir) == "configs" || path.Base(dir) == "config"; {
				dir = path.Dir(dir)
			}
			for _, st := range topics[dir] {
				st.files = append(st.files, f)
			}
			continue
		}
		for dir != "." && dir != "/" {
			if st := byDir[dir]; st != nil {
				st.files = append(st.files, f)
				break
			}
			dir = path.Dir(dir)
		}
	}
}

// identity is the study's identifier: its place and the content of the files
// that its numbers come from.
func (st *studyFiles) identity() string {
	parts := []string{kindStudy, st.canonical()}
	for _, f := range st.files {
		if f.SHA256 != "" && f.Role != RoleProfile && f.Role != RoleHook && f.Role != RoleOther {
			parts = append(parts, relative(st.dir, f.Path), f.SHA256)
		}
	}
	return ledger.ID(parts...)
}

// relative is a path as seen from a folder of the tree: the same wherever the
// tree's root is.
func relative(dir, p string) string {
	r, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(p))
	if err != nil {
		return p
	}
	return filepath.ToSlash(r)
}

func (st *studyFiles) canonical() string {
	if c := st.place.Canonical(); c != "" && st.place.Hardware != "" {
		return c
	}
	return st.dir
}

// batch is the study's entry.
func (im *Import) batch(st *studyFiles) *ledger.Batch {
	id := im.ids[st.dir]
	b := &ledger.Batch{Kind: kindStudy, Ref: id, Time: im.now}
	m := maker{im: im, st: st, b: b, id: id, configs: map[*Series]*Config{}, envs: map[*Series]string{}}
	m.sources()
	for _, s := range st.series {
		m.configs[s] = im.t.configFor(s, im.aliases[s])
		m.series(s)
	}
	m.verdicts()
	m.study()
	im.Totals.Studies++
	im.Totals.Series += len(st.series)
	im.Totals.Trials += len(b.Trials)
	im.Totals.Verdicts += len(b.Verdicts)
	return b
}

// maker builds one study's batch.
type maker struct {
	im      *Import
	st      *studyFiles
	b       *ledger.Batch
	id      string
	configs map[*Series]*Config
	envs    map[*Series]string
	notes   []string
	started *time.Time
}

// sources lists every file of the study and keeps the bytes that were packed.
func (m *maker) sources() {
	kept := map[string]bool{}
	for _, f := range m.st.files {
		m.b.Sources = append(m.b.Sources, ledger.Source{
			ID: ledger.ID(m.id, f.Path, f.SHA256), Study: m.id, Path: f.Path, SHA256: f.SHA256,
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

// series adds a series' environment, trials and samples.
func (m *maker) series(s *Series) {
	env := m.environment(s)
	m.envs[s] = env
	name := variantName(s)
	workload := m.workload(s)
	start := m.start(s)
	for i, it := range s.Iterations {
		j := it.Judge()
		t := ledger.Trial{
			ID: m.im.trialID(s, it), Study: m.id, Environment: env, Variant: name, Workload: workload,
			Block: it.Number, Order: i + 1, Start: start, Valid: j.Valid, Reasons: j.Reasons, Flags: j.Flags, Metrics: j.Metrics,
		}
		m.logs(&t, it)
		m.b.Trials = append(m.b.Trials, t)
		m.im.Totals.trial(&j)
	}
}

func (t *ImportTotals) trial(j *Judged) {
	if !j.Valid {
		t.Invalid++
	}
	if slices.Contains(j.Flags, FlagGenerator) {
		t.GeneratorBound++
	}
	if slices.Contains(j.Flags, FlagDrift) {
		t.Drifting++
	}
}

// logs refers a trial to its logs and keeps the rates of their intervals.
func (m *maker) logs(t *ledger.Trial, it *Iteration) {
	if it.EqFile != nil {
		t.Sources = append(t.Sources, ledger.Ref{SHA256: it.EqFile.SHA256, Path: it.EqFile.Path, Role: "equilibrium"})
		steps := make([]float64, len(it.Equilibrium.Steps))
		for i, s := range it.Equilibrium.Steps {
			steps[i] = s.Forwarded
		}
		m.samples(t, "forwarded by search step", "Mb/s", steps, t.Sources[0])
	}
	for role, logs := range map[string][]*Reading{"receiver": it.Receivers, "sender": it.Senders} {
		for _, r := range logs {
			ref := ledger.Ref{SHA256: r.File.SHA256, Path: r.File.Path, Role: role, First: r.First, Last: r.Last}
			t.Sources = append(t.Sources, ref)
			if len(r.Rates) > 0 {
				m.samples(t, role+" "+path.Base(r.File.Path), "pps", r.Rates, ref)
			}
		}
	}
	slices.SortFunc(t.Sources, func(a, b ledger.Ref) int { return cmp.Compare(a.Path, b.Path) })
}

func (m *maker) samples(t *ledger.Trial, series, unit string, values []float64, ref ledger.Ref) {
	m.b.Samples = append(m.b.Samples, ledger.Samples{
		ID: ledger.ID(t.ID, series), Trial: t.ID, Series: series, Unit: unit, Values: values, Source: ref,
	})
}

// environment adds what the series' DUT was.
func (m *maker) environment(s *Series) string {
	p := m.st.place
	e := ledger.Environment{
		OS: "FreeBSD", Hardware: p.Hardware, CPU: p.CPU, Cores: p.Cores, NIC: p.NIC,
		Label: "measured by others; logs only",
	}
	if s.Info != nil {
		u := ParseUname(s.Info.Uname)
		e.Release, e.Revision, e.Arch, e.Uname = u.Release, u.Revision, u.Arch, s.Info.Uname
		if u.OS != "" {
			e.OS = u.OS
		}
	}
	if e.Revision == "" {
		e.Revision = RevisionOf(p.Label)
	}
	if e.Release == "" {
		e.Release = releaseOf(p.Label)
	}
	if c := m.configs[s]; c != nil {
		e.Driver = c.Driver()
	}
	if e.Driver == "" {
		e.Driver = loadNames().driver(p.NIC)
	}
	e.Extra = m.topology()
	if s.Image != "" {
		e.Extra["image"] = s.Image
	}
	e.ID = ledger.ID("environment", e.OS, e.Release, e.Revision, e.Arch, e.Hardware, e.NIC, e.Driver, e.Uname, s.Image)
	if !slices.ContainsFunc(m.b.Environments, func(o ledger.Environment) bool { return o.ID == e.ID }) {
		m.b.Environments = append(m.b.Environments, e)
	}
	return e.ID
}

// topology is what the lab's file, at or above the study's folder, says of who
// sent and who received.
func (m *maker) topology() map[string]string {
	out := map[string]string{}
	for dir := m.st.dir; ; dir = path.Dir(dir) {
		if l := m.im.t.Labs[dir]; l != nil {
			out["nodes"] = strconv.Itoa(l.Nodes)
			for key, name := range map[string]string{"generator": "SENDER_ADMIN", "dut": "DUT_ADMIN", "generator_port": "SENDER_LAB_IF", "receiver_port": "RECEIVER_LAB_IF"} {
				if v := l.Values[name]; v != "" && !strings.Contains(v, "$") {
					out[key] = v
				}
			}
			return out
		}
		if dir == "." || dir == "/" {
			return out
		}
	}
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

// workload names what was offered, from the sender's own command line.
func (m *maker) workload(s *Series) string {
	for _, it := range s.Iterations {
		senders := it.Senders
		if it.Equilibrium != nil {
			return join("VPN equilibrium", frameText(it.Equilibrium.Frame), s.workload())
		}
		if len(senders) > 0 && senders[0].Command != "" {
			return WorkloadOf(senders[0].Command).text(len(senders), s.workload())
		}
	}
	if w, ok := m.im.t.Loads[s.Workload]; ok {
		return w.text(1, s.workload())
	}
	return s.workload()
}

func frameText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d B", n)
}

// text is the workload in words: "IPv4 UDP 64 B, 2000 flows".
func (w Workload) text(senders int, name string) string {
	s := fmt.Sprintf("IPv%d UDP", w.Family)
	if w.Frame > 0 {
		s += fmt.Sprintf(" %d B", w.Frame)
	}
	if w.Flows > 1 {
		s += fmt.Sprintf(", %d flows", w.Flows)
	}
	if w.RatePPS > 0 {
		s += fmt.Sprintf(", %g pps offered", w.RatePPS)
	}
	if senders > 1 {
		s += fmt.Sprintf(", %d senders", senders)
	}
	if name != "" {
		s += " (" + name + ")"
	}
	return s
}

// variantName is what a series is called among the others of its study.
func variantName(s *Series) string {
	switch {
	case s.Image != "" && s.Config != "":
		return s.Image + "/" + s.Config
	case s.Config != "":
		return s.Config
	case s.Image != "":
		return s.Image
	}
	return "only"
}

// study adds the study's own record, once everything else is known.
func (m *maker) study() {
	p := m.st.place
	s := ledger.Study{
		ID: m.id, Kind: kindStudy, Name: join(p.Topic, p.Label), Place: m.st.canonical(), Path: path.Join(m.im.t.Root, m.st.dir),
		Question: "What does " + p.Topic + " change?", Design: "independent", Metric: m.metric(),
		Started: m.started, Notes: m.notes, Tool: Tool,
		Label: "variants ran one after the other, not in blocks: time is confounded with them",
	}
	if r := m.st.readme; r != nil {
		if r.Title != "" {
			s.Question = r.Title
		}
		s.Facts = r.Facts
	}
	m.b.Studies = []ledger.Study{s}
}

// metric is the study's primary one: VPN gateways are judged by equilibrium.
func (m *maker) metric() string {
	for _, t := range m.b.Trials {
		if _, ok := t.Metrics[MetricRate]; ok {
			return MetricRate
		}
	}
	for _, t := range m.b.Trials {
		if _, ok := t.Metrics[MetricEquilibrium]; ok {
			return MetricEquilibrium
		}
	}
	return MetricRate
}
