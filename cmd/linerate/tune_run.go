package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/assemble/hosts"
	"linerate/internal/assemble/testbeds"
	"linerate/internal/cli"
	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/list"
	"linerate/internal/plan"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/studydir"
	"linerate/internal/testbed"
	"linerate/internal/tune"
	"linerate/internal/tune/page"
	"linerate/internal/tune/space"
)

// Files in the directory of a search, which also holds one directory per experiment.
const (
	searchFile     = "tune.yaml"
	searchPlan     = "plan.json"
	searchReport   = "report.html"
	searchDocument = "result.json"
)

// searchVersion is the format version of tune.yaml and of the output of tune --json.
const searchVersion = 3

// confirmation supplies the name under which the ledger stores confirmations.
var confirmation = tune.Experiment{Name: string(tune.Confirm)}

// tuning is a search on disk. Everything in it follows from the fields of tune.yaml.
type tuning struct {
	Version  int           `yaml:"version"`
	Question string        `yaml:"question"`
	Role     string        `yaml:"role"`
	Study    string        `yaml:"study"` // as YAML, with all defaults explicit
	Base     study.Variant `yaml:"base"`
	Space    []space.Entry `yaml:"space"`
	Seconds  float64       `yaml:"seconds"`
	Seed     uint64        `yaml:"seed"`
	// Confirmation is the number of this confirmation among those of the same question.
	Confirmation int `yaml:"confirmation"`
	// More is extra time for the guard beyond the budget, in seconds.
	More float64 `yaml:"more,omitempty"`

	path  string
	spec  study.Spec
	flags runFlags
	// bed and sets are used with machines: the testbed's file and the configuration sets.
	bed  []byte
	sets map[string][]studydir.SetFile
}

func (s *tuning) read(data []byte) (err error) {
	if err := yaml.UnmarshalWithOptions(data, s, yaml.Strict()); err != nil {
		return fmt.Errorf("read %s: %w", filepath.Join(s.path, searchFile), err)
	}
	if s.Version != searchVersion || len(space.Factors(s.Space)) == 0 || s.Seconds <= 0 {
		return hint.With(fmt.Errorf("%s is not a search by this version of linerate", filepath.Join(s.path, searchFile)), "start it again: linerate tune")
	}
	if s.spec, err = study.Parse(searchFile, []byte(s.Study)); err != nil || !s.spec.OnMachines() {
		return err
	}
	return s.gather(filepath.Join(s.path, searchFile))
}

// gather reads what a search on machines needs besides its study: the testbed's file, and the
// configuration sets that the study and the levels of the space name.
func (s *tuning) gather(studyFile string) (err error) {
	all := s.spec
	for _, e := range space.Factors(s.Space) {
		for _, l := range e.Levels {
			all.Variants = append(slices.Clip(all.Variants), study.Variant{Settings: slices.Concat(e.Base, l.Settings)})
		}
	}
	s.bed, s.sets, err = testbeds.Gather(all, studyFile)
	return err
}

func (s *tuning) write() error {
	if err := os.MkdirAll(s.path, 0o755); err != nil {
		return fmt.Errorf("make the search's directory: %w", err)
	}
	if _, err := os.Stat(filepath.Join(s.path, searchFile)); err == nil {
		return hint.With(fmt.Errorf("%s already holds a search", s.path), "linerate tune --resume %s", s.path)
	}
	if err := s.keep(); err != nil || s.bed == nil {
		return err
	}
	return s.keepMachines(&studydir.Dir{Path: s.path})
}

// keep writes tune.yaml.
func (s *tuning) keep() error {
	data, err := yaml.MarshalWithOptions(s, yaml.UseLiteralStyleIfMultiline(true))
	if err != nil {
		return fmt.Errorf("write the search: %w", err)
	}
	return s.save(searchFile, func(w io.Writer) error { _, err := w.Write(data); return err })
}

// extend gives the guard of a search more time. It does not change experiments that have run.
func (s *tuning) extend(more time.Duration) error {
	switch {
	case more == 0:
		return nil
	case more < 0 || more > longestSearch:
		return hint.Usagef("--more %s: want up to %s", more, longestSearch)
	case s.written(string(tune.Guard)):
		return hint.With(hint.Usagef("%s has measured its other metrics already", s.path), "without --more it continues as planned")
	}
	s.More = more.Seconds()
	return s.keep()
}

// keepMachines writes the testbed's file and the configuration sets to a directory.
func (s *tuning) keepMachines(dir *studydir.Dir) error {
	return errors.Join(dir.Keep(studydir.TestbedFile, s.bed), dir.KeepSets(s.sets))
}

// facts returns the facts of the tuned host: the DUT, or this machine if its own lab is used.
func (s *tuning) facts(cmd *cobra.Command) (*fact.Facts, error) {
	if !s.spec.OnMachines() {
		return (&source{}).Facts(cmd.Context(), nil)
	}
	file, err := testbed.Parse(s.spec.Testbed.File, s.bed)
	if err != nil {
		return nil, err
	}
	m := &testbeds.Machines{File: file, Config: s.flags.lab.SSHConfig, Talk: cmd.ErrOrStderr()}
	return m.FactsOf(cmd.Context(), s.spec)
}

func (s *tuning) save(name string, f func(io.Writer) error) error {
	return writeFile(filepath.Join(s.path, name), f)
}

// bench returns the study as the search's experiments use it.
func (s *tuning) bench() space.Bench {
	return space.Bench{Study: s.spec, Base: s.Base, Factors: space.Factors(s.Space), Question: s.Question, Seed: s.Seed}
}

// do runs the remaining experiments of the search and writes its result.
func (s *tuning) do(cmd *cobra.Command) error {
	var done []tune.Measured
	var plan *tune.Search
	err := whereRun(cmd.Context(), s.spec, func() (err error) {
		if plan, err = s.fit(cmd); err != nil {
			return err
		}
		bench := s.bench()
		for {
			e, ok, err := plan.Next(done)
			if err != nil || !ok {
				return err
			}
			m, err := s.experiment(cmd, bench, e, len(done))
			if err != nil {
				return err
			}
			done = append(done, m)
		}
	})
	if err != nil {
		if cmd.Context().Err() != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "all trials are kept; continue with: linerate tune --resume %s\n", s.path)
		}
		return err
	}
	r, err := plan.Result(done)
	if err != nil {
		return err
	}
	return s.end(cmd, r)
}

// experiment runs one study of the search, or its remaining trials.
func (s *tuning) experiment(cmd *cobra.Command, bench space.Bench, e tune.Experiment, n int) (tune.Measured, error) {
	spec, err := bench.Put(e)
	if err != nil {
		return tune.Measured{}, err
	}
	path := filepath.Join(s.path, e.Name)
	var dir *studydir.Dir
	if s.written(e.Name) {
		if dir, err = studydir.Open(path); err == nil {
			err = s.same(dir, spec)
		}
	} else {
		dir, err = studydir.Create(path, spec)
	}
	if err != nil {
		return tune.Measured{}, err
	}
	defer dir.Close()
	if s.spec.OnMachines() {
		if err := s.keepMachines(dir); err != nil {
			return tune.Measured{}, err
		}
	}
	if _, more := study.Next(dir.Spec, dir.Seed, dir.Trials, nil); more {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s in %s (experiment %d)\n", e.Name, show.Plural(len(e.Arms), "arm"), show.Plural(e.Blocks, "block"), n+1)
		// Studies within a search print only errors.
		quiet := &cobra.Command{}
		quiet.SetContext(cmd.Context())
		quiet.SetOut(io.Discard)
		quiet.SetErr(io.Discard)
		run := s.flags
		if err := run.conduct(quiet, dir); err != nil {
			return tune.Measured{}, err
		}
	}
	return space.Measured(e, dir.Spec, dir.Trials), nil
}

// same returns an error if the study in a directory is not the experiment that the search would run
// there: its trials would be counted for the wrong experiment.
func (s *tuning) same(dir *studydir.Dir, want study.Spec) error {
	had, err := study.Format(dir.Spec)
	if err != nil {
		return err
	}
	now, err := study.Format(want)
	if err == nil && !bytes.Equal(had, now) {
		err = errors.Join(dir.Close(), hint.With(fmt.Errorf("%s holds another study than %s gives", dir.Path, filepath.Join(s.path, searchFile)), "start the search again: linerate tune"))
	}
	return err
}

// confirmations counts the confirmations of a question in the ledger.
func confirmations(cmd *cobra.Command, f runFlags, question, name string) (n int, err error) {
	err = assemble.ReadAnyLedger(cmd.Context(), f.ledger, func(s ledger.Reader) error {
		all, err := s.Studies(cmd.Context(), ledger.Filter{Study: name})
		n = list.Count(all, func(st ledger.Study) bool { return st.Question == question && st.Name == name })
		return err
	})
	return n, err
}

// searchDocumentOf is the document that tune --json prints and that the search's directory keeps.
type searchDocumentOf struct {
	Version int `json:"version"`
	page.Report
	Directory string `json:"directory"`
	Plan      string `json:"plan,omitempty"`
}

// end writes the plan, the report and the document of a search, and prints the result.
func (s *tuning) end(cmd *cobra.Command, r tune.Result) error {
	report := page.Report{Question: s.Question, Study: s.spec.Name, Role: s.Role, Metric: s.spec.Primary().Metric, Space: s.Space,
		Confirmation: s.Confirmation, Alpha: tune.Alpha(s.Confirmation), Result: r}
	report.Fill()
	if err := s.save(searchReport, report.HTML); err != nil {
		return err
	}
	var doc bytes.Buffer
	document := searchDocumentOf{searchVersion, report, s.path, ""}
	if r.Ships != nil {
		document.Plan = filepath.Join(s.path, searchPlan)
		if err := s.plan(cmd, report); err != nil {
			return err
		}
	}
	if err := cli.PrintJSON(&doc, document); err != nil {
		return err
	}
	if err := s.save(searchDocument, func(w io.Writer) error { _, err := w.Write(doc.Bytes()); return err }); err != nil {
		return err
	}
	if cli.AsJSON(cmd) {
		_, err := cmd.OutOrStdout().Write(doc.Bytes())
		return err
	}
	if err := report.Terminal(cmd.OutOrStdout(), cli.StyleOf(cmd.OutOrStdout())); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", filepath.Join(s.path, searchReport))
	if minutes := math.Ceil(r.OpenSeconds / 60); minutes > 0 && !s.written(string(tune.Guard)) {
		fmt.Fprintf(cmd.ErrOrStderr(), "to decide on the other metrics: linerate tune --resume %s --more %.0fm\n", s.path, minutes)
	}
	if document.Plan != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "plan: linerate plan show %s\n", document.Plan)
	}
	return nil
}

// doing describes the settings of a level.
func doing(settings []study.Setting) string {
	out := list.Map(settings, func(s study.Setting) string { return s.Setting().String() })
	return strings.Join(out, "; ")
}

// plan writes the plan of the settings that ship: the effect of each, and the measured effect of
// all together.
func (s *tuning) plan(cmd *cobra.Command, report page.Report) error {
	facts, err := s.facts(cmd)
	if err != nil {
		return err
	}
	known, err := hosts.Input()
	if err != nil {
		return err
	}
	known.Role = s.Role
	r := report.Result
	whole := report.Change(r.Confirmation.Effect)
	together := fmt.Sprintf("%s against variant %s by %s (%s to %s), for %s together, in %s of study %s on %s", show.SignedPercent(whole.EffectPercent.Float()), s.Base.Name, report.Metric,
		show.SignedPercent(whole.CILow.Float()), show.SignedPercent(whole.CIHigh.Float()), show.Plural(r.Candidate.Size(), "setting"), show.Plural(r.Confirmation.Blocks, "block"), s.spec.Name, time.Now().Format(time.DateOnly))
	var gains []plan.Gain
	var left []plan.LeftAlone
	for i, f := range space.Factors(s.Space) {
		if r.Ships[i] == 0 {
			left = append(left, plan.LeftAlone{Name: f.Name, Reason: "Tried by experiment, and not shown to pay for its place."})
			continue
		}
		level := f.Levels[r.Ships[i]-1]
		gains = append(gains, plan.Gain{Name: f.Name, Value: level.Value, Do: doing(level.Settings),
			Reason:   fmt.Sprintf("A search by experiment found it: %s.", report.Own(i)),
			Evidence: plan.Evidence{Kind: plan.MeasuredHere, Text: "this setting " + report.Own(i) + "; " + together, Refs: []string{filepath.Join(s.path, string(tune.Confirm))}}})
	}
	p, err := plan.Confirmed(plan.Input{Facts: facts, Catalogue: known.Catalogue, Role: s.Role, Judge: plan.By(known)}, gains, left)
	if err != nil {
		return err
	}
	doc, err := plan.Marshal(p)
	if err != nil {
		return err
	}
	return s.save(searchPlan, func(w io.Writer) error { _, err := w.Write(doc); return err })
}

// longestSearch is the maximum duration of a search.
const longestSearch = 7 * 24 * time.Hour
