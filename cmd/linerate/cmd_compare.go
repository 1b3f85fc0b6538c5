package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/compare"
	"linerate/internal/hint"
	"linerate/internal/stats"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	in         compare.Input
	confidence float64
	margin     float64
	better     string
	failOn     string
	paired     bool
}

func newCompareCmd() *cobra.Command {
	var f compareFlags
	cmd := verb("compare", cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error {
		return runCompare(cmd, f, args)
	})
	fl := cmd.Flags()
	fl.StringVarP(&f.in.Column, "column", "C", "", "column: number or CSV heading")
	fl.StringVarP(&f.in.Delimiters, "delimiter", "d", "", "characters between columns (default blank and tab)")
	fl.Float64VarP(&f.confidence, "confidence", "c", 95, "confidence of intervals, in percent")
	fl.Float64Var(&f.margin, "margin", 0, "smallest effect that matters, in percent")
	fl.StringVar(&f.better, "better", "", "higher (the default) or lower")
	fl.StringVar(&f.failOn, "fail-on", "", "exit with 4 on this verdict or a worse one")
	fl.BoolVar(&f.paired, "paired", false, "line n of every file is block n")
	cli.JSONFlag(cmd)
	return cmd
}

func runCompare(cmd *cobra.Command, f compareFlags, args []string) error {
	opt, err := f.options()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{"-"}
	}
	r, err := f.load(cmd, args, opt)
	if err != nil {
		return err
	}
	if err := cli.Print(cmd, r.Document(), func(w io.Writer) error { return r.Print(w, cli.StyleOf(w)) }); err != nil {
		return err
	}
	return failOn(f.failOn, r.Verdicts())
}

// options validates the flags and returns the options of the comparison.
func (f compareFlags) options() (stats.Options, error) {
	o := stats.Options{Alpha: 1 - f.confidence/100, MarginPercent: f.margin, Better: stats.Direction(f.better)}
	switch {
	case !(f.confidence > 0 && f.confidence < 100):
		return o, hint.Usagef("--confidence %g is not between 0 and 100", f.confidence)
	case !(f.margin >= 0):
		return o, hint.Usagef("--margin %g is negative", f.margin)
	case f.better != "" && f.better != "higher" && f.better != "lower":
		return o, hint.Unknown("value of --better", f.better, []string{"higher", "lower"})
	}
	return o, checkFailOn(f.failOn)
}

// load reads one sample per file, or, if the arguments contain --, one from the files before it and
// one from those after it.
func (f compareFlags) load(cmd *cobra.Command, args []string, opt stats.Options) (compare.Result, error) {
	groups := make([][]string, len(args))
	for i := range args {
		groups[i] = args[i : i+1]
	}
	if dash := cmd.Flags().ArgsLenAtDash(); dash > 0 && dash < len(args) {
		groups = [][]string{args[:dash], args[dash:]}
	}
	var sides []compare.Side
	var arms []stats.Arm
	for _, names := range groups {
		var files []compare.File
		for _, name := range names {
			data, err := readInput(cmd.InOrStdin(), name, compare.MaxBytes)
			if err != nil {
				return compare.Result{}, err
			}
			if name == "-" {
				name = "<stdin>"
			}
			files = append(files, compare.File{Name: name, Data: data})
		}
		side, err := compare.ReadSide(files, f.in)
		if err != nil {
			return compare.Result{}, err
		}
		if side.Of != nil {
			for _, w := range side.Of.Warnings {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", w)
			}
		}
		sides, arms = append(sides, side), append(arms, side.Arm)
	}
	metric, better, err := compare.Agree(sides)
	if err != nil {
		return compare.Result{}, err
	}
	if opt.Better == "" {
		opt.Better = cmp.Or(better, stats.HigherIsBetter)
	}
	if metric != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "compared: %s\n", metric)
	}
	r, err := compare.Run(arms, f.paired, opt)
	r.Metric = metric
	return r, err
}
