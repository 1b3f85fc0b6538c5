package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"linerate/imports/netbenches"
	"linerate/imports/outputs"
	"linerate/internal/assemble/ledgers"
	"linerate/internal/cli"
	"linerate/internal/compare"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/ledger/commons"
	"linerate/internal/ledger/dump"
	"linerate/internal/show"
	"linerate/internal/study/record"
)

// importMemory is the soft memory limit of an import, in bytes.
const importMemory = 640 << 20

// importFlags are the flags of import.
type importFlags struct {
	ledger              string
	tunable, was        string // of benchmark outputs
	outputs.Measurement        // other known properties of the outputs
}

func newImportCmd() *cobra.Command {
	var f importFlags
	cmd := verb("import", cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return f.run(cmd, args)
	})
	addLedgerFlag(cmd, &f.ledger)
	fl := cmd.Flags()
	f.outputFlags(fl)
	cli.JSONFlag(cmd)
	return cmd
}

// run imports each directory or export by itself, and all outputs together.
func (f *importFlags) run(cmd *cobra.Command, args []string) error {
	whole, err := f.wholes(args)
	if err != nil {
		return err
	}
	if whole == 0 {
		return f.runOutputs(cmd, args)
	}
	if whole < len(args) || cmd.Flags().ArgsLenAtDash() >= 0 {
		return hint.Usagef("import benchmark output separately: the other paths are directories or exports of a ledger")
	}
	return ledgers.With(cmd.Context(), f.ledger, func(s ledger.Store) error {
		for _, a := range args {
			if err := f.into(cmd, s, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// wholes counts the arguments that are directories or exports of a ledger.
func (f *importFlags) wholes(args []string) (n int, err error) {
	for _, a := range args {
		info, err := os.Stat(a)
		if a == "-" || errors.Is(err, fs.ErrNotExist) {
			continue // the error is reported on reading
		}
		if err != nil {
			return 0, hint.Usage(err)
		}
		if info.IsDir() || info.Mode().IsRegular() && isDump(a) {
			n++
		}
	}
	return n, nil
}

// isDump reports whether a file begins like an export of a ledger.
func isDump(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head, _ := bufio.NewReader(file).Peek(len(`{"entry":`)) // a shorter file does not match
	return bytes.HasPrefix(head, []byte(`{"entry":`)) || bytes.HasPrefix(head, []byte(`{"end":`))
}

func (f *importFlags) into(cmd *cobra.Command, s ledger.Store, path string) error {
	if info, err := os.Stat(path); err != nil {
		return hint.Usage(err)
	} else if info.IsDir() {
		return f.directory(cmd, s, path)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	n, err := dump.Load(cmd.Context(), file, s)
	if err != nil {
		return fmt.Errorf("%s: nothing was added: %w", path, err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d entries added\n", path, n)
	return nil
}

// directory imports one study, or all studies and archives below a directory.
func (f *importFlags) directory(cmd *cobra.Command, s ledger.Store, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, commons.ChainFile)); err == nil {
		return f.commons(cmd, s, dir)
	}
	studies, archives, err := importable(dir)
	if err != nil {
		return hint.Usage(err)
	}
	if len(studies) == 1 && studies[0] == dir {
		n, err := addStudyDir(cmd.Context(), s, dir)
		if err == nil {
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", dir, map[bool]string{true: "is in the ledger already", false: "added"}[n == 0])
		}
		return err
	}
	if len(studies) == 0 && len(archives) == 0 {
		archives = []string{dir} // its error says what is missing
	}
	added := 0
	for _, p := range studies {
		n, err := addStudyDir(cmd.Context(), s, p)
		if err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "left out: %v\n", err)
		}
		added += n
	}
	if len(studies) > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s found, %d added\n", dir, counted(len(studies), "study", "studies"), added)
	}
	for _, p := range archives {
		if err := f.archive(cmd.Context(), cmd, p, s); err != nil {
			return err
		}
	}
	return nil
}

// commons imports those studies of a commons whose verdicts can be derived from their trials.
func (f *importFlags) commons(cmd *cobra.Command, s ledger.Store, dir string) error {
	all, err := commons.Read(os.DirFS(dir))
	if err != nil {
		return fmt.Errorf("%s: nothing was added: %w", dir, err)
	}
	added, refused := 0, 0
	for _, c := range all {
		n, err := 0, c.Why
		if err == nil {
			n, err = addStudyDir(cmd.Context(), s, filepath.Join(dir, c.Record))
		}
		if added += n; err != nil {
			refused++
			fmt.Fprintf(cmd.ErrOrStderr(), "refused: %s %v\n", c.Record, err)
			if h := hint.Of(err); h != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "hint: %s\n", h)
			}
		}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s found, %d added\n", dir, counted(len(all), "study", "studies"), added)
	if refused > 0 {
		return fmt.Errorf("%s: %s refused", dir, counted(refused, "study", "studies"))
	}
	return nil
}

// importable finds the studies and archives in a directory.
func importable(dir string) (studies, archives []string, err error) {
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if _, err := os.Stat(filepath.Join(p, record.SpecFile)); err == nil {
			studies = append(studies, p)
			return filepath.SkipDir
		}
		if netbenches.IsArchive(p) {
			archives = append(archives, p)
			return filepath.SkipDir
		}
		return nil
	})
	return studies, archives, err
}

// archive imports one archive of benchmarks.
func (f *importFlags) archive(ctx context.Context, cmd *cobra.Command, dir string, s ledger.Store) error {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(importMemory))
	start := time.Now()
	t, err := netbenches.List(ctx, dir)
	if err != nil {
		return err
	}
	added, of, err := netbenches.Take(ctx, s, t)
	if err != nil {
		return err
	}
	if of.Studies == 0 {
		return hint.With(fmt.Errorf("%s: none of its %s belongs to a study", dir, show.Plural(of.Files, "file")),
			"give a study's directory, or an archive laid out as github.com/ocochard/netbenches")
	}
	out := netbenches.ImportedOf(t, added, of, s.Place(), time.Since(start))
	return cli.Print(cmd, out, out.Write)
}

// outputFlags adds the flags that describe outputs beyond what the tool printed.
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

// complete sets the fields of the measurement from the flags and the named files.
func (f *importFlags) complete(cmd *cobra.Command, args []string) error {
	f.Now = time.Now()
	dash := cmd.Flags().ArgsLenAtDash()
	if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "--") }); dash >= 0 && i >= dash {
		return hint.With(hint.Usagef("%s is after --, where only files are allowed", args[i]), "put it before the files")
	}
	if dash == 0 || dash == len(args) {
		return hint.Usagef("-- separates runs without the setting from runs with it: name files on both sides")
	}
	name, value, given := strings.Cut(f.tunable, "=")
	switch {
	case f.tunable == "" && f.was != "":
		return hint.Usagef("--was %s needs --tunable", f.was)
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
