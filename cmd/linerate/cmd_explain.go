package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"linerate/catalogue"
	"linerate/internal/assemble"
	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/evidence"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/list"
	"linerate/internal/show"
	"linerate/internal/tunable"
	"linerate/internal/tunable/explain"
)

// explainOptions are the flags of explain.
type explainOptions struct {
	source
	value  string
	ledger string
}

func newExplainCmd() *cobra.Command {
	var o explainOptions
	cmd := verb("explain", cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error { return runExplain(cmd, o, args) })
	o.source.addFlags(cmd)
	cmd.Flags().Lookup("release").Usage = "the `RELEASE`, such as 14.3"
	cmd.Flags().Lookup("os").Usage = "freebsd or linux (default the one that has the name)"
	cmd.Flags().StringVar(&o.value, "value", "", "check this value")
	addLedgerFlag(cmd, &o.ledger)
	cli.JSONFlag(cmd)
	return cmd
}

func runExplain(cmd *cobra.Command, o explainOptions, args []string) error {
	words, from := splitSource(args)
	name := strings.Join(words, " ")
	if strings.TrimSpace(name) == "" {
		return hint.With(hint.Usagef("no name to explain"), "explain NAME, such as net.ipv4.tcp_rmem; part of a name lists what has it")
	}
	rel, err := releaseFlag(o.Release)
	if err != nil {
		return err
	}
	c, err := catalogue.Load()
	if err != nil {
		return err
	}
	var facts *fact.Facts
	if from != nil || o.Root != "" {
		if facts, err = o.Facts(cmd.Context(), from); err != nil {
			return err
		}
		o.OS, rel = facts.OS, facts.Release
	}
	if o.OS == "" && !rel.IsZero() {
		o.OS = osOfRelease(rel)
	}
	if err := checkRelease(cmd, c, o.OS, rel, "page", facts == nil); err != nil {
		return err
	}
	r, err := c.Find(o.OS, name)
	if err != nil {
		return explainUnknown(cmd, c, o, name, rel, err)
	}
	here := facts == nil && rel.IsZero() && r.OS == runtime.GOOS
	var host *evidence.Host
	if here {
		facts := hosts.Here(cmd.Context())
		rel, host = facts.Release, &evidence.Host{Facts: facts}
	}
	p, err := pageOf(c, r, name, rel, o.value, facts)
	if err != nil {
		return err
	}
	p.Here, p.For = here && !rel.IsZero(), host
	rules, err := hosts.Rules()
	if err != nil {
		return err
	}
	p.AddWriters(rules)
	if facts != nil {
		if err := o.onHost(cmd, r, facts, from, &p); err != nil {
			return err
		}
	}
	if err := assemble.ExplainFromLedger(cmd.Context(), o.ledger, c, r, &p, doubting(cmd)); err != nil {
		return err
	}
	return cli.Print(cmd, p, func(w io.Writer) error { return p.Text(w, cli.StyleOf(w)) })
}

// pageOf returns the explanation of a tunable on a release, and the findings of an audit about
// value unless it is empty.
func pageOf(c *tunable.Catalogue, r *tunable.Record, name string, rel release.Release, value string, f *fact.Facts) (explain.Page, error) {
	p := explain.Of(c, r, name, rel)
	if value == "" {
		return p, nil
	}
	p.Judge(r, rel, value)
	var err error
	p.Value.Findings, err = hosts.OfValue(f, r, rel, name, value)
	return p, err
}

// splitSource splits the arguments into the name and the SOURCE after it: a host over SSH, or
// existing files.
func splitSource(args []string) (words, from []string) {
	at := len(args)
	for at > 1 {
		if info, err := os.Stat(args[at-1]); !hosts.IsRemote(args[at-1]) && (err != nil || !info.Mode().IsRegular()) {
			break
		}
		at--
	}
	if at == len(args) {
		return args, nil
	}
	return args[:at], args[at:]
}

// onHost adds to a page the judgement of the tunable on a host.
func (o explainOptions) onHost(cmd *cobra.Command, r *tunable.Record, f *fact.Facts, from []string, p *explain.Page) error {
	measured, err := assemble.LedgerEvidence(cmd.Context(), o.ledger, doubting(cmd))
	if err != nil {
		return err
	}
	j, err := hosts.Judge(f, measured)
	if err == nil {
		p.AddHost(j, r, strings.Join(append(from, o.Root), ""))
	}
	return err
}

// explainUnknown explains a name that is not a tunable of the catalogue: by a search for its words,
// and by studies that measured it. Studies can set an nginx directive, a Postfix parameter or a
// mount option, which no catalogue describes.
func explainUnknown(cmd *cobra.Command, c *tunable.Catalogue, o explainOptions, name string, rel release.Release, unknown error) error {
	lines, err := assemble.LedgerLines(cmd.Context(), o.ledger, name, doubting(cmd))
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if !strings.ContainsAny(name, "./:") {
		err := searchTunables(cmd, c, o, name, rel, unknown)
		if len(lines) == 0 || cli.AsJSON(cmd) && err == nil {
			return err
		}
		if err == nil {
			fmt.Fprintln(w)
		}
	}
	switch {
	case len(lines) == 0:
		return unknown
	case cli.AsJSON(cmd):
		return cli.PrintJSON(w, unlistedDocument{1, name, nil, lines})
	}
	fmt.Fprintf(w, "%s is a setting of studies in your ledger; the catalogue has no page about it.\n\n", show.Clean(name))
	return printEvidence(w, lines)
}

// unlistedDocument is the output of explain --json for a name that studies set but that is not in
// the catalogue.
type unlistedDocument struct {
	Version  int           `json:"version"`
	Name     string        `json:"name"`
	Tunable  *struct{}     `json:"tunable"`
	Evidence []ledger.Line `json:"evidence"`
}

// mostFound is the maximum number of tunables that a search shows.
const mostFound = 20

// searchTunables prints the tunables that match the words, or returns unknown if there are none.
func searchTunables(cmd *cobra.Command, c *tunable.Catalogue, o explainOptions, words string, rel release.Release, unknown error) error {
	found := c.Search(o.OS, words, mostFound)
	if len(found) == 0 {
		return unknown
	}
	entries := list.Map(found, func(m tunable.Match) tunable.Entry { return m.Record.Entry(rel) })
	t := show.Table{Header: []string{"OS", "NAME", "WHAT IT DOES"}}
	for i, m := range found {
		t.Add(entries[i].OS, entries[i].Name, firstSentence(m.Record.Summary))
	}
	return cli.Print(cmd, listDocument{1, o.OS, o.Release, entries}, func(w io.Writer) error { return t.Write(w, cli.StyleOf(w)) })
}

// firstSentence returns the first sentence of a summary; a dot inside a name does not end it.
func firstSentence(s string) string {
	for _, end := range []string{". ", "; "} {
		s, _, _ = strings.Cut(s, end)
	}
	return strings.TrimSuffix(s, ".")
}
