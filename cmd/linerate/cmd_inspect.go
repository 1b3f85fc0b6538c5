package main

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/fact"
	"linerate/internal/fact/page"
	"linerate/internal/role"
	"linerate/internal/show"
)

// newInspectCmd shows what is known of a host.
func newInspectCmd() *cobra.Command {
	var src source
	var asJSON bool
	var file string
	cmd := &cobra.Command{
		Use:   "inspect " + sourceUse + " …",
		Short: "show a host's hardware, configuration and drop counters",
		Long: `Inspect shows a host's hardware, its configuration, and where its counters show
drops. It is read-only, needs no privileges, and lists what it could not read.

` + sourceHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			named, listed, err := hosts.Named(args, file)
			if err != nil {
				return err
			}
			src.Listed = listed
			if len(named) > 1 && !hosts.AreFiles(named) {
				return inspectMany(cmd, &src, named, asJSON)
			}
			f, err := src.Facts(cmd.Context(), named)
			if err != nil {
				return err
			}
			guess, err := role.Of(f)
			if err != nil {
				return err
			}
			return cli.Print(cmd, asJSON, hosts.Inspected{Facts: f.Shortened(), Guess: guess, Drops: f.Drops()}, func(w io.Writer) error { return page.Write(w, f, guess, cli.StyleOf(w)) })
		},
	}
	src.addFlags(cmd)
	cmd.Flags().StringVar(&file, "hosts", "", "inspect the hosts in `FILE`, one ssh://[user@]host[:port] per line")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the facts as one JSON document")
	return cmd
}

// inspectMany shows several hosts, a line each.
func inspectMany(cmd *cobra.Command, src *source, named []string, asJSON bool) error {
	results := readMany(cmd, named, func(ctx context.Context, source string) (*hosts.Inspected, error) {
		f, err := src.Facts(ctx, []string{source})
		if err != nil {
			return nil, err
		}
		guess, err := role.Of(f)
		return &hosts.Inspected{Facts: f.Shortened(), Guess: guess, Drops: f.Drops()}, err
	})
	doc := hosts.Document{Version: 1}
	table := show.Table{Header: []string{"HOST", "SYSTEM", "ROLE", "CPUS", "MEMORY", "NICS", "DROPS", ""}, Right: []bool{false, false, false, true, true, true, true}}
	for _, r := range results {
		if r.Err != nil {
			doc.Hosts = append(doc.Hosts, hosts.Failed(r.Source, r.Err, cli.AsFlag))
			table.Add(r.Source, "–", "–", "–", "–", "–", "–", hosts.About(r.Source, r.Err))
			continue
		}
		doc.Hosts = append(doc.Hosts, hosts.HostDocument{Source: r.Source, Facts: r.Got})
		f := r.Got
		table.Add(r.Source, show.Clean(strings.TrimSpace(f.OS+" "+f.Release.String())), f.Role, show.Count(f.CPU.Count),
			show.Bytes(float64(max(f.Memory.Physical, f.Memory.Real))), show.Count(ethernets(f.Facts)), show.Count(len(f.Drops)), "")
	}
	return printHosts(cmd, asJSON, doc, table, results)
}

func ethernets(f *fact.Facts) int {
	n := 0
	for _, nic := range f.NICs {
		if nic.Kind == fact.KindEthernet {
			n++
		}
	}
	return n
}
