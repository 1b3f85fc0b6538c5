package main

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"linerate/internal/profile"
	"linerate/internal/show"
)

const profileLong = `Convert what profilers print to pprof, for go tool pprof: pmcstat -G, dtrace's
stack(), perf script, folded stacks; each possibly compressed by gzip.`

func newProfileCmd() *cobra.Command {
	var event, out string
	cmd := &cobra.Command{
		Use:     "profile FILE",
		Short:   "convert a profiler's output to pprof",
		Long:    profileLong,
		Example: "    linerate profile forwarding.graph --out forwarding.pb.gz",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := readInput(cmd.InOrStdin(), args[0], profile.MaxBytes)
			if err != nil {
				return err
			}
			p, err := profile.ReadEvent(bytes.NewReader(data), event)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if out == "" {
				out = filepath.Base(args[0]) + ".pb.gz"
			}
			for _, n := range append([]string{p.Format + ": " + profile.WeightOf(p)}, p.Notes...) {
				fmt.Fprintln(cmd.ErrOrStderr(), show.Clean(n))
			}
			return writeFile(out, p.WritePprof)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&event, "event", "", "event to read, of a file with several (default: its first)")
	fl.StringVarP(&out, "out", "o", "", "file to write (default: FILE.pb.gz, here)")
	return cmd
}
