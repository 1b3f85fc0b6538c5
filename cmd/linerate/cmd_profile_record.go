package main

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/instrument"
	"linerate/internal/profile"
	"linerate/internal/show"
)

const profileRecordLong = `Sample CPUs of this Linux machine through perf_event_open(2), without perf(1),
and name the kernel's functions by /proc/kallsyms: where the packets' time goes.
Time in user programs is one frame, [user]. It needs root, or CAP_PERFMON and
CAP_SYSLOG. Sampling disturbs: record in runs of their own.`

// newProfileRecordCmd takes a profile of this machine.
func newProfileRecordCmd() *cobra.Command {
	var o instrument.RecordOptions
	var seconds float64
	var out string
	var top int
	cmd := &cobra.Command{
		Use:     "record",
		Short:   "sample the CPUs of this machine (Linux)",
		Long:    profileRecordLong,
		Example: "    linerate profile record --cpu 1 --seconds 10 -o router.html",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if seconds <= 0 || seconds > 3600 {
				return hint.Usagef("--seconds %g is not between 0 and 3600", seconds)
			}
			o.Time = time.Duration(seconds * float64(time.Second))
			if out != "" { // refused now, not after the samples were taken
				if _, err := (profile.Picture{After: &profile.Profile{}}).Writer(out); err != nil {
					return err
				}
			}
			p, err := instrument.Record(cmd.Context(), o)
			if err != nil {
				return err
			}
			if err := writeProfile(out, profile.Picture{Title: filepath.Base(out), After: p}); err != nil {
				return err
			}
			return cli.Answer(cmd, false, nil, func(pg *show.Page) { profile.Named{File: "this machine", Profile: p}.Print(pg, top) })
		},
	}
	fl := cmd.Flags()
	fl.IntSliceVar(&o.CPUs, "cpu", nil, "CPUs to sample (default: all)")
	fl.Float64Var(&seconds, "seconds", 10, "how long")
	fl.IntVar(&o.Hertz, "hertz", 997, "samples per second of each CPU")
	fl.StringVarP(&out, "out", "o", "", "write .svg, .html, .pb.gz or .folded to this file")
	fl.IntVarP(&top, "top", "n", 20, "how many functions to print")
	return cmd
}

// writeProfile writes a picture in the form that the file's name asks for; "" is no file.
func writeProfile(name string, pic profile.Picture) error {
	if name == "" {
		return nil
	}
	write, err := pic.Writer(name)
	if err != nil {
		return err
	}
	return writeFile(name, write)
}
