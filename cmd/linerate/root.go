package main

import (
	"github.com/spf13/cobra"

	"linerate/internal/cli"
)

const rootLong = `linerate replaces tuning folklore with evidence, for FreeBSD and Linux.

    linerate audit /etc/sysctl.conf     what is wrong with a file, or this host
    linerate demo                       measure with real packets what rules cost`

// newRootCmd wires every verb. A new verb is one line here and one
// cmd_<verb>.go.
func newRootCmd() *cobra.Command {
	root := cli.NewRoot(&cobra.Command{Use: "linerate", Short: "tuning by evidence for FreeBSD and Linux", Long: rootLong}, verbGroups(), append(helpers(), newManualCmd())...)
	root.SetVersionTemplate("{{versionText}}\n")
	completed(root)
	return root
}

// verbGroups lists the commands as help shows them: first what people come for.
func verbGroups() []cli.Group {
	return []cli.Group{
		{Title: "Look", Verbs: []*cobra.Command{newAuditCmd(), newExplainCmd(), newInspectCmd()}},
		{Title: "Change a host, with a way back", Verbs: []*cobra.Command{newPlanCmd(), newApplyCmd(), newConfirmCmd(), newRollbackCmd(), newStatusCmd()}},
		{Title: "Prove", Verbs: []*cobra.Command{newDemoCmd(), newProveCmd(), newStudyCmd(), newReportCmd(), newTuneCmd()}},
		{Title: "Many hosts", Verbs: []*cobra.Command{newFleetCmd(), newServeCmd()}},
		{Verbs: []*cobra.Command{newCaptureCmd(), newCompareCmd(), newLogsCmd(), newCalcCmd(), newMCPCmd(), newCatalogueCmd(), newLedgerCmd(), newImportCmd(), newLabCmd(), newLoadCmd(), newWorkerCmd(), newSchemaCmd(), newFarEndCmd()}},
	}
}
