package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/host"
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
