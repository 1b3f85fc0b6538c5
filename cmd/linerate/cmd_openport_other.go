//go:build !freebsd

package main

import "github.com/spf13/cobra"

// helpers are the commands that are not for people: none here.
func helpers() []*cobra.Command { return nil }
