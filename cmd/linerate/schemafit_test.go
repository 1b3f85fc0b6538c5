package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"linerate/schemas"
)

// misfits is the environment variable that names the file in which the commands of scripts
// report documents that do not satisfy their schemas.
const misfits = "LINERATE_TEST_MISFITS"

// fitSchemas validates every document that a script's commands print with --json against its
// schema.
func fitSchemas(t *testing.T, e *testscript.Env) {
	file := filepath.Join(t.TempDir(), "misfits")
	e.Setenv(misfits, file)
	e.Defer(func() {
		if text, err := os.ReadFile(file); err == nil {
			t.Errorf("documents that do not satisfy their schemas:\n%s", text)
		}
	})
}

// runChecked is run, but validates the printed documents against their schemas in scripts that
// ask for it.
func runChecked(args []string) int {
	file := os.Getenv(misfits)
	if file == "" || !slices.Contains(args, "--json") || slices.Contains(args, "--help") {
		return run(args, os.Stdin, os.Stdout, os.Stderr)
	}
	var printed bytes.Buffer
	code := run(args, os.Stdin, io.MultiWriter(os.Stdout, &printed), os.Stderr)
	if err := misfit(args, printed.Bytes()); err != nil {
		f, open := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if open == nil {
			fmt.Fprintf(f, "linerate %s: %v\n", strings.Join(args, " "), err)
			open = f.Close()
		}
		fatal(open)
	}
	return code
}

// misfit returns how a printed document violates its schema. Commands that print nothing, or
// refuse --json, pass.
func misfit(args []string, printed []byte) error {
	cmd, _, err := newRootCmd().Find(args)
	if err != nil || len(bytes.TrimSpace(printed)) == 0 {
		return nil //nolint:nilerr // the command has reported it
	}
	d := documentOf(verbOf(cmd))
	if d == nil {
		return errors.New("no schema is of it")
	}
	maker := ofDocuments(true)
	maker.Comment = nil
	n, err := maker.Of(schemas.Base+d.name, d.title, d.types...)
	if err != nil {
		return err
	}
	s, err := compile(n)
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(printed))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// TestMisfits: a missing member, an unknown one and one of the wrong type are found.
func TestMisfits(t *testing.T) {
	t.Parallel()
	good := `{"version":1,"os":"linux","release":"6.12","entries":[]}`
	for text, right := range map[string]bool{
		good: true, "": true,
		strings.Replace(good, `"version":1,`, "", 1):               false,
		strings.Replace(good, `"version":1`, `"version":"one"`, 1): false,
		strings.Replace(good, `[]`, `[],"more":1`, 1):              false,
		good + good: false, "no JSON": false,
	} {
		if err := misfit([]string{"catalogue", "--json"}, []byte(text)); (err == nil) != right {
			t.Errorf("%s: %v", text, err)
		}
	}
}
