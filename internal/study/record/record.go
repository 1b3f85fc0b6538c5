// Package record reads the record of a study: study.yaml (what was run),
// trials.jsonl (one trial a line, the raw data) and results.json (derived from
// them, except for the environment). Everything that reads records does so through
// it, whether the files lie in a directory or in a ledger. Package studydir writes
// them.
package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"

	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/lazy"
	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// The files of a record.
const (
	SpecFile    = "study.yaml"
	TrialsFile  = "trials.jsonl"
	ResultsFile = "results.json"
)

// FactsFile names the n-th snapshot of the host: the first is from the
// study's start, the others from each time it was resumed.
func FactsFile(n int) string {
	if n == 1 {
		return "facts.json"
	}
	return fmt.Sprintf("facts-%d.json", n)
}

var factsName = lazy.Regexp(`^facts(-[0-9]+)?\.json$`)

// MaxFile bounds each file: a long study of searches takes some tens of MB.
const MaxFile = 256 << 20

// ErrNoStudy is returned where there is no record of a study.
var ErrNoStudy = errors.New("holds no study")

// File is one file of a record as it was read.
type File struct {
	Name string
	Data []byte
}

// Record is the record of a study.
type Record struct {
	Name   string // where it was read from, for messages
	Spec   study.Spec
	Seed   uint64
	Trials []study.Trial // one a line
	Torn   string        // remains of a last line that a crash truncated; not a trial
	// Environment comes from the last results written. Without results it is
	// empty, and Finished is false.
	Environment study.Environment
	Finished    bool
	// Facts are the host snapshots that the environment names, the study's
	// start first; nil where the record has none.
	Facts []*fact.Facts
	// Telemetry is what instruments recorded in separate runs.
	Telemetry []study.Telemetry
	Files     []File // existing files, in the order above, then facts, then telemetry

	written []study.Verdict
	odd     []string
}

// Read reads a record. It leaves out a last line of the trials that a crash
// truncated and keeps it in Torn; it refuses a record with any other invalid
// trial, or with a file of an unknown version. name is the place's name in
// messages.
func Read(fsys fs.FS, name string) (*Record, error) {
	r := &Record{Name: name}
	for _, f := range []struct {
		name  string
		parse func([]byte) error
	}{{SpecFile, r.spec}, {TrialsFile, r.trials}, {ResultsFile, r.results}} {
		data, err := readFile(fsys, f.name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && f.name == SpecFile:
			return nil, hint.With(fmt.Errorf("%s %w (no %s)", name, ErrNoStudy, SpecFile), "give a study's directory: one that a study was run into")
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", r.at(f.name), err)
		}
		if err := f.parse(data); err != nil {
			return nil, err
		}
		r.Files = append(r.Files, File{f.name, data})
	}
	return r, errors.Join(r.facts(fsys), r.telemetry(fsys))
}

// facts reads the host snapshots that the results name. One that is missing
// or was modified is reported and left out.
func (r *Record) facts(fsys fs.FS) error {
	for _, ref := range r.Environment.Facts {
		if !factsName().MatchString(ref.File) {
			return fmt.Errorf("%s names %q as facts: those are in %s, facts-2.json …", r.at(ResultsFile), ref.File, FactsFile(1))
		}
		data, err := readFile(fsys, ref.File)
		if err != nil {
			r.odd = append(r.odd, fmt.Sprintf("%s: %v", ref.File, err))
			continue
		}
		if sumOf(data) != ref.SHA256 {
			r.odd = append(r.odd, ref.File+" is not what the study recorded: it was edited since")
			continue
		}
		var f fact.Facts
		if err := json.Unmarshal(data, &f); err != nil {
			return fmt.Errorf("%s: %w", r.at(ref.File), err)
		}
		if f.Version != fact.Version {
			r.odd = append(r.odd, fmt.Sprintf("%s is of version %d; this linerate reads version %d", ref.File, f.Version, fact.Version))
			continue
		}
		r.Facts = append(r.Facts, &f)
		r.Files = append(r.Files, File{ref.File, data})
	}
	return nil
}

func (r *Record) at(file string) string { return path.Join(r.Name, file) }

// readFile reads a whole regular file; it refuses other types (a FIFO would
// block) and files that are too large.
func readFile(fsys fs.FS, name string) ([]byte, error) { return readBounded(fsys, name, MaxFile) }

func readBounded(fsys fs.FS, name string, most int64) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it is larger than %s", show.Bytes(float64(most)))
	}
	return data, err
}

func (r *Record) spec(data []byte) error {
	s, err := study.Parse(r.at(SpecFile), data)
	if err != nil {
		return err
	}
	if s.Seed == nil {
		return fmt.Errorf("%s has no seed: it is a study, but not the record of one", r.at(SpecFile))
	}
	r.Spec, r.Seed = s, *s.Seed
	return nil
}

func (r *Record) trials(data []byte) error {
	t, whole, err := ParseTrials(r.at(TrialsFile), data)
	r.Trials, r.Torn = t, string(data[whole:])
	return err
}

// results reads the environment, which cannot be derived again, and the
// verdicts, to compare them with the derived ones.
func (r *Record) results(data []byte) error {
	var head struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("%s: %w", r.at(ResultsFile), err)
	}
	if err := checkVersion(r.at(ResultsFile), head.Version); err != nil {
		return err
	}
	var doc struct {
		Environment study.Environment `json:"environment"`
		Verdicts    []study.Verdict   `json:"verdicts"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return fmt.Errorf("%s: %w", r.at(ResultsFile), err)
	}
	r.Environment, r.Finished, r.written = doc.Environment, true, doc.Verdicts
	return nil
}

// checkVersion refuses results of a version that this program might misread.
func checkVersion(file string, version *int) error {
	again := "%s is derived from %s: move it away, and report the study again"
	switch {
	case version == nil:
		return hint.With(fmt.Errorf("%s has no version: it is not a study's results", file), again, ResultsFile, TrialsFile)
	case *version > study.ResultsVersion:
		return hint.With(fmt.Errorf("%s is of version %d; this linerate reads up to version %d", file, *version, study.ResultsVersion),
			"a newer linerate wrote it: read it with that one")
	case *version < 1:
		return hint.With(fmt.Errorf("%s is of version %d, which does not exist", file, *version), again, ResultsFile, TrialsFile)
	}
	return nil
}

// Results derives the results from the trials, anew each time.
func (r *Record) Results() study.Results {
	res := study.Analyse(r.Spec, r.Seed, r.Environment, r.Trials)
	res.Telemetry = r.Telemetry
	return res
}

// Warnings lists what a reader must know about the record itself.
func (r *Record) Warnings(derived study.Results) []string {
	out := slices.Clone(r.odd)
	if r.Torn != "" {
		out = append(out, fmt.Sprintf("the last line of %s was cut off and counts for nothing (%d bytes)", TrialsFile, len(r.Torn)))
	}
	if n := unlike(r.written, derived.Verdicts); n > 0 {
		out = append(out, fmt.Sprintf("%s states %s that cannot be derived from its trials: another version derived them, or the file was edited", ResultsFile, show.Plural(n, "verdict")))
	}
	return out
}

// unlike counts the written verdicts that the trials do not confirm.
func unlike(written, derived []study.Verdict) int {
	type key struct{ part, metric, control, variant string }
	given := map[key]stats.Verdict{}
	for _, v := range derived {
		given[key{v.Part, v.Metric, v.Control, v.Variant}] = v.Verdict
	}
	return list.Count(written, func(v study.Verdict) bool { return given[key{v.Part, v.Metric, v.Control, v.Variant}] != v.Verdict })
}

// sumOf returns the hex SHA-256 of a file, as in records.
func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// MaxLine bounds the line of a trial in bytes: it usually takes a few kB,
// that of a search some hundred.
const MaxLine = 1 << 20

// ParseTrials parses TrialsFile. It returns a trial for each complete line, and the
// length of these lines in bytes. name is the file's name in messages.
func ParseTrials(name string, data []byte) (all []study.Trial, whole int, err error) {
	return parseLines(name, data, MaxLine, func(t study.Trial) error {
		if t.Part == "" || t.Variant == "" || t.Block < 0 {
			return errors.New("a trial names its part, variant and block")
		}
		return nil
	})
}

// parseLines parses JSON lines. Only the last line may be invalid, truncated by a crash;
// anywhere else an invalid line is an error, because the record was damaged or edited.
func parseLines[T any](name string, data []byte, most int, check func(T) error) (all []T, whole int, err error) {
	for n := 1; whole < len(data); n++ {
		line, rest, _ := bytes.Cut(data[whole:], []byte{'\n'})
		if len(line) > most {
			return nil, 0, fmt.Errorf("%s:%d: a line of %d bytes is too long", name, n, len(line))
		}
		var t T
		err := json.Unmarshal(line, &t)
		if err == nil {
			err = check(t)
		}
		if err != nil && len(rest) == 0 {
			return all, whole, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		all, whole = append(all, t), len(data)-len(rest)
	}
	return all, whole, nil
}

// Memory holds the files of a directory by name.
type Memory map[string][]byte

// Open opens a file.
func (m Memory) Open(name string) (fs.File, error) {
	data, ok := m[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &memoryFile{bytes.NewReader(data), name}, nil
}

// memoryFile is an open file with its metadata.
type memoryFile struct {
	*bytes.Reader
	name string
}

func (f *memoryFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *memoryFile) Close() error               { return nil }
func (f *memoryFile) Name() string               { return f.name }
func (f *memoryFile) Mode() fs.FileMode          { return 0o444 }
func (f *memoryFile) ModTime() time.Time         { return time.Time{} }
func (f *memoryFile) IsDir() bool                { return false }
func (f *memoryFile) Sys() any                   { return nil }
