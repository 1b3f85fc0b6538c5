package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
	"linerate/internal/show"
	"linerate/internal/study"
	"linerate/studies"
)

func newStudyCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "study",
		Short: "prove a setting with packets: compare variants in random order",
		Long: `A study compares variants of a router, a firewall or a server with a control, in
randomised blocks on a testbed that is rebuilt between trials, and gives each a
verdict.`,
	}
	cmd.AddCommand(newStudyListCmd(), newStudyShowCmd(), newStudyRunCmd(), newStudyResumeCmd(), newStudyImportCmd(), newStudyStopCmd(),
		newStudySubmitCmd(), newStudyQueueCmd(), newStudyCancelCmd(), newStudyFetchCmd())
	return cmd
}

func newStudyShowCmd() *cobra.Command {
	var resolved bool
	cmd := &cobra.Command{
		Use:   "show NAME|FILE.yaml",
		Short: "print a study's YAML, to read or to start your own from",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, data, err := readStudy(args[0])
			if err != nil {
				return err
			}
			if resolved {
				s, err := findStudy(args[0])
				if err != nil {
					return err
				}
				if data, err = study.Format(s); err != nil {
					return err
				}
			}
			if _, err = cmd.OutOrStdout().Write(data); err != nil {
				return err
			}
			if s, err := findStudy(args[0]); err == nil {
				full, quick := lengths(s)
				fmt.Fprintf(cmd.ErrOrStderr(), "takes about %s on an idle machine, with --quick %s\n", show.Clock(full), show.Clock(quick))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&resolved, "resolved", false, "include all defaults")
	return cmd
}

// findStudy reads a built-in study by its name or a user's by its file.
func findStudy(arg string) (study.Spec, error) {
	file, data, err := readStudy(arg)
	if err != nil {
		return study.Spec{}, err
	}
	return study.Parse(file, data)
}

// unknownStudy is the error for a name that no built-in study has.
func unknownStudy(name string) error {
	err := hint.Unknown("study", name, studies.Names())
	if hint.Of(err) == "" {
		err = hint.With(err, "linerate study list has the built-in ones; a file of your own ends in .yaml")
	}
	return err
}

func readStudy(arg string) (file string, data []byte, err error) {
	if data, err := studies.Read(arg); err == nil {
		return "studies/" + arg + ".yaml", data, nil
	}
	if !strings.HasSuffix(arg, ".yaml") && !strings.HasSuffix(arg, ".yml") {
		return "", nil, unknownStudy(arg)
	}
	data, err = readFile(arg)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, hint.With(hint.Usagef("no study file %s", arg), "built in: %s", strings.Join(studies.Names(), ", "))
	}
	if err != nil {
		return "", nil, fmt.Errorf("read study %s: %w", arg, err)
	}
	return arg, data, nil
}
