package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
	"linerate/internal/audit"
	"linerate/internal/cli"
	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/role"
	"linerate/internal/show"
)

// maxHosts bounds a file of hosts.
const maxHosts = 10_000

// sources are the hosts that arguments and a file of hosts name.
func sources(args []string, file string) ([]string, error) {
	out := slices.Clone(args)
	if file != "" {
		more, err := hostsFile(file)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	out = firsts(out)
	if len(out) > 1 {
		if i := slices.IndexFunc(out, func(s string) bool { return !hosts.IsRemote(s) }); i >= 0 {
			return nil, hint.With(hint.Usagef("%q is not a host over SSH", out[i]), "several sources at once are all ssh://host; read bundles and trees one by one")
		}
	}
	return out, nil
}

// firsts drops a host that is named again.
func firsts(names []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(names, func(n string) bool {
		again := seen[n]
		seen[n] = true
		return again
	})
}

// hostsFile reads one host a line; # begins a comment, ssh:// may be left out.
func hostsFile(name string) ([]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, hint.With(fmt.Errorf("hosts: %w", err), "--hosts wants a file with one ssh://[user@]host[:port] a line")
	}
	defer f.Close()
	var out []string
	sc := bufio.NewScanner(io.LimitReader(f, host.MaxFile))
	for sc.Scan() {
		line, _, _ := strings.Cut(sc.Text(), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if !hosts.IsRemote(line) {
			line = "ssh://" + line
		}
		if out = append(out, line); len(out) > maxHosts {
			return nil, fmt.Errorf("hosts: %s names more than %d", name, maxHosts)
		}
	}
	if err := sc.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("hosts: a line of %s is too long for the name of a host", name)
	} else if err != nil {
		return nil, fmt.Errorf("hosts: read %s: %w", name, err)
	}
	if len(out) == 0 {
		return nil, hint.With(fmt.Errorf("hosts: %s names none", name), "one ssh://[user@]host[:port] a line")
	}
	return out, nil
}

// hostDocument is one host in the JSON of several.
type hostDocument struct {
	Source string `json:"source"`
	// Error and Hint say why there is no document; "" where there is one.
	Error string `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`
	// Report is of an audit, Facts of an inspection.
	Report *audit.Report `json:"report,omitempty"`
	Facts  *inspected    `json:"facts,omitempty"`
}

// hostsDocument is what a verb prints of several hosts with --json.
type hostsDocument struct {
	Version int            `json:"version"`
	Hosts   []hostDocument `json:"hosts"`
}

// about is an error in words that stand beside the host's name.
func about(source string, err error) string {
	text := strings.TrimPrefix(err.Error(), source+": ")
	return show.Clean(strings.Replace(text, " on "+source+": ", ": ", 1))
}

func failedHost(source string, err error) hostDocument {
	return hostDocument{Source: source, Error: about(source, err), Hint: show.Clean(hint.Render(err, cli.AsFlag))}
}

// auditMany audits hosts side by side and prints one table.
func auditMany(cmd *cobra.Command, o *auditOptions, in audit.Input, hosts []string, floor audit.Severity) error {
	results := readMany(cmd, hosts, func(ctx context.Context, source string) (*audit.Report, error) {
		in := in // every host has facts and a role of its own
		var err error
		if in.Facts, err = o.Facts(ctx, []string{source}); err != nil {
			return nil, err
		}
		if err := giveRole(&in, o.role); err != nil {
			return nil, err
		}
		return audit.Run(in)
	})
	worst, doc, rules := 0, hostsDocument{Version: 1}, ruleCounts{}
	var log []audit.SARIFHost
	table := show.Table{Header: []string{"HOST", "SYSTEM", "ROLE", "ERRORS", "WARNINGS", "INFO", ""}, Right: []bool{false, false, false, true, true, true}}
	for _, r := range results {
		if r.err != nil {
			doc.Hosts = append(doc.Hosts, failedHost(r.source, r.err))
			table.Add(r.source, "–", "–", "–", "–", "–", about(r.source, r.err))
			continue
		}
		doc.Hosts = append(doc.Hosts, hostDocument{Source: r.source, Report: r.got})
		log = append(log, audit.SARIFHost{Report: r.got, Name: r.source})
		rules.add(r.got)
		errs, warnings := r.got.Count(audit.Error), r.got.Count(audit.Warning)
		table.Add(r.source, show.Clean(strings.TrimSpace(r.got.OS+" "+r.got.Release)), r.got.Role, show.Count(errs), show.Count(warnings-errs), show.Count(r.got.Count(audit.Info)-warnings), "")
		if floor != "" && fails(r.got, floor) {
			worst = cli.ExitFindings
		}
	}
	var err error
	if o.asSARIF {
		if err = cli.PrintJSON(cmd.OutOrStdout(), audit.ToSARIFs(cli.Version(), log...)); err == nil && len(log) < len(results) {
			err = fmt.Errorf("%s of %d could not be read, and are not in the log", show.Plural(len(results)-len(log), "host"), len(results))
		}
	} else {
		err = printHosts(cmd, o.asJSON, doc, table, results)
		if !o.asJSON {
			rules.print(cmd.OutOrStdout())
		}
	}
	if err != nil || worst == 0 {
		return err
	}
	return hint.Exit(worst)
}

// inspectMany shows several hosts, a line each.
func inspectMany(cmd *cobra.Command, src *source, hosts []string, asJSON bool) error {
	results := readMany(cmd, hosts, func(ctx context.Context, source string) (*inspected, error) {
		f, err := src.Facts(ctx, []string{source})
		if err != nil {
			return nil, err
		}
		guess, err := role.Of(f)
		return &inspected{f.Shortened(), guess, f.Drops()}, err
	})
	doc := hostsDocument{Version: 1}
	table := show.Table{Header: []string{"HOST", "SYSTEM", "ROLE", "CPUS", "MEMORY", "NICS", "DROPS", ""}, Right: []bool{false, false, false, true, true, true, true}}
	for _, r := range results {
		if r.err != nil {
			doc.Hosts = append(doc.Hosts, failedHost(r.source, r.err))
			table.Add(r.source, "–", "–", "–", "–", "–", "–", about(r.source, r.err))
			continue
		}
		doc.Hosts = append(doc.Hosts, hostDocument{Source: r.source, Facts: r.got})
		f := r.got
		table.Add(r.source, show.Clean(strings.TrimSpace(f.OS+" "+f.Release.String())), f.Role, show.Count(f.CPU.Count),
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

// printHosts prints the document or the table; hosts that could not be read
// make it an error, after all others were printed.
func printHosts[T any](cmd *cobra.Command, asJSON bool, doc hostsDocument, table show.Table, results []read[T]) error {
	w := cmd.OutOrStdout()
	var err error
	if asJSON {
		err = cli.PrintJSON(w, doc)
	} else {
		err = table.Write(w, cli.StyleOf(w))
	}
	failed := 0
	var last error
	for _, r := range results {
		if r.err != nil {
			failed++
			last = r.err
		}
	}
	if failed == 0 || err != nil {
		return err
	}
	if errors.Is(last, context.Canceled) {
		return last
	}
	unread := fmt.Errorf("%s of %d could not be read", show.Plural(failed, "host"), len(results))
	if asJSON {
		return hint.With(unread, "the document says of each why, and what to do")
	}
	advise(cmd.ErrOrStderr(), doc)
	return unread
}

// advise writes what to do about hosts that could not be read, hosts with the
// same trouble on one line.
func advise(w io.Writer, doc hostsDocument) {
	var order []string
	about := map[string][]string{}
	for _, h := range doc.Hosts {
		if h.Hint == "" {
			continue
		}
		general := strings.ReplaceAll(h.Hint, " "+strings.TrimPrefix(h.Source, "ssh://")+" ", " HOST ")
		if about[general] == nil {
			order = append(order, general)
		}
		about[general] = append(about[general], h.Source)
	}
	for _, text := range order {
		names := about[text]
		if len(names) == 1 {
			text = strings.ReplaceAll(text, " HOST ", " "+strings.TrimPrefix(names[0], "ssh://")+" ")
		}
		fmt.Fprintf(w, "hint: %s: %s\n", strings.Join(names, ", "), text)
	}
}
