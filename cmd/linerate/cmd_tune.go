package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/catalogue"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/role"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/studydir"
	"linerate/internal/tune"
	"linerate/internal/tune/space"
)

type tuneFlags struct {
	run     runFlags
	study   string
	role    string
	variant string
	file    string
	only    []string
	without []string
	budget  time.Duration
	dryRun  bool
	resume  string
	more    time.Duration
}

// newTuneCmd returns the command that searches for better settings by experiment.
func newTuneCmd() *cobra.Command {
	var f tuneFlags
	cmd := verb("tune", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return f.do(cmd) })
	flags := cmd.Flags()
	flags.StringVar(&f.study, "study", "", "study with testbed, workload and metric")
	flags.StringVar(&f.role, "role", "", "role of the host: firewall, router, web …")
	flags.StringVar(&f.variant, "variant", "", "the study's variant to tune (default: its control)")
	flags.StringVar(&f.file, "space", "", "settings to try from `FILE`, not the catalogue's")
	flags.StringSliceVar(&f.only, "only", nil, "try only these settings")
	flags.StringSliceVar(&f.without, "without", nil, "leave these settings out")
	flags.DurationVar(&f.budget, "time", 15*time.Minute, "approximate time for the trials")
	flags.BoolVarP(&f.dryRun, "dry-run", "n", false, "print the search space, with the reason for each setting")
	flags.BoolVar(&f.run.quick, "quick", false, "shorter trials, and for 3m unless --time is given")
	flags.StringVar(&f.run.out, "out", "", "directory of the search (default: linerate-tune-STUDY-TIME)")
	flags.Uint64Var(&f.run.seed, "seed", 0, "seed of the search (default: drawn)")
	flags.StringVar(&f.resume, "resume", "", "continue the interrupted search in this `DIR`")
	flags.DurationVar(&f.more, "more", 0, "with --resume: time for metrics left open")
	addLabFlags(cmd, &f.run.lab)
	cli.JSONFlag(cmd)
	addLedgerFlag(cmd, &f.run.ledger)
	return cmd
}

func (f *tuneFlags) do(cmd *cobra.Command) error {
	if f.resume != "" {
		return f.goOn(cmd)
	}
	s, err := f.prepare(cmd)
	if err != nil {
		return err
	}
	if f.dryRun {
		return cli.Answer(cmd, spaceDocument{1, s.spec.Name, s.Role, s.Base.Name, s.Space}, s.spacePage)
	}
	if len(space.Factors(s.Space)) == 0 {
		return hint.With(errors.New("the space is empty: there is nothing to try"), "--dry-run says why; --allow-host-settings, --space FILE widen it")
	}
	if s.path = f.run.out; s.path == "" {
		s.path = fmt.Sprintf("linerate-tune-%s-%s", s.spec.Name, time.Now().Format("20060102-150405"))
	}
	if s.Confirmation, err = confirmations(cmd, f.run, s.Question, s.bench().Name(confirmation)); err != nil {
		return err
	}
	s.Confirmation++
	if err := s.write(); err != nil {
		return err
	}
	return s.do(cmd)
}

// goOn resumes an interrupted search with its original parameters.
func (f *tuneFlags) goOn(cmd *cobra.Command) error {
	for _, name := range []string{"study", "role", "variant", "space", "only", "without", "time", "dry-run", "quick", "out", "seed"} {
		if cmd.Flags().Changed(name) {
			return hint.With(hint.Usagef("--%s was fixed when the search began", name), "leave it out, or begin another search")
		}
	}
	s, err := readSearch(f.resume)
	if err != nil {
		return err
	}
	s.flags = f.run
	if err := s.extend(f.more); err != nil {
		return err
	}
	return s.do(cmd)
}

// prepare sets up a search: its study, its space and its directory.
func (f *tuneFlags) prepare(cmd *cobra.Command) (*tuning, error) {
	if f.study == "" || f.role == "" {
		return nil, hint.With(hint.Usagef("tune needs a study and a role"), "such as: linerate tune --study firewall-rules --role firewall; linerate study list has the studies")
	}
	if err := role.Check(f.role); err != nil {
		return nil, err
	}
	spec, err := findStudy(f.study)
	if err != nil {
		return nil, err
	}
	if spec.OnLiveHost() {
		return nil, hint.With(hint.Usagef("study %s runs on a live host, which has one value of a setting at a time", spec.Name), "tune searches in the lab and on machines out of service; prove asks a live host about one setting")
	}
	if part, _ := spec.Part(spec.Primary().Part); study.KindOf(part) == study.KindFlows {
		return nil, hint.With(hint.Usagef("study %s runs both arms in one router, which has a single value for this setting", spec.Name), "choose one that gives each arm a router: linerate study list")
	}
	if metric, _ := study.MetricNamed(spec.Primary().Metric); metric.Share {
		return nil, hint.Usagef("study %s is decided by a share, %s: a search needs a metric with ratios", spec.Name, metric.Name)
	}
	if f.run.quick {
		spec = spec.Quick()
		if !cmd.Flags().Changed("time") {
			f.budget = 3 * time.Minute
		}
	}
	if f.budget < 10*time.Second || f.budget > longestSearch {
		return nil, hint.Usagef("--time %s: want 10s to %s", f.budget, longestSearch)
	}
	f.variant = cmp.Or(f.variant, spec.Control)
	base, ok := spec.Variant(f.variant)
	if !ok {
		known := list.Map(spec.Variants, func(v study.Variant) string { return v.Name })
		return nil, hint.Unknown("variant", f.variant, known)
	}
	s := &tuning{Version: searchVersion, Role: f.role, Base: base, Seconds: f.budget.Seconds(), Seed: f.run.seed, flags: f.run, spec: spec}
	if !cmd.Flags().Changed("seed") {
		s.Seed = uint64(rand.Uint32())
	}
	if spec.OnMachines() {
		if err := s.gather(f.study); err != nil { // the facts for the space come from the DUT
			return nil, err
		}
	}
	s.Question = fmt.Sprintf("Which settings help %s (%s) in study %s, by %s?", f.role, base.Name, spec.Name, spec.Primary().Metric)
	if s.Space, err = f.space(cmd, s); err != nil {
		return nil, err
	}
	if spec.OnMachines() {
		if err := s.gather(f.study); err != nil {
			return nil, err
		}
		s.spec.Testbed.File = studydir.TestbedFile
	}
	text, err := study.Format(s.spec)
	s.Study = string(text)
	return s, err
}

// space returns the user's search space, or the catalogue's default.
func (f *tuneFlags) space(cmd *cobra.Command, s *tuning) ([]space.Entry, error) {
	if f.file != "" {
		all, err := readSpace(f.file)
		if err != nil {
			return nil, err
		}
		if !f.run.lab.AllowHost && !s.spec.OnMachines() {
			for i := range all {
				if all[i].Shared {
					all[i].In, all[i].Why = false, "it is global to the kernel, and this search may not change host settings"
				}
			}
		}
		return all, space.Choose(all, f.only, f.without)
	}
	facts, err := s.facts(cmd)
	if err != nil {
		return nil, err
	}
	c, err := catalogue.Load()
	if err != nil {
		return nil, err
	}
	servers, err := space.Load(catalogue.Spaces())
	if err != nil {
		return nil, err
	}
	return space.Of(space.Query{Catalogue: c, Facts: facts, Role: f.role, Study: s.spec, Base: s.Base, Workloads: servers, AllowHost: f.run.lab.AllowHost, Only: f.only, Without: f.without})
}

// readSpace reads the user's search space, or returns the built-in space of placebos.
func readSpace(name string) ([]space.Entry, error) {
	if name == "placebo" {
		return space.Placebo()
	}
	data, err := readFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the space %s: %w", name, err)
	}
	return space.Parse(name, data)
}

// spaceDocument is the output of tune --dry-run --json: the search space.
type spaceDocument struct {
	Version int           `json:"version"`
	Study   string        `json:"study"`
	Role    string        `json:"role"`
	Variant string        `json:"variant"`
	Space   []space.Entry `json:"space"`
}

// spacePage lists the settings inside and outside the search space.
func (s *tuning) spacePage(p *show.Page) {
	in := len(space.Factors(s.Space))
	p.Line(fmt.Sprintf("%d of %s in the space:", in, show.Plural(len(s.Space), "setting")))
	if slices.ContainsFunc(s.Space, func(e space.Entry) bool { return strings.HasSuffix(e.Why, "may not change host settings") }) {
		p.Line("(with --allow-host-settings arms take turns with what is global; it is journalled and restored)")
	}
	for _, inside := range []bool{true, false} {
		t := show.Table{Header: []string{"SETTING", "NOW", "TO TRY", "WHY"}}
		if !inside {
			t.Header[3] = "WHY NOT"
		}
		for _, e := range s.Space {
			if e.In != inside {
				continue
			}
			values := list.Map(e.Levels, func(l space.Level) string { return l.Value })
			t.Rows = append(t.Rows, []string{e.Name, e.Now, strings.Join(values, ", "), e.Why})
		}
		if len(t.Rows) > 0 {
			p.Table(t)
			p.Line("")
		}
	}
}

func readSearch(path string) (*tuning, error) {
	data, err := readFile(filepath.Join(path, searchFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hint.With(fmt.Errorf("%s holds no search", path), "linerate tune makes such a directory; to continue a single study: linerate study resume DIR")
	}
	if err != nil {
		return nil, err
	}
	s := &tuning{path: path}
	return s, s.read(data)
}

// written reports whether the directory of a search contains an experiment.
func (s *tuning) written(name string) bool {
	_, err := os.Stat(filepath.Join(s.path, name, "study.yaml"))
	return err == nil
}

// mostTogether limits the number of parallel arms: more would take longer to set up than they save.
const mostTogether = 32

// fewestTogether is the minimum number of arms in a block: with fewer, most of it would be control.
const fewestTogether = 4

// fit adapts the search to this machine: it removes settings that the lab turns out not to support,
// and picks the number of parallel arms that gives the best precision in a given time.
func (s *tuning) fit(cmd *cobra.Command) (*tune.Search, error) {
	bench := s.bench()
	plan := &tune.Search{Levels: space.Levels(bench.Factors), Seconds: s.Seconds, PerSlot: bench.PerSlot(), Together: bench.Together(mostTogether),
		Worth: bench.Worth(), Confirmations: s.Confirmation, More: s.More, Seed: s.Seed}
	var best tune.Fitness
	for bench.SideBySide() {
		now, err := s.fits(cmd, bench, plan)
		if err != nil {
			return nil, err
		}
		better := best.Together == 0 || now.Better(best)
		if better {
			best = now
		}
		bench = s.bench()
		if plan.Levels = space.Levels(bench.Factors); len(plan.Levels) == 0 {
			return nil, hint.With(errors.New("the lab supports none of the settings of the space"), "%s has the reasons", filepath.Join(s.path, searchReport))
		}
		if now.Ample(plan.Worth) || plan.Together <= fewestTogether || !better && !now.Poor() {
			break
		}
		plan.Together = max(fewestTogether, min(plan.Together, len(plan.Levels))/2&^1) // about half as many, an even number
		fmt.Fprintf(cmd.ErrOrStderr(), "%s of the trials are valid, and arms scatter by %s: trying %s side by side\n", show.WholePercent(100*now.Valid), show.Percent(stats.Percent(now.Scatter)), show.Plural(plan.Together, "arm"))
	}
	if best.Together > 0 {
		plan.Together = best.Together
	}
	if best.Together > 0 && best.Poor() {
		return nil, hint.With(fmt.Errorf("the arms of study %s cannot be measured side by side here: %s of the trials are valid", s.spec.Name, show.WholePercent(100*best.Valid)),
			"the reports of the trials are in %s; end what else runs here, or choose a study that asks less", s.path)
	}
	return plan, nil
}

// fits tries every factor once, and removes from the space those that the lab does not support.
func (s *tuning) fits(cmd *cobra.Command, bench space.Bench, plan *tune.Search) (tune.Fitness, error) {
	var all []tune.Measured
	for _, e := range plan.Fits() {
		m, err := s.experiment(cmd, bench, e, 0)
		if err != nil {
			return tune.Fitness{}, err
		}
		plan.Seconds -= m.Seconds
		for arm, why := range m.Unavailable {
			name := bench.Factors[m.Factor(arm)].Name
			i := slices.IndexFunc(s.Space, func(e space.Entry) bool { return e.Name == name })
			s.Space[i].In, s.Space[i].Why = false, why
		}
		all = append(all, m)
	}
	return tune.FitnessOf(plan.Together, all), nil
}
