package main

import (
	"github.com/spf13/cobra"

	"linerate/internal/cli"
)

const rootLong = `linerate replaces tuning folklore with evidence, for FreeBSD and Linux.

Prove a setting with real packets on this machine:
    linerate demo`

// newRootCmd wires every verb. A new verb is one line here and one
// cmd_<verb>.go.
func newRootCmd() *cobra.Command {
	root := cli.NewRoot(&cobra.Command{Use: "linerate", Short: "tuning by evidence for FreeBSD and Linux", Long: rootLong}, verbGroups(), append(helpers(), newManualCmd())...)
	root.SetVersionTemplate("{{versionText}}\n")
	completed(root)
	return root
}

// verbGroups lists the commands as help shows them.
func verbGroups() []cli.Group {
	return []cli.Group{
		{Title: "Prove", Verbs: []*cobra.Command{newDemoCmd(), newProveCmd(), newTuneCmd(), newStudyCmd(), newReportCmd(), newCompareCmd(), newProfileCmd(), newLabCmd(), newWorkerCmd()}},
		{Title: "Tune a host", Verbs: []*cobra.Command{
			newInspectCmd(), newCaptureCmd(), newAuditCmd(), newPlanCmd(),
			newApplyCmd(), newConfirmCmd(), newRollbackCmd(), newStatusCmd(),
		}},
		{Title: "Tune a fleet", Verbs: []*cobra.Command{newFleetCmd()}},
		{Title: "Look up", Verbs: []*cobra.Command{newExplainCmd(), newCatalogueCmd(), newCalcCmd(), newLedgerCmd(), newImportCmd(), newServeCmd()}},
		{Title: "Load and measure", Verbs: []*cobra.Command{newLoadCmd(), newLogsCmd()}},
		{Title: cli.AboutItself, Verbs: []*cobra.Command{newSchemaCmd(), newFarEndCmd()}},
	}
}
