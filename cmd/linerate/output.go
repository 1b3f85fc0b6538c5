package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"linerate/internal/show"
)

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
