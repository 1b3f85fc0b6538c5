package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
	"linerate/internal/audit"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/show"
)

// auditMany audits hosts side by side and prints one table.
func auditMany(cmd *cobra.Command, o *auditOptions, in audit.Input, named []string, by judged) error {
	results := readMany(cmd, named, func(ctx context.Context, source string) (*audit.Report, error) {
		in := in // every host has its own facts and role
		var err error
		if in.Facts, err = o.Facts(ctx, []string{source}); err != nil {
			return nil, err
		}
		if err := giveRole(&in, o.role); err != nil {
			return nil, err
		}
		return audit.Run(in)
	})
	worst, doc, rules := 0, hosts.Document{Version: 1}, audit.RuleCounts{}
	var log []audit.SARIFHost
	var kept []*audit.Report
	var sources []string
	table := show.Table{Header: []string{"HOST", "SYSTEM", "ROLE", "ERRORS", "WARNINGS", "INFO", ""}, Right: []bool{false, false, false, true, true, true}}
	for _, r := range results {
		if r.Err != nil {
			doc.Hosts = append(doc.Hosts, hosts.Failed(r.Source, r.Err, cli.AsFlag))
			table.Add(r.Source, "–", "–", "–", "–", "–", hosts.About(r.Source, r.Err))
			continue
		}
		if by.base != nil {
			by.base.Hold(r.Source, r.Got)
		}
		kept, sources = append(kept, r.Got), append(sources, r.Source)
		doc.Hosts = append(doc.Hosts, hosts.HostDocument{Source: r.Source, Report: r.Got})
		log = append(log, hosts.SARIFHost(r.Got, r.Source, ""))
		rules.Add(r.Got)
		errs, warnings := r.Got.Count(audit.Error), r.Got.Count(audit.Warning)
		table.Add(r.Source, show.Clean(strings.TrimSpace(r.Got.OS+" "+r.Got.Release)), r.Got.Role, show.Count(errs), show.Count(warnings-errs), show.Count(r.Got.Count(audit.Info)-warnings), "")
		if by.floor != "" && fails(r.Got, by.floor) {
			worst = cli.ExitFindings
		}
	}
	err := o.keep(kept, sources)
	switch {
	case err != nil:
	case o.asSARIF:
		if err = cli.PrintJSON(cmd.OutOrStdout(), audit.ToSARIFs(cli.Version(), log...)); err == nil && len(log) < len(results) {
			err = fmt.Errorf("%s of %d could not be read, and are not in the log", show.Plural(len(results)-len(log), "host"), len(results))
		}
	default:
		err = printHosts(cmd, doc, table, results)
		if !cli.AsJSON(cmd) {
			rules.Print(cmd.OutOrStdout())
		}
	}
	if err != nil || worst == 0 {
		return err
	}
	return hint.Exit(worst)
}
