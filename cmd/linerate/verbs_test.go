package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/show"
)

// verbs lists the commands.
func verbs() []*cobra.Command {
	var all []*cobra.Command
	for _, g := range verbGroups() {
		all = append(all, g.Verbs...)
	}
	return all
}

// TestEveryVerbHasScripts: each verb has a script in which it succeeds, and one in which it
// refuses its input.
func TestEveryVerbHasScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, verb := range verbs() {
		for what, line := range map[string]string{"works": `^(\[[a-z:!]+\] )*exec (sh -c '|ip netns exec \S+ )?linerate `, "refuses": `^(\[[a-z:!]+\] )*! exec (sh -c '|ip netns exec \S+ )?linerate `} {
			if !regexp.MustCompile(`(?m)` + line + verb.Name() + `\b`).MatchString(all.String()) {
				t.Errorf("no script in testdata in which %s %s", verb.Name(), what)
			}
		}
	}
}

// TestEveryCommandRefusesUnknownFlags: every command exits with code 2, names the flag and where
// to find help, and writes nothing to stdout.
func TestEveryCommandRefusesUnknownFlags(t *testing.T) {
	var walk func(path []string, c *cobra.Command)
	walk = func(path []string, c *cobra.Command) {
		path = append(path[:len(path):len(path)], c.Name())
		var out, errs bytes.Buffer
		code := run(append(path, "--no-such-flag"), strings.NewReader(""), &out, &errs)
		if code != cli.ExitUsage || out.Len() > 0 || !strings.Contains(errs.String(), "--no-such-flag") || !strings.Contains(errs.String(), "hint: ") {
			t.Errorf("linerate %s --no-such-flag: exit %d, stdout %q, stderr %q", strings.Join(path, " "), code, out.String(), errs.String())
		}
		for _, sub := range c.Commands() {
			walk(path, sub)
		}
	}
	for _, verb := range verbs() {
		walk(nil, verb)
	}
}

// TestEveryCommandSaysWhatItDoes: help describes the command and, if it has no subcommands, how
// it is used; only example commands may exceed 80 columns.
func TestEveryCommandSaysWhatItDoes(t *testing.T) {
	var walk func(path []string, c *cobra.Command)
	walk = func(path []string, c *cobra.Command) {
		path = append(path[:len(path):len(path)], c.Name())
		if c.Short == "" || c.Use == "" {
			t.Errorf("%s: no help", c.CommandPath())
		}
		var out, errs bytes.Buffer
		if code := run(append(path, "--help"), strings.NewReader(""), &out, &errs); code != cli.ExitOK {
			t.Errorf("linerate %s --help: exit %d, %s", strings.Join(path, " "), code, errs.String())
		}
		if lines := strings.Count(out.String(), "\n"); lines > 40 {
			t.Errorf("linerate %s --help: %d lines do not fit on a screen", strings.Join(path, " "), lines)
		}
		for line := range strings.Lines(out.String()) {
			if line = strings.TrimRight(line, "\n"); show.Width(line) > show.DefaultWidth && !strings.HasPrefix(strings.TrimLeft(line, " "), "linerate ") {
				t.Errorf("linerate %s --help: wider than the page: %s", strings.Join(path, " "), line)
			}
		}
		for _, sub := range c.Commands() {
			walk(path, sub)
		}
	}
	for _, verb := range verbs() {
		walk(nil, verb)
	}
}
