package main

import (
	"github.com/spf13/cobra"

	"linerate/internal/assemble/ledgers"
	"linerate/internal/cli"
)

// The flags that several verbs share; docs/reference/flags.md describes them.

// noLedger is the value of --ledger that keeps a study out of the ledger.
const noLedger = ledgers.None

func addLedgerFlag(cmd *cobra.Command, at *string) {
	cmd.Flags().StringVar(at, "ledger", "", "ledger: a file, postgres://… or none (default: LINERATE_LEDGER, else your state directory)")
	cli.Share(cmd, "ledger")
}

// addLabFlags adds what every verb takes that runs trials on a testbed.
func addLabFlags(cmd *cobra.Command, engine *string, allowHost *bool, sshConfig *string) {
	addEngineFlag(cmd, engine)
	addHostSettings(cmd, allowHost)
	addSSHConfig(cmd, sshConfig)
}

func addEngineFlag(cmd *cobra.Command, engine *string) {
	cmd.Flags().StringVar(engine, "engine", "auto", "traffic engine of this machine's lab: auto, xdp or af_packet")
	cli.Share(cmd, "engine")
}

func addHostSettings(cmd *cobra.Command, allow *bool) {
	cmd.Flags().BoolVar(allow, "allow-host-settings", false, "let variants change settings that are global to the kernel; they are journalled and restored")
	cli.Share(cmd, "allow-host-settings")
}

func addSSHConfig(cmd *cobra.Command, config *string) {
	cmd.Flags().StringVar(config, "ssh-config", "", "read this `FILE` instead of ~/.ssh/config")
	cli.Share(cmd, "ssh-config")
}
