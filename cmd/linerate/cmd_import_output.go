package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/imports/outputs"
	"linerate/internal/assemble/ledgers"
	"linerate/internal/cli"
	"linerate/internal/compare"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/show"
)

// outputFlags say what is known of others' runs besides what their tool printed.
func (f *importFlags) outputFlags(fl *pflag.FlagSet) {
	fl.StringVar(&f.tunable, "tunable", "", "setting of the runs after --, as `NAME=VALUE`")
	fl.StringVar(&f.was, "was", "", "its `VALUE` in the runs before -- (default: the system's default)")
	fl.StringVar(&f.By, "by", "", "`NAME` of who measured it")
	fl.StringVar(&f.Host, "host", "", "name of the machine")
	fl.StringVar(&f.OS, "os", "", "freebsd or linux")
	fl.StringVar(&f.Release, "release", "", "the system's release")
	fl.StringVar(&f.CPU, "cpu", "", "the processor")
	fl.StringVar(&f.Workload, "workload", "", "offered load, in words")
	fl.StringVar(&f.Question, "question", "", "question of the study, in words")
	fl.StringVarP(&f.Column, "column", "C", "", "which number, where a file has several")
}

// runOutputs imports what benchmarks printed.
func (f *importFlags) runOutputs(cmd *cobra.Command, args []string) error {
	if err := f.complete(cmd, args); err != nil {
		return err
	}
	got, err := outputs.Take(f.Measurement)
	if err != nil {
		return err
	}
	for _, side := range got.Sides {
		for _, w := range side.Of.Warnings {
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", show.Clean(w))
		}
	}
	out := got.Document()
	err = ledgers.With(cmd.Context(), f.ledger, func(s ledger.Store) error {
		out.Ledger = s.Place()
		added, err := s.Append(cmd.Context(), got.Batch)
		out.Known = added == 0
		return err
	})
	if err != nil {
		return err
	}
	return cli.Answer(cmd, out, out.Print)
}

// complete reads the files and what the flags say of them.
func (f *importFlags) complete(cmd *cobra.Command, args []string) error {
	f.Now = time.Now()
	dash := cmd.Flags().ArgsLenAtDash()
	if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "--") }); dash >= 0 && i >= dash {
		return hint.With(hint.Usagef("%s is after --, where only files are allowed", args[i]), "put it before the files")
	}
	if dash == 0 || dash == len(args) {
		return hint.Usagef("-- parts runs as it was from runs with the setting: name files on both sides of it")
	}
	name, value, given := strings.Cut(f.tunable, "=")
	switch {
	case f.tunable == "" && f.was != "":
		return hint.Usagef("--was %s of what? --tunable names it", f.was)
	case f.tunable == "":
	case !given || name == "":
		return hint.With(hint.Usagef("--tunable %s has no value", f.tunable), "--tunable %s=VALUE", f.tunable)
	case dash < 0:
		return hint.With(hint.Usagef("--tunable wants runs without the setting and runs with it"), "linerate import --tunable %s BEFORE… -- AFTER…", f.tunable)
	}
	f.Tunable, f.After, f.Before = name, value, f.was
	for i, arg := range args {
		data, err := readInput(cmd.InOrStdin(), arg, compare.MaxBytes)
		if err != nil {
			return err
		}
		file := compare.File{Name: arg, Data: data}
		if dash >= 0 && i >= dash {
			f.Variant = append(f.Variant, file)
		} else {
			f.Control = append(f.Control, file)
		}
	}
	return nil
}
