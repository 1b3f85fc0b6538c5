package ledger

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"linerate/internal/fact"
	"linerate/internal/list"
	"linerate/internal/study"
	"linerate/internal/study/record"
	"linerate/internal/testbed"
)

// KindStudy is the kind of linerate's own studies.
const KindStudy = "study"

// ErrUnfinished is returned for a study without results: the environment of
// its trials is then unknown.
var ErrUnfinished = errors.New("the study has no results yet")

// OfRecord converts the record of one of linerate's own studies to a batch:
// trials as in the raw record, and verdicts derived from them. path is where
// it was read from. The same record always gives the same batch.
func OfRecord(r *record.Record, path string) (*Batch, error) {
	if !r.Finished {
		return nil, fmt.Errorf("%s: %w", path, ErrUnfinished)
	}
	d := ownStudy{rec: r, res: r.Results(), path: path}
	d.files()
	d.environment()
	d.trials()
	d.verdicts()
	d.study()
	return &d.b, nil
}

// ownStudy is a study being converted to a batch.
type ownStudy struct {
	rec  *record.Record
	res  study.Results
	path string
	id   ID
	env  ID
	b    Batch
	byID map[arm][]ID // trials by part and variant
}

// raw returns the files from which trials were derived when they were
// recorded: slices of traffic. The ledger stores only their hashes.
func raw(trials []study.Trial) []Source {
	var out []Source
	for i := range trials {
		if ref, ok := rawOf(&trials[i]); ok && !slices.ContainsFunc(out, func(s Source) bool { return s.Path == ref.Path }) {
			out = append(out, Source{Path: ref.Path, SHA256: ref.SHA256, Role: roleRaw})
		}
	}
	return out
}

// The roles of a study's files.
const (
	roleRecord = "record"
	roleRaw    = "slices"
)

// OfRecord reports whether the file belongs to the record of one of linerate's own studies.
func (s *Source) OfRecord() bool { return s.Role == roleRecord }

func rawOf(t *study.Trial) (Ref, bool) {
	name, sum, ok := study.RawFile(t)
	return Ref{SHA256: sum, Path: name, Role: roleRaw}, ok
}

// arm is a variant in a part.
type arm struct{ part, variant string }

// files identifies the study by the bytes of its record, and adds them to the batch.
func (d *ownStudy) files() {
	parts := []string{"study"}
	for _, f := range d.rec.Files {
		sum := sha256.Sum256(f.Data)
		sha := hex.EncodeToString(sum[:])
		d.b.Sources = append(d.b.Sources, Source{Path: f.Name, SHA256: sha, Size: int64(len(f.Data)), Role: roleRecord})
		d.b.Blobs = append(d.b.Blobs, Pack(sha, f.Data))
		parts = append(parts, f.Name, sha)
	}
	d.b.Sources = append(d.b.Sources, raw(d.rec.Trials)...)
	d.id = IDOf(parts...)
	d.b.Kind, d.b.Ref = KindStudy, string(d.id)
	for i := range d.b.Sources {
		s := &d.b.Sources[i]
		s.Study, s.ID = d.id, d.id.Part(s.Path, s.SHA256)
	}
}

// packer compresses whole files; EncodeAll is safe for concurrent use.
var packer = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
})

// Pack compresses bytes for storage under their hash.
func Pack(sha string, data []byte) Blob {
	enc, err := packer()
	if err != nil {
		return Blob{SHA256: sha, Size: int64(len(data)), Encoding: "raw", Data: data}
	}
	return Blob{SHA256: sha, Size: int64(len(data)), Encoding: "zstd", Data: enc.EncodeAll(data, nil)}
}

func (d *ownStudy) environment() {
	e := d.res.Environment
	nic, driver := ports(e, d.rec.Facts)
	env := Environment{
		OS: title(e.OS), Release: strings.TrimPrefix(e.Kernel, title(e.OS)+" "), Arch: e.Arch, Hardware: cmp.Or(e.Machine, e.Hostname), CPU: e.CPU, Cores: e.CPUs,
		NIC: nic, Driver: driver, Label: e.Label,
		Extra: map[string]string{"governor": e.Governor, "hypervisor": e.Hypervisor, "engine": e.Engine, "linerate": e.Linerate},
	}
	if env.Hardware != e.Hostname {
		env.Extra["hostname"] = e.Hostname
	}
	if len(d.rec.Facts) > 0 {
		env.Extra["machine_id"] = d.rec.Facts[0].MachineID
	}
	if len(e.Facts) > 0 {
		env.Extra["facts"] = e.Facts[0].SHA256
	}
	doc, err := json.Marshal(env)
	if err != nil {
		doc = nil
	}
	env.ID = IDOf("environment", string(doc))
	d.env = env.ID
	d.b.Environments = []Environment{env}
}

// pairs are the virtual interfaces that connect the nodes of a testbed on one machine.
var pairs = map[string]string{testbed.KindNetns: "veth", testbed.KindJails: "epair"}

// ports returns what carried the frames: pairs of virtual interfaces if the
// testbed is on one machine, else the network cards in the host's facts.
func ports(e study.Environment, facts []*fact.Facts) (nic, driver string) {
	var joined []string
	for _, bed := range e.Testbeds {
		if pair, ok := pairs[bed.Kind]; ok {
			joined = append(joined, pair)
		}
	}
	switch {
	case len(joined) > 0 && len(joined) == len(e.Testbeds):
		pair := words(joined)
		return pair, pair
	case len(e.Testbeds) == 0 || len(facts) == 0:
		return "", ""
	}
	var nics, drivers []string
	for _, n := range facts[0].NICs {
		if n.Kind == fact.KindEthernet && n.Driver != "" {
			nics, drivers = append(nics, cmp.Or(n.Description, n.Driver)), append(drivers, n.Driver)
		}
	}
	return words(nics), words(drivers)
}

// words joins the distinct words, sorted.
func words(list []string) string {
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ", ")
}

// title returns the usual spelling of an operating system's name.
func title(os string) string {
	switch os {
	case "linux":
		return "Linux"
	case "freebsd":
		return "FreeBSD"
	}
	return os
}

// trialID returns the identifier of the n-th trial in a study's record.
func trialID(study ID, n int) ID { return study.Part("trial", strconv.Itoa(n)) }

func (d *ownStudy) trials() {
	d.byID = map[arm][]ID{}
	sha := ""
	for _, s := range d.b.Sources {
		if s.Path == record.TrialsFile {
			sha = s.SHA256
		}
	}
	for i, t := range d.rec.Trials {
		start, line := t.Start.UTC(), i+1
		out := Trial{
			ID: trialID(d.id, i), Study: d.id, Environment: d.env, Variant: t.Variant, Workload: t.Part,
			Block: t.Block, Order: t.Order, Start: &start, Valid: t.Valid, Reasons: t.Why(), Metrics: t.Metrics,
			Sources: []Ref{{SHA256: sha, Path: record.TrialsFile, Role: "trial", First: line, Last: line}},
		}
		if ref, ok := rawOf(&t); ok {
			out.Sources = append(out.Sources, ref)
		}
		if t.Unavailable != "" {
			out.Reasons = append(out.Reasons, "unavailable: "+t.Unavailable)
		}
		if t.Retry {
			out.Flags = append(out.Flags, "repeats an invalid trial")
		}
		d.b.Trials = append(d.b.Trials, out)
		key := arm{t.Part, t.Variant}
		d.byID[key] = append(d.byID[key], out.ID)
	}
}

func (d *ownStudy) verdicts() {
	for i := range d.res.Verdicts {
		v := d.verdict(&d.res.Verdicts[i])
		v.ID = d.id.Part("verdict", v.Workload, v.Metric, v.Control, v.Variant)
		v.ControlTrials, v.VariantTrials = d.byID[arm{v.Workload, v.Control}], d.byID[arm{v.Workload, v.Variant}]
		v.Changes = changes(d.rec.Spec, v.Control, v.Variant)
		d.b.Verdicts = append(d.b.Verdicts, v)
	}
}

// verdict converts a study's verdict to the ledger's form.
func (d *ownStudy) verdict(v *study.Verdict) Verdict {
	out := fromStudy(v, d.res.Verdicts)
	out.Study, out.Environment = d.id, d.env
	return out
}

func fromStudy(v *study.Verdict, all []study.Verdict) Verdict {
	// Holm corrects these comparisons together.
	family := list.Count(all, func(o study.Verdict) bool { return o.Part == v.Part && o.Metric == v.Metric })
	out := Verdict{
		Metric: v.Metric, Primary: v.Primary, Unit: v.Unit, Better: v.Better, Workload: v.Part,
		Control: v.Control, Variant: v.Variant, NControl: v.N, NVariant: v.N, EffectNS: v.EffectNS, Family: family,
		MarginPercent: v.MarginPercent, MarginPoints: v.MarginPoints, PEquivalent: v.PEquivalent,
		ControlMean: v.ControlMean, VariantMean: v.VariantMean, MDE: v.MDE, Method: v.Method, Warnings: v.Warnings,
	}
	out.comesTo(v.Result)
	return out
}

func (d *ownStudy) study() {
	r := &d.res
	st := Study{
		ID: d.id, Kind: KindStudy, Name: r.Study, Path: d.path, Question: r.Question, Answer: r.Answer, Design: "blocks",
		Metric: d.rec.Spec.Primary().Metric, Control: r.Control, Seed: r.Seed, Started: r.Started, Label: r.Environment.Label,
		Notes: append(d.rec.Warnings(*r), r.Warnings...), AA: r.AA.Verdict, Tool: "linerate " + r.Environment.Linerate,
	}
	first := ""
	if r.Started != nil {
		first = r.Started.UTC().Format(time.RFC3339Nano)
		d.b.Time = r.Started.UTC()
	}
	st.Place = fmt.Sprintf("study/%s/%d/%s", r.Study, r.Seed, first)
	d.b.Studies = []Study{st}
}

// changes compares what two variants set.
func changes(s study.Spec, control, variant string) []Change {
	a, b := settingsOf(s, control), settingsOf(s, variant)
	out := []Change{}
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a[name] != b[name] {
			out = append(out, Change{Tunable: name, Related: relatedTo(name), Before: a[name], After: b[name], File: record.SpecFile})
		}
	}
	return out
}

func settingsOf(s study.Spec, variant string) map[string]string {
	v, _ := s.Variant(variant)
	out := study.Sets(v)
	for _, set := range v.Settings {
		maps.Copy(out, set.Names())
	}
	return out
}
