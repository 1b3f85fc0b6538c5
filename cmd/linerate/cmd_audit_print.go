package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
	"linerate/internal/audit"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/show"
)

// judged is what findings are held against, and from where they fail or are shown.
type judged struct {
	base        *audit.Baseline // nil: none
	floor, show audit.Severity
}

// check refuses flags that contradict each other.
func (o *auditOptions) check() error {
	forms := 0
	for _, asked := range []bool{o.asJSON, o.asSARIF, o.asNagios, o.diff || o.write != ""} {
		if asked {
			forms++
		}
	}
	switch {
	case o.asJSON && o.asSARIF:
		return hint.Usagef("--json and --sarif are two documents: choose one")
	case o.asNagios && forms > 1:
		return hint.Usagef("--nagios prints one line: omit --json, --sarif, --diff and --write")
	case o.asNagios && o.failOn != "":
		return hint.Usagef("--nagios sets the exit code itself: omit --fail-on")
	case o.record != "" && o.failOn != "":
		return hint.Usagef("--write-baseline accepts all findings: omit --fail-on, and use it later with --baseline")
	case (o.baseline != "" || o.record != "" || o.each) && (o.diff || o.write != "" || o.fixes != ""):
		return hint.Usagef("--diff, --write and --fixes need a whole host: omit --baseline, --write-baseline and --each")
	case o.each && (o.hosts != "" || o.Root != ""):
		return hint.Usagef("--each takes files: omit --hosts and --root")
	}
	return nil
}

// readBaseline reads the baseline, where there is to be one.
func (o *auditOptions) readBaseline() (*audit.Baseline, error) {
	if o.baseline == "" {
		return nil, nil
	}
	text, err := readFile(o.baseline)
	if errors.Is(err, os.ErrNotExist) {
		return nil, hint.With(fmt.Errorf("baseline: %w", err), "--write-baseline %s writes it", o.baseline)
	} else if err != nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	b, err := audit.ParseBaseline(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.baseline, err)
	}
	return &b, nil
}

// keep writes a baseline of what was found, by the names of hosts.
func (o *auditOptions) keep(of []*audit.Report, hosts []string) error {
	if o.record == "" {
		return nil
	}
	b := audit.Baseline{}
	for i, r := range of {
		b.Add(hosts[i], r)
	}
	text, err := b.Text()
	if err != nil {
		return err
	}
	return writeFile(o.record, func(w io.Writer) error { _, err := w.Write(text); return err })
}

// end holds one report against its baseline, keeps one of it, prints it, and says
// whether it fails.
func (o *auditOptions) end(cmd *cobra.Command, r *audit.Report, host string, by judged) error {
	if by.base != nil {
		by.base.Hold(host, r)
	}
	if err := o.keep([]*audit.Report{r}, []string{host}); err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if o.asNagios {
		line, code := r.Nagios()
		fmt.Fprintln(w, line)
		if code != audit.NagiosOK {
			return hint.Exit(code)
		}
		return nil
	}
	if err := o.print(w, r, by.show); err != nil {
		return err
	}
	if by.floor != "" && fails(r, by.floor) {
		return hint.Exit(cli.ExitFindings)
	}
	return nil
}

func (o *auditOptions) print(w io.Writer, r *audit.Report, show audit.Severity) error {
	switch {
	case o.asJSON:
		return cli.PrintJSON(w, r)
	case o.asSARIF:
		return cli.PrintJSON(w, audit.ToSARIFs(cli.Version(), sarifHost(r, "", o.Root)))
	}
	return r.Write(w, audit.Style{Style: cli.StyleOf(w), Floor: show})
}

// sarifHost is a report as a log has it. Files below the working directory lie in a
// tree of sources, a repository for example, whose reader wants to be led to them.
func sarifHost(r *audit.Report, name, root string) audit.SARIFHost {
	h := audit.SARIFHost{Report: r, Name: name}
	here, err := os.Getwd()
	if err != nil {
		return h
	}
	h.Sources = here
	if root == "" {
		return h
	}
	if h.Root, err = filepath.Abs(root); err != nil {
		h.Root = root
		return h
	}
	if rel, err := filepath.Rel(here, h.Root); err == nil && rel != "." && !strings.HasPrefix(rel, "..") {
		h.Prefix = filepath.ToSlash(rel)
	} else if rel == "." {
		h.Prefix = "."
	}
	return h
}

// asCheck ends as a check does: what went wrong is unknown.
func asCheck(w io.Writer, err error) error {
	var code hint.Exit
	if err == nil || errors.As(err, &code) {
		return err
	}
	text := err.Error()
	if advice := hint.Render(err, cli.AsFlag); advice != "" {
		text += " (" + advice + ")"
	}
	fmt.Fprintln(w, audit.NagiosLine("UNKNOWN", "", text))
	return hint.Exit(audit.NagiosUnknown)
}

// auditEach audits every file by itself, and prints one report of all.
func auditEach(cmd *cobra.Command, o *auditOptions, in audit.Input, files []string, by judged) error {
	if !hosts.AreFiles(files) {
		return hint.Usagef("--each takes files of configuration, by name")
	}
	var reports []*audit.Report
	for _, file := range files {
		if !hosts.IsConfiguration(file, o.OS) {
			fmt.Fprintf(cmd.ErrOrStderr(), "passed over: %s is no configuration that is known here\n", show.Clean(file))
			continue
		}
		a, err := auditOne(cmd, o, in, []string{file})
		if err != nil {
			return err
		}
		a.Close()
		a.report.Rename(a.Given)
		reports = append(reports, a.report)
	}
	return o.end(cmd, audit.Join(reports), "", by)
}
