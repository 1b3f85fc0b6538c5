package main

import (
	"io"

	"linerate/internal/host"
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
