package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/fact"
	"linerate/internal/fact/page"
	"linerate/internal/hint"
	"linerate/internal/instrument"
	"linerate/internal/role"
	"linerate/internal/show"
	"linerate/internal/sockops"
)

// newInspectCmd returns the command that shows the facts of a host.
func newInspectCmd() *cobra.Command {
	var src source
	var w sysctlWatch
	cmd := verb("inspect", cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error {
		if w != (sysctlWatch{}) {
			return w.run(cmd, &src, args)
		}
		f, err := src.Facts(cmd.Context(), args)
		if err != nil {
			return err
		}
		guess, err := role.Of(f)
		if err != nil {
			return err
		}
		return cli.Print(cmd, hosts.Inspected{Facts: f.Shortened(), Guess: guess, Drops: f.Drops()}, func(w io.Writer) error { return page.Write(w, f, guess, cli.StyleOf(w)) })
	})
	src.addFlags(cmd)
	w.addFlags(cmd)
	cli.JSONFlag(cmd)
	return cmd
}

// sysctlWatch holds the flags of inspect --watch.
type sysctlWatch struct {
	on      bool
	service string
	time    time.Duration
}

func (o *sysctlWatch) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.on, "watch", false, "on this machine (Linux, root): print who writes a sysctl, until ^C")
	f.StringVar(&o.service, "service", "", "with --watch: of the cgroup that the process `NAME` is in")
	f.DurationVar(&o.time, "time", 0, "with --watch: end after this time")
}

// watched is an observed write, with the catalogue's description of its writer.
type watched struct {
	instrument.Write
	Writer string `json:"writer,omitempty"`
	// When and Fix come from the catalogue's record of the writer.
	When string `json:"when,omitempty"`
	Fix  string `json:"fix,omitempty"`
}

// run prints each write as it happens.
func (o *sysctlWatch) run(cmd *cobra.Command, src *source, args []string) error {
	if !o.on {
		return hint.Usagef("--service and --time go with --watch")
	}
	if len(args) > 0 || src.Root != "" {
		return hint.With(hint.Usagef("--watch works only on the machine that linerate runs on"), "run it there: ssh HOST linerate inspect --watch")
	}
	rules, err := hosts.Rules()
	if err != nil {
		return err
	}
	group, err := sockops.Cgroup(o.service)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	if o.time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.time)
		defer cancel()
	}
	out, asJSON, told := cmd.OutOrStdout(), cli.AsJSON(cmd), map[string]bool{}
	ready := func() {
		fmt.Fprintf(cmd.ErrOrStderr(), "linerate: watching writes below /proc/sys by the processes in %s\n", group)
	}
	return instrument.WatchSysctls(ctx, group, ready, func(w *instrument.Write) error {
		x := watched{Write: *w}
		if by := rules.WriterOfProcess(fact.Linux, w.Programs(), w.Groups); by != nil {
			x.Writer, x.When, x.Fix = by.Name, by.When, by.Mend(fact.Line{File: "its file"})
		}
		if asJSON {
			return json.NewEncoder(out).Encode(x)
		}
		line := w.String()
		if x.Writer != "" {
			line += ": " + x.Writer
		}
		if x.Writer != "" && !told[x.Writer] {
			told[x.Writer] = true
			line += ". " + x.When + " " + x.Fix
		}
		_, err := fmt.Fprintln(out, show.Clean(line))
		return err
	})
}
