package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/accesslog"
	"linerate/internal/cli"
	"linerate/internal/hint"
)

// logsFlags are the flags of linerate logs.
type logsFlags struct {
	format, timeField, unit string
	status, path            string
	since, until            string
	under                   []time.Duration
	compare, asJSON         bool
	seed                    uint64
}

func newLogsCmd() *cobra.Command {
	var f logsFlags
	cmd := &cobra.Command{
		Use:   "logs FILE…",
		Short: "show latency from a web server's access log",
		Long: `logs reads NGINX and Apache access logs and shows how long requests took: a
histogram, the share under a threshold, percentiles. It reads plain, gzip and
zstd files, rotated sets, and standard input (-). It detects the format and the
request time; --format overrides it.`,
		Example: `  linerate logs /var/log/nginx/access.log
  linerate logs --under 100ms --under 1s access.log*
  linerate logs --compare before.log after.log
  linerate logs --format '$remote_addr [$time_local] "$request" $status rt=$request_time' access.log`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.compare {
				return compareLogs(cmd, args, &f)
			}
			return showLogs(cmd, args, &f)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.format, "format", "", "combined, common, json, an NGINX log_format or an Apache LogFormat (default: found from the lines)")
	fs.StringVar(&f.timeField, "time-field", "", "name of the request time in JSON lines")
	fs.StringVar(&f.unit, "unit", "", "unit of the request time: s, ms, us, ns (default: the format's)")
	fs.StringVar(&f.status, "status", "200", "select statuses: 200, 2xx, 200-299, a list, or all")
	fs.StringVar(&f.path, "path", "", "select paths by prefix, or by a pattern with *")
	fs.StringVar(&f.since, "since", "", "select from this time on: 2026-03-01T12:00:00Z, 2026-03-01, or 1h ago as 1h")
	fs.StringVar(&f.until, "until", "", "select up to this time")
	fs.DurationSliceVar(&f.under, "under", []time.Duration{100 * time.Millisecond}, "state the share strictly under this; repeatable")
	fs.BoolVar(&f.compare, "compare", false, "compare the first log with each of the others")
	fs.BoolVar(&f.asJSON, "json", false, "print one JSON document")
	fs.Uint64Var(&f.seed, "seed", 1, "seed of the intervals' bootstrap")
	return cmd
}

// options checks the flags and turns them into a reading.
func (f *logsFlags) options(now time.Time) (*accesslog.Options, error) {
	o := &accesslog.Options{Under: f.under, Filter: accesslog.Filter{Path: f.path}, Timeline: f.compare}
	for _, u := range f.under {
		if u < time.Microsecond {
			return nil, hint.Usagef("--under %v: a threshold is at least 1µs", u)
		}
	}
	var errs [4]error
	o.Filter.Statuses, errs[0] = accesslog.ParseStatuses(f.status)
	o.Filter.Since, errs[1] = accesslog.ParseTime(f.since, now)
	o.Filter.Until, errs[2] = accesslog.ParseTime(f.until, now)
	o.Format, errs[3] = f.logFormat()
	if f.unit != "" && errs[3] == nil {
		var u accesslog.Unit
		u, errs[3] = accesslog.ParseUnit(f.unit)
		o.Unit = &u
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (f *logsFlags) logFormat() (*accesslog.Format, error) {
	name := f.format
	if name == "" && f.timeField != "" {
		name = "json"
	}
	if name == "" {
		return nil, nil
	}
	format, err := accesslog.ParseFormat(name)
	if err != nil {
		return nil, hint.Usage(err)
	}
	if f.timeField != "" {
		err = format.SetLatencyName(f.timeField, accesslog.Seconds)
	}
	return format, err
}

// readLogs reads logs as one. A tally with an error is what could be read.
func (f *logsFlags) readLogs(cmd *cobra.Command, paths []string) (*accesslog.Tally, error) {
	o, err := f.options(time.Now())
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
	t, err := f.readLogs(cmd, args)
	if t == nil {
		return err
	}
	if f.asJSON {
		return errors.Join(err, cli.PrintJSON(cmd.OutOrStdout(), t.Summary(args)))
	}
	return errors.Join(err, printLog(cmd, t))
}

func printLog(cmd *cobra.Command, t *accesslog.Tally) error {
	out := cmd.OutOrStdout()
	style := cli.StyleOf(out)
	err := t.WritePicture(out, style)
	fmt.Fprintln(out)
	err = errors.Join(err, t.WriteNumbers(out, style))
	fmt.Fprintln(out)
	return err
}

func compareLogs(cmd *cobra.Command, args []string, f *logsFlags) error {
	if len(args) < 2 {
		return hint.With(hint.Usagef("--compare needs two logs or more"), "linerate logs --compare before.log after.log")
	}
	var ts []*accesslog.Tally
	var cs []*accesslog.Comparison
	for i, a := range args {
		t, err := f.readLogs(cmd, []string{a})
		if err != nil {
			return err
		}
		if ts = append(ts, t); i > 0 {
			cs = append(cs, accesslog.Compare(args[0], ts[0], a, t, f.seed))
		}
	}
	out := cmd.OutOrStdout()
	if f.asJSON {
		return cli.PrintJSON(out, accesslog.ComparisonsOf(args, ts, cs))
	}
	for i, t := range ts {
		fmt.Fprintf(out, "== %s\n", strings.TrimSpace(args[i]))
		if err := printLog(cmd, t); err != nil {
			return err
		}
	}
	for _, c := range cs {
		if err := c.WriteText(out, cli.StyleOf(out)); err != nil {
			return err
		}
	}
	return nil
}
