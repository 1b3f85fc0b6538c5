package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/accesslog"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/show"
)

// logsFlags are the flags of linerate logs.
type logsFlags struct {
	format, timeField, unit string
	status, path, host      string
	methods                 []string
	since, until            string
	bin                     time.Duration
	logBins                 bool
	under                   []time.Duration
	by                      string
	slowest, last           int
	follow, compare, asJSON bool
	svg, html               string
	seed                    uint64
	interval                time.Duration
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
  linerate logs --last 10000 --under 100ms --under 1s access.log*
  linerate logs --compare before.log after.log --html compare.html
  linerate logs --format '$remote_addr [$time_local] "$request" $status rt=$request_time' access.log`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runLogs(cmd, args, &f) },
	}
	f.register(cmd)
	cmd.AddCommand(newLogsMergeCmd())
	return cmd
}

func (f *logsFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.format, "format", "", "combined, common, json, an NGINX log_format or an Apache LogFormat (default: found from the lines)")
	fs.StringVar(&f.timeField, "time-field", "", "name of the request time in JSON lines")
	fs.StringVar(&f.unit, "unit", "", "unit of the request time: s, ms, us, ns (default: the format's)")
	fs.StringVar(&f.status, "status", "200", "select statuses: 200, 2xx, 200-299, a list, or all")
	fs.StringSliceVar(&f.methods, "method", nil, "select methods")
	fs.StringVar(&f.path, "path", "", "select paths by prefix, or by a pattern with *")
	fs.StringVar(&f.host, "host", "", "select a virtual host")
	fs.StringVar(&f.since, "since", "", "select from this time on: 2026-03-01T12:00:00Z, 2026-03-01, or 1h ago as 1h")
	fs.StringVar(&f.until, "until", "", "select up to this time")
	fs.DurationVar(&f.bin, "bin", 0, "width of a bin (default: chosen from the data; in JSON 100ms)")
	fs.BoolVar(&f.logBins, "log-bins", false, "a logarithmic axis: bins of equal ratio")
	fs.DurationSliceVar(&f.under, "under", []time.Duration{100 * time.Millisecond}, "state the share strictly under this; repeatable")
	fs.StringVar(&f.by, "by", "", "also print a table by path, status, method, host or size")
	fs.IntVar(&f.slowest, "slowest", 0, "also the N slowest requests")
	fs.IntVar(&f.last, "last", 0, "only the last N lines")
	fs.BoolVarP(&f.follow, "follow", "f", false, "go on as the log grows, through rotation, until interrupted")
	fs.DurationVar(&f.interval, "interval", 0, "with --follow: how often to print (default: 1s on a terminal, else 10s)")
	fs.BoolVar(&f.compare, "compare", false, "compare the first log with each of the others")
	fs.BoolVar(&f.asJSON, "json", false, "print one JSON document, for logs merge")
	fs.StringVar(&f.svg, "svg", "", "write the picture as SVG")
	fs.StringVar(&f.html, "html", "", "write a page: distributions, over time, by group, compared")
	fs.Uint64Var(&f.seed, "seed", 1, "seed of the intervals' bootstrap")
}

// options checks the flags and turns them into a reading.
func (f *logsFlags) options(now time.Time) (*accesslog.Options, error) {
	o := &accesslog.Options{Bin: f.bin, Under: f.under, Slow: f.slowest, Last: f.last,
		Filter: accesslog.Filter{Methods: f.methods, Path: f.path, Host: f.host}, Timeline: f.compare || f.html != ""}
	if f.bin != 0 && f.bin < time.Microsecond {
		return nil, hint.Usagef("--bin %v: a bin is at least 1µs", f.bin)
	}
	for _, u := range f.under {
		if u < time.Microsecond {
			return nil, hint.Usagef("--under %v: a threshold is at least 1µs", u)
		}
	}
	if f.last < 0 || f.slowest < 0 || f.slowest > 10000 {
		return nil, hint.Usagef("--last and --slowest count from 0 (--slowest up to 10000)")
	}
	var errs [5]error
	o.Filter.Statuses, errs[0] = accesslog.ParseStatuses(f.status)
	o.Filter.Since, errs[1] = accesslog.ParseTime(f.since, now)
	o.Filter.Until, errs[2] = accesslog.ParseTime(f.until, now)
	if f.by != "" {
		o.By, errs[3] = accesslog.ParseField(f.by)
	}
	o.Format, errs[4] = f.logFormat()
	if f.unit != "" && errs[4] == nil {
		var u accesslog.Unit
		u, errs[4] = accesslog.ParseUnit(f.unit)
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

func runLogs(cmd *cobra.Command, args []string, f *logsFlags) error {
	now := time.Now()
	o, err := f.options(now)
	if err != nil {
		return err
	}
	switch {
	case f.follow:
		return followLog(cmd, args, f, o)
	case f.compare:
		return compareLogs(cmd, args, f, now)
	}
	t, err := readLogs(cmd, args, f, o)
	if t == nil {
		return err
	}
	return errors.Join(err, f.print(cmd, []string{strings.Join(args, ", ")}, args, []*accesslog.Tally{t}, nil, now))
}

// readLogs reads with progress on a terminal. A tally beside an error is what
// could be read.
func readLogs(cmd *cobra.Command, paths []string, f *logsFlags, o *accesslog.Options) (*accesslog.Tally, error) {
	stderr := cmd.ErrOrStderr()
	var progress accesslog.Progress
	if live := cli.NewLive(stderr); live.On() && !f.asJSON {
		progress = func(done, total int64) {
			if total > 0 {
				live.Show("%s of %s", show.Bytes(float64(done)), show.Bytes(float64(total)))
			} else {
				live.Show("%s", show.Bytes(float64(done)))
			}
		}
		defer live.End()
	}
	t, note, err := accesslog.Read(cmd.Context(), paths, cmd.InOrStdin(), o, progress)
	if note != "" {
		fmt.Fprintf(stderr, "note: %s\n", note)
	}
	return t, err
}

// print writes a reading in every form that was asked for.
func (f *logsFlags) print(cmd *cobra.Command, names, sources []string, ts []*accesslog.Tally, cs []*accesslog.Comparison, now time.Time) error {
	out := cmd.OutOrStdout()
	if f.svg != "" {
		if err := writeFile(f.svg, func(w io.Writer) error {
			_, err := io.WriteString(w, ts[len(ts)-1].SVG("Request times of "+names[len(names)-1], f.logBins))
			return err
		}); err != nil {
			return err
		}
	}
	if f.html != "" {
		p := accesslog.Page{Names: names, Tallies: ts, Compared: cs, Made: now, Version: cli.Version(), Command: cli.CommandLine(cmd)}
		if err := writeFile(f.html, p.WriteHTML); err != nil {
			return err
		}
	}
	if f.asJSON {
		if cs != nil {
			return cli.PrintJSON(out, accesslog.ComparisonsOf(names, ts, cs))
		}
		return cli.PrintJSON(out, ts[0].Summary(sources))
	}
	for i, t := range ts {
		if len(ts) > 1 {
			fmt.Fprintf(out, "== %s\n", names[i])
		}
		if err := f.printOne(out, t); err != nil {
			return err
		}
	}
	for _, c := range cs {
		if err := c.WriteText(out, cli.StyleOf(out)); err != nil {
			return err
		}
	}
	for _, file := range []string{f.svg, f.html} {
		if file != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s\n", file)
		}
	}
	return nil
}

func (f *logsFlags) printOne(out io.Writer, t *accesslog.Tally) error {
	style := cli.StyleOf(out)
	errs := []error{t.WritePicture(out, style, f.logBins)}
	fmt.Fprintln(out)
	errs = append(errs, t.WriteNumbers(out, style))
	if f.by != "" {
		fmt.Fprintln(out)
		errs = append(errs, t.WriteGroups(out, style, 30))
	}
	if f.slowest > 0 {
		fmt.Fprintln(out)
		errs = append(errs, t.WriteSlowest(out, style))
	}
	fmt.Fprintln(out)
	return errors.Join(errs...)
}

func compareLogs(cmd *cobra.Command, args []string, f *logsFlags, now time.Time) error {
	if len(args) < 2 {
		return hint.With(hint.Usagef("--compare needs two logs or more"), "linerate logs --compare before.log after.log")
	}
	var ts []*accesslog.Tally
	for _, a := range args {
		o, err := f.options(now)
		if err != nil {
			return err
		}
		t, err := readLogs(cmd, []string{a}, f, o)
		if err != nil {
			return err
		}
		ts = append(ts, t)
	}
	var cs []*accesslog.Comparison
	for i, t := range ts[1:] {
		cs = append(cs, accesslog.Compare(args[0], ts[0], args[i+1], t, f.seed))
	}
	return f.print(cmd, args, args, ts, cs, now)
}

func followLog(cmd *cobra.Command, args []string, f *logsFlags, o *accesslog.Options) error {
	if len(args) != 1 || args[0] == "-" || f.compare {
		return hint.Usagef("--follow takes one file")
	}
	out := cmd.OutOrStdout()
	live := cli.IsTerminal(out) && !f.asJSON
	interval := f.interval
	if interval <= 0 {
		if interval = 10 * time.Second; live {
			interval = time.Second
		}
	}
	ctx := cmd.Context()
	t, note, err := accesslog.Follow(ctx, args[0], o, interval, func(t *accesslog.Tally) error {
		if f.asJSON {
			return nil
		}
		if live {
			show.Home(out)
			return errors.Join(t.WritePicture(out, cli.StyleOf(out), f.logBins), t.WriteNumbers(out, cli.StyleOf(out)))
		}
		_, err := fmt.Fprintf(out, "%s  %s\n", time.Now().Format(time.TimeOnly), t.Sentence())
		return err
	})
	if note != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", note)
	}
	if t == nil || err != nil {
		return err
	}
	// Being interrupted is how following ends: the account is printed.
	if err := f.print(cmd, args, args, []*accesslog.Tally{t}, nil, time.Now()); err != nil {
		return err
	}
	return context.Cause(ctx)
}

func newLogsMergeCmd() *cobra.Command {
	var asJSON, logBins bool
	cmd := &cobra.Command{
		Use:   "merge SUMMARY.json…",
		Short: "merge logs --json summaries of several hosts or days",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var parts []*accesslog.Summary
			for _, a := range args {
				s, err := readSummary(a, cmd.InOrStdin())
				if err != nil {
					return err
				}
				parts = append(parts, s)
			}
			s, t, err := accesslog.MergeSummaries(parts)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asJSON {
				return cli.PrintJSON(out, s)
			}
			if err := t.WritePicture(out, cli.StyleOf(out), logBins); err != nil {
				return err
			}
			return s.WriteNumbers(out, cli.StyleOf(out))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document, for another logs merge")
	cmd.Flags().BoolVar(&logBins, "log-bins", false, "a logarithmic axis: bins of equal ratio")
	return cmd
}

func readSummary(path string, stdin io.Reader) (*accesslog.Summary, error) {
	if path == "-" {
		return accesslog.ReadSummary("standard input", stdin)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open summary: %w", err)
	}
	defer file.Close()
	return accesslog.ReadSummary(path, file)
}
