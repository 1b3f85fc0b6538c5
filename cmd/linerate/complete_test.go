package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestCompletionsFindTheirCommands: the completion tables name only existing commands and
// flags, so that a renamed one does not silently lose its completions.
func TestCompletionsFindTheirCommands(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		_, path, _ := strings.Cut(c.CommandPath(), " ")
		seen[path] = true
		for name := range flagCompletions {
			if c.LocalFlags().Lookup(name) != nil {
				seen[name] = true
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRootCmd())
	for path := range argCompletions {
		if !seen[path] {
			t.Errorf("no command %q to complete", path)
		}
	}
	for name := range flagCompletions {
		if !seen[name] {
			t.Errorf("no command has the flag %q", name)
		}
	}
}
