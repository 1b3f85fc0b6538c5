package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
	"linerate/internal/live"
)

// leave starts the same study without this terminal, and says how it is found again.
func (f *proveFlags) leave(cmd *cobra.Command) error {
	out := f.run.out
	if out == "" {
		out = fmt.Sprintf("linerate-prove-%s-%d", time.Now().Format("20060102-150405"), os.Getpid())
	}
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	// What it was started by, but with everything answered.
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(a string) bool { return a == "--detach" || strings.HasPrefix(a, "--detach=") })
	args = append(args, "--yes", "--out", out)
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	log := out + ".log"
	how, err := live.Detach(cmd.Context(), append([]string{self}, args...), log)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "the study goes on by itself (%s)\n  what it says: %s\n  its record:   %s\n  shown by:     linerate status%s\n  ended by:     linerate study stop%s\n",
		how, log, out, f.where(cmd), f.where(cmd))
	return nil
}

// where is the host as other verbs take it, after a blank.
func (f *proveFlags) where(cmd *cobra.Command) string {
	for _, a := range cmd.Flags().Args() {
		if hosts.IsRemote(a) {
			return " " + hosts.ShellWord(a) + hosts.SSHConfigOption(f.Config)
		}
	}
	return ""
}
