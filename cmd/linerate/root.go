// Command linerate replaces tuning folklore with evidence, for FreeBSD and
// Linux: it inspects and audits hosts against a catalogue of tunables, and
// proves settings in a lab with real packets.
package main

import (
	_ "embed"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/assemble"
	"linerate/internal/cli"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main without os.Exit: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cli.CollectLate()
	return cli.Run(newRootCmd(), args, stdin, stdout, stderr)
}

const rootLong = `linerate replaces tuning folklore with evidence, for FreeBSD and Linux.

    linerate audit /etc/sysctl.conf     what is wrong with a file, or this host
    linerate demo                       measure with real packets what rules cost`

// newRootCmd returns the root command. A new verb needs a section in help.txt, a line here and a
// file cmd_<verb>.go.
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

// verbGroups lists the commands in the order of the help, the most used first.
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

//go:embed help.txt
var helpText string

// verb makes a command with its texts from help.txt.
var verb = cli.Verbs(strings.NewReplacer("{bed}", assemble.Bed,
	"{source}", "SOURCE is this machine, ssh://host, a capture, --root DIR, or files of configuration\n(linerate help flags).",
	"{target}", "The host is this machine or ssh://[user@]host[:port]. Changing one needs root\n(--become sudo over SSH); nothing stays installed there.").Replace(helpText))
