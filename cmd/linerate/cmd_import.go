package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"linerate/imports/netbenches"
	"linerate/internal/assemble"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/ledger/commons"
	"linerate/internal/ledger/dump"
	"linerate/internal/show"
	"linerate/internal/study/record"
)

// importMemory is the soft memory limit of an import, in bytes.
const importMemory = 640 << 20

func newImportCmd() *cobra.Command {
	var place string
	cmd := verb("import", cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return assemble.WithLedger(cmd.Context(), place, func(s ledger.Store) error {
			for _, a := range args {
				if err := importInto(cmd, s, a); err != nil {
					return err
				}
			}
			return nil
		})
	})
	addLedgerFlag(cmd, &place)
	cli.JSONFlag(cmd)
	return cmd
}

// importInto imports a directory, or an export of a ledger.
func importInto(cmd *cobra.Command, s ledger.Store, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return hint.Usage(err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return importDirectory(cmd, s, path)
	}
	n, err := dump.Load(cmd.Context(), file, s)
	if err != nil {
		return fmt.Errorf("%s: nothing was added: %w", path, err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d entries added\n", path, n)
	return nil
}

// importDirectory imports one study, or all studies and archives below a directory.
func importDirectory(cmd *cobra.Command, s ledger.Store, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, commons.ChainFile)); err == nil {
		return importCommons(cmd, s, dir)
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
		if err := importArchive(cmd, p, s); err != nil {
			return err
		}
	}
	return nil
}

// importCommons imports those studies of a commons whose verdicts can be derived from their trials.
func importCommons(cmd *cobra.Command, s ledger.Store, dir string) error {
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

// importArchive imports one archive of benchmarks.
func importArchive(cmd *cobra.Command, dir string, s ledger.Store) error {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(importMemory))
	start := time.Now()
	t, err := netbenches.List(cmd.Context(), dir)
	if err != nil {
		return err
	}
	added, of, err := netbenches.Take(cmd.Context(), s, t)
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
