package main

import (
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/testbeds"
	"linerate/internal/cli"
	"linerate/internal/load/remoteload"
)

// newFarEndCmd is what linerate runs of itself on the machines of a testbed.
func newFarEndCmd() *cobra.Command {
	return verb("far-end", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			if err := remoteload.RemoveProgram(args[0]); err != nil {
				return err
			}
		}
		engine, err := testbeds.EngineNamed(testbeds.AutoEngine, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		return remoteload.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), engine,
			remoteload.Hello{Version: cli.Version(), OS: runtime.GOOS, Boot: bootID()})
	})
}

// bootID names this machine's boot, "" where nothing is known of it.
func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
