package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"linerate/imports/benchlab"
	"linerate/internal/hint"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/internal/studydir"
	"linerate/internal/testbed"
)

// importBenchLab makes a study and a testbed of a bench-lab configuration.
func importBenchLab(cmd *cobra.Command, args []string, out string) error {
	if len(args) != 2 {
		return hint.With(hint.Usagef("--out makes a study of a bench-lab configuration and its sets"), "linerate import CONFIG CONFIGS_DIR --out DIR")
	}
	config, configs := args[0], args[1]
	data, err := readFile(config)
	if err != nil {
		return hint.With(fmt.Errorf("read the configuration: %w", err), "give bench-lab.sh's own: the file of its option -f")
	}
	c, err := benchlab.ParseConfig(config, data)
	if err != nil {
		return err
	}
	sets, notes, err := readBenchSets(configs)
	if err != nil {
		return err
	}
	t := benchlab.Translate(benchlab.VariantName(filepath.Base(filepath.Dir(filepath.Clean(configs)))), c, sets)
	if err := writeBenchLab(out, t, sets); err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "%d variants in %s, the machines in %s\n", len(t.Study.Variants), filepath.Join(out, "study.yaml"), filepath.Join(out, "testbed.yaml"))
	for _, n := range append(notes, t.Notes...) {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	fmt.Fprintf(w, "\nlook at both files, then:\n  linerate lab check %s\n  linerate study run %s --dry-run\n", filepath.Join(out, "testbed.yaml"), filepath.Join(out, "study.yaml"))
	return nil
}

// readBenchSets reads the directories of configuration sets.
func readBenchSets(dir string) (sets []benchlab.Set, notes []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, hint.With(fmt.Errorf("read the configuration sets: %w", err), "give the directory of bench-lab.sh's option -c: a directory a set")
	}
	var left []string
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		place := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(place, "dut")); err == nil {
			notes = append(notes, fmt.Sprintf("%s is for a DUT and a reference endpoint: the DUT's part was taken", e.Name()))
			place = filepath.Join(place, "dut")
		}
		files, err := studydir.ReadSet(place)
		if err != nil {
			left = append(left, fmt.Sprintf("set %s was left out: %v", e.Name(), err))
			continue
		}
		s := benchlab.Set{Name: e.Name(), Files: map[string]string{}}
		for _, f := range files {
			s.Files[f.Path] = f.Text
		}
		sets = append(sets, s)
	}
	return sets, append(notes, left...), fewSets(dir, len(sets), left)
}

// fewSets is the error for a directory with sets too few for a study.
func fewSets(dir string, sets int, left []string) error {
	switch {
	case sets > 1:
		return nil
	case len(left) > 0:
		return hint.With(hint.Usagef("of the %s in %s %d can be taken, and a study compares at least two", show.Plural(sets+len(left), "configuration set"), dir, sets), "%s", left[0])
	case sets == 1:
		return hint.With(hint.Usagef("%s holds 1 configuration set, and a study compares at least two", dir), "add a directory with the configuration set to compare with")
	}
	return hint.With(hint.Usagef("%s holds no configuration set", dir), "give the directory of bench-lab.sh's option -c: a directory a set")
}

// writeBenchLab writes the study's directory, which must not be there yet.
func writeBenchLab(out string, t benchlab.Translation, sets []benchlab.Set) error {
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		return hint.With(fmt.Errorf("%s is there already", out), "choose another --out")
	}
	bed, err := yaml.MarshalWithOptions(t.Testbed, yaml.Indent(2), yaml.IndentSequence(true))
	if err != nil {
		return err
	}
	if _, err := testbed.Parse("testbed.yaml", bed); err != nil {
		return fmt.Errorf("the configuration makes no testbed: %w", err)
	}
	text, err := study.Format(t.Study)
	if err != nil {
		return err
	}
	if _, err := study.Parse("study.yaml", text); err != nil {
		return fmt.Errorf("the configuration makes no study: %w", err)
	}
	head := "# From a bench-lab configuration.\n" + comment(t.Notes)
	files := map[string]string{"testbed.yaml": head + string(bed), "study.yaml": head + string(text)}
	for _, s := range sets {
		for path, text := range s.Files {
			files[filepath.Join("sets", s.Name, filepath.FromSlash(path))] = text
		}
	}
	for name, text := range files {
		path := filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func comment(notes []string) string {
	notes = slices.Clone(notes)
	for i, n := range notes {
		notes[i] = "# " + strings.ReplaceAll(n, "\n", " ") + "\n"
	}
	return strings.Join(notes, "")
}
