package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/ledgers"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/ledger/dump"
	"linerate/internal/netbenches"
)

func newLedgerImportCmd() *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use:   "import DIR|FILE…",
		Short: "import study directories, or another ledger's export --all",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ledgers.With(cmd.Context(), at, func(s ledger.Store) error {
				for _, a := range args {
					if err := importInto(cmd, s, a); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	addLedgerFlag(cmd, &at)
	return cmd
}

func importInto(cmd *cobra.Command, s ledger.Store, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return hint.Usage(err)
	}
	if info.IsDir() {
		added, err := addStudyDir(cmd.Context(), s, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", path, addedText(added))
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := dump.Load(cmd.Context(), f, s)
	if err != nil {
		return fmt.Errorf("%s: nothing was added: %w", path, err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d entries added\n", path, n)
	return nil
}

func addedText(added int) string {
	if added == 0 {
		return "is in the ledger already"
	}
	return "added"
}

func newLedgerRebuildCmd() *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use:   "rebuild DIR…",
		Short: "rebuild the ledger from the studies and archives below DIR",
		Long: `Find studies' directories and benchmark archives below each DIR, and import what
the ledger lacks, compared by content. This rebuilds an empty ledger completely,
except for exclusions, which exist nowhere else: back them up with
ledger export --all.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ledgers.With(cmd.Context(), at, func(s ledger.Store) error {
				for _, dir := range args {
					if err := rebuild(cmd, s, dir); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	addLedgerFlag(cmd, &at)
	return cmd
}

// rebuild takes in everything below dir.
func rebuild(cmd *cobra.Command, s ledger.Store, dir string) error {
	var studies, archives []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return nil
		}
		if _, err := os.Stat(filepath.Join(p, "study.yaml")); err == nil {
			studies = append(studies, p)
			return filepath.SkipDir
		}
		if netbenches.IsArchive(p) {
			archives = append(archives, p)
			return filepath.SkipDir
		}
		return nil
	})
	if err != nil {
		return hint.Usage(err)
	}
	added := 0
	for _, p := range studies {
		n, err := addStudyDir(cmd.Context(), s, p)
		if err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "left out: %v\n", err)
		}
		added += n
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s found, %d added\n", dir, counted(len(studies), "study", "studies"), added)
	for _, p := range archives {
		if err := importTree(cmd.Context(), cmd, p, s, &netbenchesFlags{raw: "used"}); err != nil {
			return err
		}
	}
	return nil
}
