package ledger

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/klauspost/compress/zstd"

	"linerate/internal/stats"
)

// Files of a study's directory; results.json is derived from the others but
// for the environment.
const (
	specFile    = "study.yaml"
	trialsFile  = "trials.jsonl"
	resultsFile = "results.json"
)

// Bounds on a study's directory.
const (
	maxStudyFile = 256 << 20
	maxTrialLine = 1 << 20
)

// ErrNoStudy says that the folder holds no study's record.
var ErrNoStudy = errors.New("holds no study")

// The parts of results.json that the ledger takes; its contract is
// docs/reference/results.md.
type results struct {
	Study       string      `json:"study"`
	Question    string      `json:"question"`
	Answer      string      `json:"answer"`
	Seed        uint64      `json:"seed"`
	Control     string      `json:"control"`
	Started     *time.Time  `json:"started"`
	Environment resultsEnv  `json:"environment"`
	Trials      []trialLine `json:"trials"`
	Verdicts    []struct {
		Verdict
		Part string `json:"part"`
	} `json:"verdicts"`
	AA struct {
		Verdict stats.Verdict `json:"verdict"`
	} `json:"aa"`
	Warnings []string `json:"warnings"`
}

type resultsEnv struct {
	Hostname   string `json:"hostname"`
	OS         string `json:"os"`
	Kernel     string `json:"kernel"`
	Arch       string `json:"arch"`
	CPU        string `json:"cpu"`
	CPUs       int    `json:"cpus"`
	Governor   string `json:"governor"`
	Hypervisor string `json:"hypervisor"`
	Engine     string `json:"engine"`
	Label      string `json:"label"`
	Linerate   string `json:"linerate"`
}

type trialLine struct {
	Part        string             `json:"part"`
	Variant     string             `json:"variant"`
	Block       int                `json:"block"`
	Order       int                `json:"order"`
	Start       time.Time          `json:"start"`
	Valid       bool               `json:"valid"`
	Reasons     []string           `json:"reasons"`
	Metrics     map[string]float64 `json:"metrics"`
	Retry       bool               `json:"retry"`
	Unavailable string             `json:"unavailable"`
}

// spec is what the ledger takes from study.yaml: what each variant sets.
type spec struct {
	Study    string `yaml:"study"`
	Name     string `yaml:"name"`
	Question string `yaml:"question"`
	Workload any    `yaml:"workload"`
	Control  string `yaml:"control"`
	Variants []struct {
		Name     string           `yaml:"name"`
		Settings []map[string]any `yaml:"settings"`
	} `yaml:"variants"`
}

// ReadStudyDir turns the record of one of linerate's own studies into a batch.
// Reading it again gives the same batch, bytes unchanged.
func ReadStudyDir(dir string) (*Batch, error) {
	d := studyDir{dir: dir}
	if err := d.load(); err != nil {
		return nil, err
	}
	parts := []string{"study"}
	for _, f := range d.b.Sources {
		if f.Path == specFile || f.Path == trialsFile || f.Path == resultsFile {
			parts = append(parts, f.Path, f.SHA256)
		}
	}
	d.id = ID(parts...)
	d.b.Kind, d.b.Ref = "study", d.id
	d.sources()
	d.environment()
	d.trials()
	d.verdicts()
	d.study()
	return &d.b, nil
}

type studyDir struct {
	dir  string
	id   string
	env  string
	r    results
	s    spec
	b    Batch
	byID map[string][]string // part and variant → trials
	refs map[string]Ref
}

// load reads the three files; an unfinished study has no results yet and is
// refused, since its verdicts are not made.
func (d *studyDir) load() error {
	if err := d.file(specFile, func(data []byte) error { return yaml.Unmarshal(data, &d.s) }); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", d.dir, ErrNoStudy)
		}
		return err
	}
	if err := d.file(trialsFile, d.lines); err != nil {
		return err
	}
	return d.file(resultsFile, func(data []byte) error { return json.Unmarshal(data, &d.r) })
}

func (d *studyDir) file(name string, parse func([]byte) error) error {
	path := filepath.Join(d.dir, name)
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxStudyFile+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if len(data) > maxStudyFile {
		return fmt.Errorf("%s: larger than %d MiB", path, maxStudyFile>>20)
	}
	if err := parse(data); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	sum := sha256.Sum256(data)
	sha := hex.EncodeToString(sum[:])
	d.b.Sources = append(d.b.Sources, Source{Path: name, SHA256: sha, Size: int64(len(data)), Role: "record"})
	d.b.Blobs = append(d.b.Blobs, pack(sha, data))
	return nil
}

// packer compresses whole texts; EncodeAll may be called by many at once.
var packer = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
})

// pack compresses bytes to be kept.
func pack(sha string, data []byte) Blob {
	enc, err := packer()
	if err != nil {
		return Blob{SHA256: sha, Size: int64(len(data)), Encoding: "raw", Data: data}
	}
	return Blob{SHA256: sha, Size: int64(len(data)), Encoding: "zstd", Data: enc.EncodeAll(data, nil)}
}

// lines reads trials.jsonl, which is the record; results.json repeats it.
func (d *studyDir) lines(data []byte) error {
	in := bufio.NewScanner(bytes.NewReader(data))
	in.Buffer(nil, maxTrialLine)
	d.refs = map[string]Ref{}
	for n := 1; in.Scan(); n++ {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		var t trialLine
		if err := json.Unmarshal(in.Bytes(), &t); err != nil {
			if n > 1 {
				continue // a crash tore the last line; the study's own reader says so
			}
			return fmt.Errorf("line %d: %w", n, err)
		}
		d.refs[t.key()] = Ref{Path: trialsFile, Role: "trial", First: n, Last: n}
	}
	return in.Err()
}

func (t *trialLine) key() string {
	return t.Part + "\x00" + t.Variant + "\x00" + strconv.Itoa(t.Block) + "\x00" + t.Start.UTC().Format(time.RFC3339Nano)
}

func (d *studyDir) sources() {
	for i := range d.b.Sources {
		s := &d.b.Sources[i]
		s.Study, s.ID = d.id, ID(d.id, s.Path, s.SHA256)
	}
}

func (d *studyDir) environment() {
	e := d.r.Environment
	env := Environment{
		OS: title(e.OS), Release: e.Kernel, Arch: e.Arch, Hardware: e.Hostname, CPU: e.CPU, Cores: e.CPUs,
		NIC: "veth", Driver: "veth", Label: e.Label,
		Extra: map[string]string{"governor": e.Governor, "hypervisor": e.Hypervisor, "engine": e.Engine, "linerate": e.Linerate},
	}
	doc, err := json.Marshal(env)
	if err != nil {
		doc = nil
	}
	env.ID = ID("environment", string(doc))
	d.env = env.ID
	d.b.Environments = []Environment{env}
}

// title writes an operating system as its users do.
func title(os string) string {
	switch os {
	case "linux":
		return "Linux"
	case "freebsd":
		return "FreeBSD"
	}
	return os
}

func (d *studyDir) trials() {
	d.byID = map[string][]string{}
	sha := ""
	for _, s := range d.b.Sources {
		if s.Path == trialsFile {
			sha = s.SHA256
		}
	}
	for i, t := range d.r.Trials {
		ref := d.refs[t.key()]
		ref.SHA256, ref.Path, ref.Role = sha, trialsFile, "trial"
		start := t.Start.UTC()
		out := Trial{
			ID: ID(d.id, "trial", strconv.Itoa(i)), Study: d.id, Environment: d.env, Variant: t.Variant, Workload: t.Part,
			Block: t.Block, Order: t.Order, Start: &start, Valid: t.Valid, Reasons: t.Reasons, Metrics: t.Metrics, Sources: []Ref{ref},
		}
		if t.Unavailable != "" {
			out.Reasons = append(out.Reasons, "unavailable: "+t.Unavailable)
		}
		if t.Retry {
			out.Flags = append(out.Flags, "repeats an invalid trial")
		}
		d.b.Trials = append(d.b.Trials, out)
		key := t.Part + "\x00" + t.Variant
		d.byID[key] = append(d.byID[key], out.ID)
	}
}

func (d *studyDir) verdicts() {
	for _, rv := range d.r.Verdicts {
		v := rv.Verdict
		v.ID = ID(d.id, "verdict", rv.Part, v.Metric, v.Control, v.Variant)
		v.Study, v.Environment, v.Workload = d.id, d.env, rv.Part
		v.NControl, v.NVariant = v.N, v.N
		if v.Family == 0 {
			v.Family = d.family(rv.Part, v.Metric)
		}
		v.ControlTrials, v.VariantTrials = d.byID[rv.Part+"\x00"+v.Control], d.byID[rv.Part+"\x00"+v.Variant]
		v.Changes = d.changes(v.Control, v.Variant)
		d.b.Verdicts = append(d.b.Verdicts, v)
	}
}

// family counts the comparisons that Holm corrected together.
func (d *studyDir) family(part, metric string) int {
	n := 0
	for _, v := range d.r.Verdicts {
		if v.Part == part && v.Metric == metric {
			n++
		}
	}
	return n
}

func (d *studyDir) study() {
	r, s := &d.r, &d.s
	st := Study{
		ID: d.id, Kind: "study", Name: r.Study, Path: d.dir, Question: r.Question, Answer: r.Answer, Design: "blocks",
		Control: r.Control, Seed: r.Seed, Started: r.Started, Label: r.Environment.Label, Notes: r.Warnings, AA: r.AA.Verdict,
		Tool: "linerate " + r.Environment.Linerate,
	}
	if st.Question == "" {
		st.Question = s.Question
	}
	for _, v := range r.Verdicts {
		if v.Primary {
			st.Metric = v.Metric
		}
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
func (d *studyDir) changes(control, variant string) []Change {
	a, b := d.settings(control), d.settings(variant)
	out := []Change{}
	for _, name := range keys(a, b) {
		if a[name] != b[name] {
			out = append(out, Change{Tunable: name, Related: relatedTo(name), Before: a[name], After: b[name], File: specFile})
		}
	}
	return out
}

func (d *studyDir) settings(variant string) map[string]string {
	out := map[string]string{}
	for _, v := range d.s.Variants {
		if v.Name != variant {
			continue
		}
		for _, m := range v.Settings {
			name, value := settingOf(m)
			if name != "" {
				out[name] = value
			}
		}
	}
	return out
}

// Program is this build, for the records it makes.
func Program() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return "linerate " + info.Main.Version
	}
	return "linerate"
}
