package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"

	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/studies"
)

// readFile reads a file that the user named and that people write by hand: at
// most host.MaxFile bytes, whatever is behind the name.
func readFile(name string) ([]byte, error) { return host.ReadFile(name, host.MaxFile) }

// readInput is host.ReadFile that takes - for standard input.
func readInput(stdin io.Reader, name string, limit int64) ([]byte, error) {
	if name == "-" {
		return host.ReadAll(stdin, "standard input", limit)
	}
	return host.ReadFile(name, limit)
}

// findStudy reads a built-in study by its name or a user's by its file.
func findStudy(arg string) (study.Spec, error) {
	file, data, err := readStudy(arg)
	if err != nil {
		return study.Spec{}, err
	}
	return study.Parse(file, data)
}

// unknownStudy is the error for a name that no built-in study has.
func unknownStudy(name string) error {
	err := hint.Unknown("study", name, studies.Names())
	if hint.Of(err) == "" {
		err = hint.With(err, "linerate study list has the built-in ones; a file of your own ends in .yaml")
	}
	return err
}

func readStudy(arg string) (file string, data []byte, err error) {
	if data, err := studies.Read(arg); err == nil {
		return "studies/" + arg + ".yaml", data, nil
	}
	if !strings.HasSuffix(arg, ".yaml") && !strings.HasSuffix(arg, ".yml") {
		return "", nil, unknownStudy(arg)
	}
	data, err = readFile(arg)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, hint.With(hint.Usagef("no study file %s", arg), "built in: %s", strings.Join(studies.Names(), ", "))
	}
	if err != nil {
		return "", nil, fmt.Errorf("read study %s: %w", arg, err)
	}
	return arg, data, nil
}

// writeFile writes a file whole, or leaves the old one as it was. What is no
// file (a pipe, /dev/null) is written to and never replaced.
func writeFile(path string, write func(io.Writer) error) error {
	if at, err := os.Stat(path); err == nil && !at.Mode().IsRegular() {
		return writeTo(path, write)
	}
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer f.Cleanup() //nolint:errcheck // nothing is left of what was renamed
	if err = write(f); err == nil {
		err = f.CloseAtomicallyReplace()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func writeTo(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// toOutput writes to a file, or to w where no file is named.
func toOutput(w io.Writer, path string, write func(io.Writer) error) error {
	if path == "" {
		return write(w)
	}
	return writeFile(path, write)
}

// counted is a number of things whose plural is irregular.
func counted(n int, one, more string) string {
	if n != 1 {
		one = more
	}
	return show.Count(n) + " " + one
}
