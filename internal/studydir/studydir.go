// Package studydir keeps a study's record on disk: study.yaml (the study),
// trials.jsonl (one line per trial, synced when it ends), results.json and
// report.html (derived from them).
package studydir

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
	"strconv"
	"time"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"linerate/internal/cli"
	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/study"
	"linerate/internal/study/record"
)

// The files of a study's directory.
const (
	SpecFile    = record.SpecFile
	TrialsFile  = record.TrialsFile
	ResultsFile = record.ResultsFile
	ReportFile  = "report.html"
	PictureFile = "picture.svg"
	// TornFile receives the remains of a line after a crash.
	TornFile = "trials.torn"
)

// Dir is a study's directory that this process writes to; it is locked until closed.
type Dir struct {
	Path   string
	Spec   study.Spec
	Seed   uint64
	Trials []study.Trial
	// Telemetry is the data of instruments from separate runs.
	Telemetry []study.Telemetry
	// Environment is the one in the last results written.
	Environment study.Environment
	// Torn is a message about a line torn by a crash, or "".
	Torn   string
	trials *os.File
}

// notMade returns the error for a directory that could not be created.
func notMade(err error) error {
	err = fmt.Errorf("make the study's directory: %w", err)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		err = hint.With(err, "call it in a directory that is yours, or name one: %s", hint.Option("out", "DIR"))
	}
	return err
}

// Create creates the directory of a new study; it fails if one exists there. The spec's seed must
// be set.
func Create(path string, s study.Spec) (*Dir, error) {
	if s.Seed == nil {
		return nil, errors.New("a study on disk needs a seed")
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return nil, notMade(err)
		}
		giveDirToInvoker(path)
	}
	if _, err := os.Lstat(filepath.Join(path, SpecFile)); err == nil {
		return nil, hint.With(fmt.Errorf("%s already holds a study", path), "linerate study resume %s, or choose another: %s", path, hint.Option("out", "DIR"))
	}
	d := &Dir{Path: path, Spec: s, Seed: *s.Seed}
	if err := d.openTrials(os.O_EXCL); err != nil {
		return nil, err
	}
	if err := d.Replan(s); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Replan replaces the study of a directory that has no trials yet.
func (d *Dir) Replan(s study.Spec) error {
	if len(d.Trials) > 0 {
		return fmt.Errorf("%s: a study that has trials cannot be planned again", d.Path)
	}
	data, err := study.Format(s)
	if err != nil {
		return err
	}
	d.Spec = s
	head := "# What this directory's trials were made by; every default is written out.\n# Run it again: linerate study run " + SpecFile + " --out NEWDIR\n"
	return writeFile(d.Path, SpecFile, append([]byte(head), data...))
}

// CreateNew is Create in a directory named after the study and the time, with a number appended if
// another study started in the same second; path, if not empty, is used instead.
func CreateNew(path string, s study.Spec, now time.Time) (*Dir, error) {
	if path != "" {
		return Create(path, s)
	}
	base := "linerate-" + s.Name + "-" + now.Format("20060102-150405")
	for n := 1; ; n++ {
		path = base
		if n > 1 {
			path += "-" + strconv.Itoa(n)
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) && n < 100 {
			continue
		}
		dir, err := Create(path, s)
		if errors.Is(err, fs.ErrExist) && n < 100 {
			continue // another process just took it
		}
		return dir, err
	}
}

// Open opens a study's directory to resume it. It moves a last line torn by a crash to TornFile.
func Open(path string) (*Dir, error) {
	r, err := Read(path)
	if err != nil {
		return nil, err
	}
	d := &Dir{Path: path, Spec: r.Spec, Seed: r.Seed, Environment: r.Environment, Telemetry: r.Telemetry}
	if err := d.openTrials(0); err != nil {
		return nil, err
	}
	if err := d.recover(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Read reads a study's directory without changing it. It refuses links that leave the directory.
func Read(path string) (*record.Record, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, hint.With(fmt.Errorf("read the study: %w", err), "give a study's directory: one that a study was run into")
	}
	defer root.Close()
	return record.Read(root.FS(), path)
}

// openTrials opens the log for appending and locks the directory.
func (d *Dir) openTrials(extra int) error {
	f, err := os.OpenFile(filepath.Join(d.Path, TrialsFile), os.O_RDWR|os.O_CREATE|os.O_APPEND|extra, 0o644)
	if err != nil {
		return fmt.Errorf("open the trials: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return hint.With(fmt.Errorf("%s is in use by another linerate", d.Path), "wait for it to end")
	}
	giveToInvoker(f)
	d.trials = f
	return nil
}

// recover reads the log and moves a torn last line aside.
func (d *Dir) recover() error {
	data, err := io.ReadAll(d.trials)
	if err != nil {
		return fmt.Errorf("read the trials: %w", err)
	}
	trials, whole, err := record.ParseTrials(d.trials.Name(), data)
	if err != nil {
		return err
	}
	d.Trials = trials
	torn := data[whole:]
	if len(torn) == 0 {
		return d.endLine(data)
	}
	d.Torn = string(torn)
	f, err := os.OpenFile(filepath.Join(d.Path, TornFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("keep the torn line: %w", err)
	}
	giveToInvoker(f)
	_, err = f.Write(append(torn, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("keep the torn line: %w", err)
	}
	if err := d.trials.Truncate(int64(whole)); err != nil {
		return fmt.Errorf("cut off the torn line: %w", err)
	}
	return d.trials.Sync()
}

// endLine adds the newline that a complete last line lacks.
func (d *Dir) endLine(data []byte) error {
	if len(data) == 0 || data[len(data)-1] == '\n' {
		return nil
	}
	if _, err := d.trials.Write([]byte{'\n'}); err != nil {
		return fmt.Errorf("end the last line: %w", err)
	}
	return d.trials.Sync()
}

// Append appends a trial to the log and returns when it is on disk.
func (d *Dir) Append(t study.Trial) error {
	line, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("write a trial: %w", err)
	}
	if len(line) > record.MaxLine {
		return fmt.Errorf("write a trial: %d bytes exceed the limit of a line (%d)", len(line), record.MaxLine)
	}
	if _, err := d.trials.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write a trial: %w", err)
	}
	if err := d.trials.Sync(); err != nil {
		return fmt.Errorf("sync the trials: %w", err)
	}
	d.Trials = append(d.Trials, t)
	return nil
}

// WriteResults atomically replaces a directory's results.json.
func WriteResults(path string, r study.Results) error {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := errors.Join(enc.Encode(r), w.Flush()); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return writeFile(path, ResultsFile, b.Bytes())
}

// KeepFacts adds an immutable snapshot of the host to the record, and returns a reference to it.
func (d *Dir) KeepFacts(f *fact.Facts) (study.FactsRef, error) {
	data, err := json.Marshal(f)
	if err != nil {
		return study.FactsRef{}, fmt.Errorf("write the facts: %w", err)
	}
	for n := 1; ; n++ {
		name := record.FactsFile(n)
		if _, err := os.Lstat(filepath.Join(d.Path, name)); err == nil {
			continue
		}
		data = append(data, '\n')
		sum := sha256.Sum256(data)
		return study.FactsRef{File: name, SHA256: hex.EncodeToString(sum[:])}, writeFile(d.Path, name, data)
	}
}

// Write creates a new directory with a record's files.
func Write(path string, files []record.File) error {
	if err := os.Mkdir(path, 0o755); err != nil {
		return notMade(err)
	}
	giveDirToInvoker(path)
	for _, f := range files {
		if filepath.Base(f.Name) != f.Name || f.Name == "." || f.Name == ".." {
			return fmt.Errorf("a record names a file %q, which cannot be a file's name", f.Name)
		}
		if err := writeFile(path, f.Name, f.Data); err != nil {
			return err
		}
	}
	return nil
}

// WriteReport atomically replaces a directory's report.html.
func WriteReport(path string, html []byte) error { return writeFile(path, ReportFile, html) }

// WritePicture atomically replaces a directory's picture.svg.
func WritePicture(path string, svg []byte) error { return writeFile(path, PictureFile, svg) }

// Close closes and unlocks the directory.
func (d *Dir) Close() error {
	if d.trials == nil {
		return nil
	}
	err := d.trials.Close()
	d.trials = nil
	return err
}

// writeFile replaces a file atomically: readers see the old or the new one.
func writeFile(dir, name string, data []byte) error {
	f, err := renameio.NewPendingFile(filepath.Join(dir, name), renameio.WithTempDir(dir), renameio.WithStaticPermissions(0o644))
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer f.Cleanup() //nolint:errcheck // nothing is left of what was renamed
	giveToInvoker(f.File)
	if _, err = f.Write(data); err == nil {
		err = f.CloseAtomicallyReplace()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// AppendTelemetry adds the data of instruments for a variant, and returns when it is on disk. It
// replaces the whole file, which has a line per variant.
func (d *Dir) AppendTelemetry(t study.Telemetry) error {
	d.Telemetry = append(d.Telemetry, t)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, t := range d.Telemetry {
		if err := enc.Encode(t); err != nil {
			return fmt.Errorf("write telemetry: %w", err)
		}
	}
	return writeFile(d.Path, record.TelemetryFile, b.Bytes())
}

// Keep writes a file of raw material next to the trials, atomically.
func (d *Dir) Keep(name string, data []byte) error {
	if filepath.Base(name) != name {
		return fmt.Errorf("keep %q: not a file's name", name)
	}
	return writeFile(d.Path, name, data)
}

// giveToInvoker gives a file created by root under sudo(8) or doas(1) to the invoking user. Errors
// are ignored: some file systems have no owners.
func giveToInvoker(f *os.File) {
	if who := cli.Invoker(); who != cli.Nobody {
		_ = f.Chown(who.UID, who.GID)
	}
}

// giveDirToInvoker is giveToInvoker for a directory just created.
func giveDirToInvoker(path string) {
	if f, err := os.Open(path); err == nil {
		giveToInvoker(f)
		f.Close()
	}
}
