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

// readFile reads a hand-written file that the user named, up to host.MaxFile bytes, whatever kind
// of file it is.
func readFile(name string) ([]byte, error) { return host.ReadFile(name, host.MaxFile) }

// readInput is like host.ReadFile, but reads standard input if name is "-".
func readInput(stdin io.Reader, name string, limit int64) ([]byte, error) {
	if name == "-" {
		return host.ReadAll(stdin, "standard input", limit)
	}
	return host.ReadFile(name, limit)
}

// findStudy reads a built-in study by name, or a user's study from a file.
func findStudy(arg string) (study.Spec, error) {
	file, data, err := readStudy(arg)
	if err != nil {
		return study.Spec{}, err
	}
	return study.Parse(file, data)
}

// unknownStudy returns the error for a name that is not a built-in study.
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

// writeFile writes a file atomically: on error the old one stays. It writes directly to what is not
// a regular file (a pipe, /dev/null).
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

// toOutput writes to a file, or to w if path is empty.
func toOutput(w io.Writer, path string, write func(io.Writer) error) error {
	if path == "" {
		return write(w)
	}
	return writeFile(path, write)
}

// counted formats a number of things whose plural is irregular.
func counted(n int, one, more string) string {
	if n != 1 {
		one = more
	}
	return show.Count(n) + " " + one
}
