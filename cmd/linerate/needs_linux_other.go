//go:build !linux

package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
)

// needsLinux stands for a verb that only Linux has.
func needsLinux(name, short string) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Short:              short + " (Linux only)",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return hint.With(fmt.Errorf("%s needs Linux's network namespaces and eBPF, this is %s", cmd.CommandPath(), runtime.GOOS),
				"every other verb works here: linerate --help")
		},
	}
}
