package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/assemble/hosts"
	"linerate/internal/capture"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/host/filehost"
	"linerate/internal/host/sshhost"
)

// newCaptureCmd returns the command that captures a host in a bundle.
func newCaptureCmd() *cobra.Command {
	var out string
	var script bool
	var far hosts.Remote
	cmd := verb("capture", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		if script {
			_, err := fmt.Fprint(cmd.OutOrStdout(), capture.Script())
			return err
		}
		if out == "-" && cli.IsTerminal(cmd.OutOrStdout()) {
			return hint.With(hint.Usagef("-o - would write the bundle to the terminal"), "name a file: -o bundle.tar.gz")
		}
		if len(args) == 1 {
			return captureOver(cmd, &far, args[0], out)
		}
		return capture.Run(cmd.Context(), out, cmd.OutOrStdout(), cmd.ErrOrStderr())
	})
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the bundle to `FILE`, - for stdout (default linerate-HOST-TIME.tar.gz)")
	addRemoteFlags(cmd, &far)
	cmd.Flags().BoolVar(&script, "script", false, "print the script instead of running it")
	return cmd
}

// captureOver captures a host over SSH and writes the bundle here.
func captureOver(cmd *cobra.Command, far *hosts.Remote, source, out string) error {
	data, err := far.Bundle(cmd.Context(), source)
	if err != nil {
		return err
	}
	// Parse the data as a bundle before keeping it.
	b, err := filehost.ReadBundle(bytes.NewReader(data), source)
	if err != nil {
		return err
	}
	if out == "-" {
		_, err := cmd.OutOrStdout().Write(data)
		return err
	}
	if out == "" {
		t, err := sshhost.ParseTarget(source)
		if err != nil {
			return err
		}
		taken := strings.NewReplacer("-", "", ":", "").Replace(b.Origin().Taken)
		out = fmt.Sprintf("linerate-%s-%s.tar.gz", strings.ReplaceAll(t.Host, ":", "-"), taken)
	}
	if err := writeFile(out, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s\n", out)
	return nil
}
