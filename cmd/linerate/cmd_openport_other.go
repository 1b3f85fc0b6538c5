//go:build !freebsd

package main

import "github.com/spf13/cobra"

// helpers returns the internal commands of this platform: none.
func helpers() []*cobra.Command { return nil }
