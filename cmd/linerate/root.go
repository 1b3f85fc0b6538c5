package main

import (
	"github.com/spf13/cobra"

	"linerate/internal/cli"
)

const rootLong = `linerate replaces tuning folklore with evidence, for FreeBSD and Linux.

    linerate audit /etc/sysctl.conf     what is wrong with a file, or this host
    linerate demo                       measure with real packets what rules cost`

// newRootCmd wires every verb: a new one is a section of help.txt, a line here and one
// cmd_<verb>.go.
func newRootCmd() *cobra.Command {
	hidden := append(helpers(), newManualCmd(), newFarEndCmd())
	for _, cmd := range hidden {
		cmd.Hidden = true
	}
	root := cli.NewRoot(&cobra.Command{Use: "linerate", Short: "tuning by evidence for FreeBSD and Linux", Long: rootLong}, verbGroups(), hidden...)
	root.SetVersionTemplate("{{versionText}}\n")
	completed(root)
	return root
}

// verbGroups lists the commands as help shows them: first what people come for.
func verbGroups() []cli.Group {
	plan := newPlanCmd()
	plan.AddCommand(newPlanShowCmd())
	catalogue := newCatalogueCmd()
	catalogue.AddCommand(newCatalogueSiteCmd())
	study := verb("study", nil, nil, newStudyListCmd(), newStudyShowCmd(), newStudyRunCmd(), newStudyResumeCmd(), newStudyStopCmd(), newStudyQueueCmd())
	fleet := verb("fleet", nil, nil, newFleetSweepCmd(), newFleetStatusCmd(), newFleetChangesCmd(), newFleetForgetCmd(), newFleetWaveCmd())
	ledger := verb("ledger", nil, nil, newLedgerQueryCmd(), newLedgerShowCmd(), newLedgerVerifyCmd(), newLedgerExportCmd(), newLedgerExcludeCmd())
	lab := verb("lab", nil, nil, newLabCheckCmd(), verb("lab sweep", cobra.NoArgs, func(*cobra.Command, []string) error { return sweepLabs() }))
	load := verb("load", nil, nil, newSendCmd(), newReceiveCmd())
	return []cli.Group{
		{Title: "Look", Verbs: []*cobra.Command{newAuditCmd(), newExplainCmd(), newInspectCmd()}},
		{Title: "Change a host, with a way back", Verbs: []*cobra.Command{plan, newApplyCmd(), newConfirmCmd(), newRollbackCmd(), newStatusCmd()}},
		{Title: "Prove", Verbs: []*cobra.Command{newDemoCmd(), newProveCmd(), study, newReportCmd(), newTuneCmd()}},
		{Title: "Many hosts", Verbs: []*cobra.Command{fleet, newServeCmd()}},
		{Verbs: []*cobra.Command{newCaptureCmd(), newCompareCmd(), newLogsCmd(), newCalcCmd(), newMCPCmd(), catalogue, ledger, newImportCmd(), lab, load, newWorkerCmd(), newSchemaCmd()}},
	}
}
