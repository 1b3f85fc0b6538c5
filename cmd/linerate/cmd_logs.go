package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/accesslog"
	"linerate/internal/cli"
	"linerate/internal/document"
	"linerate/internal/hint"
)

// logsFlags are the flags of linerate logs.
type logsFlags struct {
	format, unit, status, path string
	under                      []time.Duration
	compare                    bool
}

func newLogsCmd() *cobra.Command {
	var f logsFlags
	cmd := verb("logs", cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error {
		if f.compare {
			return compareLogs(cmd, args, &f)
		}
		return showLogs(cmd, args, &f)
	})
	fs := cmd.Flags()
	fs.StringVar(&f.format, "format", "", "combined, common, json, json:NAME of the request time, an NGINX log_format or an Apache LogFormat (default: found from the lines)")
	fs.StringVar(&f.unit, "unit", "", "unit of the request time: s, ms, us, ns (default: the format's)")
	fs.StringVar(&f.status, "status", "200", "select statuses: 200, 2xx, 200-299, a list, or all")
	fs.StringVar(&f.path, "path", "", "select paths by prefix")
	fs.DurationSliceVar(&f.under, "under", []time.Duration{100 * time.Millisecond}, "state the share strictly under this; repeatable")
	fs.BoolVar(&f.compare, "compare", false, "compare the first log with each of the others")
	cli.JSONFlag(cmd)
	return cmd
}

// options validates the flags and returns the options for reading logs.
func (f *logsFlags) options() (*accesslog.Options, error) {
	o := &accesslog.Options{Under: f.under, Filter: accesslog.Filter{Path: f.path}, Timeline: f.compare}
	for _, u := range f.under {
		if u < time.Microsecond {
			return nil, hint.Usagef("--under %v: the threshold must be at least 1µs", u)
		}
	}
	var errs [3]error
	o.Filter.Statuses, errs[0] = accesslog.ParseStatuses(f.status)
	if f.format != "" {
		o.Format, errs[1] = accesslog.ParseFormat(f.format)
	}
	if f.unit != "" {
		o.Unit, errs[2] = accesslog.ParseUnit(f.unit)
	}
	for _, err := range errs {
		if err != nil {
			return nil, hint.Usage(err)
		}
	}
	return o, nil
}

// read reads all logs into one tally. With an error, the tally covers what could be read.
func (f *logsFlags) read(cmd *cobra.Command, paths []string) (*accesslog.Tally, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	t, note, err := accesslog.Read(cmd.Context(), paths, cmd.InOrStdin(), o)
	if note != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", note)
	}
	return t, err
}

func showLogs(cmd *cobra.Command, args []string, f *logsFlags) error {
	t, err := f.read(cmd, args)
	if t == nil {
		return err
	}
	if cli.AsJSON(cmd) {
		return errors.Join(err, cli.PrintJSON(cmd.OutOrStdout(), t.Summary(args)))
	}
	name := args[0]
	if len(args) > 1 {
		name = fmt.Sprintf("%s and %d more", name, len(args)-1)
	}
	out := cmd.OutOrStdout()
	return errors.Join(err, t.Document(name).Terminal(out, cli.StyleOf(out)))
}

func compareLogs(cmd *cobra.Command, args []string, f *logsFlags) error {
	if len(args) < 2 {
		return hint.With(hint.Usagef("--compare needs two logs or more"), "linerate logs --compare before.log after.log")
	}
	var ts []*accesslog.Tally
	var cs []*accesslog.Comparison
	for i, a := range args {
		t, err := f.read(cmd, []string{a})
		if err != nil {
			return err
		}
		if ts = append(ts, t); i > 0 {
			cs = append(cs, accesslog.Compare(args[0], ts[0], a, t))
		}
	}
	out := cmd.OutOrStdout()
	if cli.AsJSON(cmd) {
		return cli.PrintJSON(out, accesslog.ComparisonsOf(args, ts, cs))
	}
	var docs []document.Document
	for i, t := range ts {
		docs = append(docs, t.Document(args[i]))
	}
	for _, c := range cs {
		docs = append(docs, c.Document())
	}
	for _, d := range docs {
		if err := d.Terminal(out, cli.StyleOf(out)); err != nil {
			return err
		}
	}
	return nil
}
