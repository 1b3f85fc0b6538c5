package main

import (
	"fmt"
	"io"
	"os"

	"linerate/internal/host"
)

// readFile reads a file that the user named and that people write by hand: at
// most host.MaxFile bytes, whatever is behind the name.
func readFile(name string) ([]byte, error) { return readAtMost(name, host.MaxFile) }

func readAtMost(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return boundedOf(f, name, limit)
}

// readInput is readAtMost that takes - for standard input.
func readInput(stdin io.Reader, name string, limit int64) ([]byte, error) {
	if name == "-" {
		return boundedOf(stdin, "standard input", limit)
	}
	return readAtMost(name, limit)
}

func boundedOf(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := host.ReadBounded(r, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}
