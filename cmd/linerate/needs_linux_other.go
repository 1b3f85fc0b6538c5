//go:build !linux

package main

import (
	"errors"
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

// notHere is a verb that needs Linux.
func notHere(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short + " (Linux only)", DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return hint.With(errors.New(use+" needs Linux"), "run it on a Linux machine; every other verb works here")
		},
	}
}

func newBenchTrafficCmd() *cobra.Command {
	return notHere("traffic", "traffic engines and their peers over a veth")
}
