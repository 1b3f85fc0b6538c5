package netbenches

import (
	"cmp"
	"path"
	"slices"
	"time"

	"linerate/internal/ledger"
)

// batch is the study's entry.
func (im *Import) batch(st *studyFiles) *ledger.Batch {
	id := im.ids[st.dir]
	b := &ledger.Batch{Kind: kindStudy, Ref: string(id), Time: im.now}
	m := maker{im: im, st: st, b: b, id: id, configs: map[*Series]*Config{}, envs: map[*Series]ledger.ID{}}
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
	id      ledger.ID
	configs map[*Series]*Config
	envs    map[*Series]ledger.ID
	notes   []string
	started *time.Time
}

// sources lists every file of the study and keeps the bytes that were packed.
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
		ID: t.ID.Part(series), Trial: t.ID, Series: series, Unit: unit, Values: values, Source: ref,
	})
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
