package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"linerate/internal/study"
	"linerate/internal/studydir"
)

const everyKey = "testdata/every-key.yaml"

// everyKeyElsewhere are studies with the keys that the simulated testbed does not support:
// those of servers, of machines over SSH, and of floods.
var everyKeyElsewhere = []string{"testdata/every-key-servers.yaml", "testdata/every-key-mail.yaml", "testdata/every-key-files.yaml", "testdata/every-key-machines.yaml", "testdata/every-key-flood.yaml", "testdata/every-key-live.yaml", "testdata/every-key-connections.yaml"}

// keysOf collects the YAML keys of a type and of all types that it contains.
func keysOf(t reflect.Type, into map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		keysOf(t.Elem(), into)
	case reflect.Struct:
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
			if name == "" || name == "-" {
				continue
			}
			into[name] = true
			keysOf(t.Field(i).Type, into)
		}
	}
}

// TestAStudyOfEveryKey: together the files use every key of the format. The router study is
// read, run on the simulated testbed and reported; the others are read and their schedules
// printed.
func TestAStudyOfEveryKey(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(everyKey)
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Clone(text)
	for _, file := range everyKeyElsewhere {
		more, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, more...)
		runLinerate(t, nil, "study", "run", file, "--dry-run")
	}
	keys := map[string]bool{}
	keysOf(reflect.TypeFor[study.Spec](), keys)
	for key := range keys {
		if !regexp.MustCompile(`(?m)(^|[ {-])` + key + `:`).Match(all) {
			t.Errorf("no study of the tests has the key %s: add it to %s or a file beside it", key, everyKey)
		}
	}
	s, err := study.Parse(everyKey, text)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	runLinerate(t, []string{"SIMULATED=1"}, "study", "run", everyKey, "--out", out, "--ledger=none", "--allow-host-settings")
	everyPart(t, s, out)
}

// runLinerate runs the test binary as linerate.
func runLinerate(t *testing.T, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command("linerate", args...)
	cmd.Env = append(os.Environ(), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// everyPart checks a record against its study: each variant was tried in each part, or is
// unavailable with a reason.
func everyPart(t *testing.T, s study.Spec, out string) {
	t.Helper()
	rec, err := studydir.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	tried, gone := map[[2]string]bool{}, map[string]bool{}
	for _, tr := range rec.Trials {
		tried[[2]string{tr.Part, tr.Variant}] = true
		gone[tr.Variant] = gone[tr.Variant] || tr.Unavailable != ""
	}
	for _, p := range s.Parts {
		for _, v := range s.Variants {
			if !tried[[2]string{p.Name, v.Name}] && !gone[v.Name] {
				t.Errorf("variant %s was never tried in part %s", v.Name, p.Name)
			}
		}
	}
	if gone[s.Control] {
		t.Error("the control is unavailable")
	}
	if len(rec.Results().Curves) == 0 {
		t.Error("the sweeps produced no curves")
	}
	if page, err := os.ReadFile(filepath.Join(out, "report.html")); err != nil || !strings.Contains(string(page), ">Curves</h2>") {
		t.Errorf("the report shows no curves: %v", err)
	}
}
