package commons

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/study/record"
)

// ChainFile lists the records of a commons in order of submission.
const ChainFile = "chain.jsonl"

// Link is a record in the chain, with the digest of its files and the hash over this and all earlier links.
type Link struct {
	Record string `json:"record"` // its directory
	SHA256 string `json:"sha256"`
	Prev   string `json:"prev"` // "" for the first
	Hash   string `json:"hash"`
}

func (l Link) sum() string { return digest([]byte(l.Prev + "\n" + l.Record + "\n" + l.SHA256)) }

// files lists a record's files, in the order in which they are digested.
var files = []string{record.SpecFile, record.TrialsFile, record.ResultsFile, "facts.json"}

func digestOf(fsys fs.FS) (string, record.Memory, error) {
	var all bytes.Buffer
	out := record.Memory{}
	for _, name := range files {
		data, err := fs.ReadFile(fsys, name)
		if errors.Is(err, fs.ErrNotExist) && name == "facts.json" {
			continue
		}
		if err != nil {
			return "", nil, fmt.Errorf("lacks %s", name)
		}
		fmt.Fprintf(&all, "%s %d\n", name, len(data))
		all.Write(data)
		out[name] = data
	}
	return digest(all.Bytes()), out, nil
}

// Submission is a record of a commons, accepted or rejected.
type Submission struct {
	Record string
	Why    error // nil: its verdicts follow from its trials
}

// Read checks a commons. A broken chain invalidates all of it; an invalid record only itself.
func Read(fsys fs.FS) ([]Submission, error) {
	links, err := readChain(fsys)
	if err != nil {
		return nil, err
	}
	var out []Submission
	owner := map[string]string{} // of each trial's measurement, to find duplicates
	for _, l := range links {
		out = append(out, Submission{l.Record, l.check(fsys, owner)})
	}
	dirs, err := fs.ReadDir(fsys, ".")
	for _, d := range dirs {
		if d.IsDir() && !strings.HasPrefix(d.Name(), ".") && !slices.ContainsFunc(links, func(l Link) bool { return l.Record == d.Name() }) {
			out = append(out, Submission{d.Name(), errors.New("is not in the chain")})
		}
	}
	return out, err
}

func readChain(fsys fs.FS) (links []Link, err error) {
	data, err := fs.ReadFile(fsys, ChainFile)
	if err != nil {
		return nil, err
	}
	prev := ""
	for n, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		var l Link
		if line == "" && n == 0 {
			break
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Prev != prev || l.sum() != l.Hash || l.Record != path.Base(l.Record) {
			return nil, fmt.Errorf("%s is broken at line %d: what follows is not what was added", ChainFile, n+1)
		}
		links, prev = append(links, l), l.Hash
	}
	return links, nil
}

func (l Link) check(fsys fs.FS, owner map[string]string) error {
	sub, err := fs.Sub(fsys, l.Record)
	if err != nil {
		return err
	}
	sum, in, err := digestOf(sub)
	switch {
	case err != nil:
		return err
	case sum != l.SHA256:
		return errors.New("differs from what was added: its files have another digest")
	}
	r, err := check(in)
	if err != nil {
		return err
	}
	for _, t := range r.Trials {
		data, err := json.Marshal(t.Observed)
		if err != nil {
			return err
		}
		key := digest(data)
		if by, taken := owner[key]; taken && t.Unavailable == "" {
			return fmt.Errorf("repeats a measurement of %s", by)
		}
		owner[key] = l.Record
	}
	return nil
}

// check derives a record again, and returns why it is not credible.
func check(in record.Memory) (*record.Record, error) {
	r, err := record.Read(in, "the record")
	if err != nil {
		return nil, err
	}
	if !r.Finished || r.Torn != "" || len(r.Trials) == 0 {
		return nil, errors.New("is not complete: it lacks results, or the end of its trials")
	}
	for i := range r.Trials {
		if err := rejudged(r, i); err != nil {
			return nil, fmt.Errorf("line %d of its trials: %w", i+1, err)
		}
	}
	derived := r.Results()
	if derived.AA.N < leastAA {
		return nil, fmt.Errorf("lacks an A/A arm: %d comparisons of the control with itself", derived.AA.N)
	}
	var written struct {
		Verdicts, AA json.RawMessage
		Seed         uint64
	}
	verdicts, err1 := json.Marshal(derived.Verdicts)
	aa, err2 := json.Marshal(derived.AA)
	if err := errors.Join(json.Unmarshal(in[record.ResultsFile], &written), err1, err2); err != nil {
		return nil, err
	}
	if !same(written.Verdicts, verdicts) || !same(written.AA, aa) || written.Seed != r.Seed {
		return nil, hint.With(errors.New("states verdicts that do not follow from its trials"),
			"linerate %s derived them, maybe by other rules: its owner exports it with this one to a new directory", cmp.Or(r.Environment.Linerate, "of no version"))
	}
	if slices.ContainsFunc(derived.Verdicts, func(v study.Verdict) bool { return v.Primary && v.Verdict == stats.Invalid }) {
		return nil, errors.New("has no verdict on its primary metric")
	}
	return r, nil
}

// leastAA is the smallest number of A/A comparisons.
const leastAA = 2

// same compares two JSON documents, ignoring white space.
func same(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// rejudged applies a trial's gates and derives its metrics again.
func rejudged(r *record.Record, i int) error {
	t := r.Trials[i]
	part, ok := r.Spec.Part(t.Part)
	switch {
	case t.Unavailable != "":
		return nil
	case !ok:
		return fmt.Errorf("the study has no part %q", t.Part)
	case t.Observed == nil:
		return errors.New("no raw data: what was observed is missing")
	}
	block := list.Filter(r.Trials[:i], func(b study.Trial) bool { return b.Part == t.Part && b.Block == t.Block })
	metrics, reasons := study.Judge(part, r.Spec.Gates, *t.Observed, block...)
	gates := func(rs []study.Refusal) (out []string) {
		return list.Map(rs, func(r study.Refusal) string { return r.Gate })
	}
	if !slices.Equal(gates(reasons), gates(t.Reasons)) || t.Valid != (len(reasons) == 0) {
		return fmt.Errorf("its gates say %v, the trial %v", gates(reasons), gates(t.Reasons))
	}
	for name, v := range t.Metrics {
		if again, ok := metrics[name]; !ok || math.Abs(again-v) > 1e-9*math.Abs(v) {
			return fmt.Errorf("%s does not follow from what was observed", name)
		}
	}
	if len(metrics) != len(t.Metrics) {
		return errors.New("its metrics differ from those observed")
	}
	return nil
}

// Write adds a record to a commons; it writes the link in the chain last.
func Write(dir, name string, of record.Memory) error {
	links, err := readChain(os.DirFS(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l := Link{Record: name}
	if l.SHA256, _, err = digestOf(of); err != nil {
		return err
	}
	if len(links) > 0 {
		l.Prev = links[len(links)-1].Hash
	}
	l.Hash = l.sum()
	line, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
		return err
	}
	for file, data := range of {
		if err := os.WriteFile(filepath.Join(dir, name, file), data, 0o644); err != nil {
			return err
		}
	}
	chain, err := os.OpenFile(filepath.Join(dir, ChainFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = chain.Write(append(line, '\n'))
	return errors.Join(err, chain.Close())
}
