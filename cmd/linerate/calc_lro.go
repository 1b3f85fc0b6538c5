package main

import (
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/spf13/cobra"

	"linerate/internal/calc"
	"linerate/internal/cli"
	"linerate/internal/hint"
)

// addPcap lets the calculator lro read a capture instead of its model.
func addPcap(cmd *cobra.Command, asJSON *bool) *cobra.Command {
	model := cmd.RunE
	file := cmd.Flags().String("pcap", "", "capture in `FILE` (pcap, pcapng) of a receive queue, instead of the model")
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if *file == "" {
			return model(cmd, words)
		}
		c, err := calc.Find("lro")
		if err != nil {
			return err
		}
		args, err := calcArgs(cmd, c, words)
		if err != nil {
			return err
		}
		r, err := lroOfCapture(*file, args)
		if err != nil {
			return fmt.Errorf("%s: %w", *file, err)
		}
		if *asJSON {
			return cli.PrintJSON(cmd.OutOrStdout(), calcDoc{1, r})
		}
		return printCalc(cmd.OutOrStdout(), r)
	}
	return cmd
}

func lroOfCapture(file string, args map[string]string) (calc.Result, error) {
	size := map[string]int{"batch": 1024, "entries": 8}
	for name, text := range args {
		if _, ok := size[name]; !ok {
			return calc.Result{}, hint.Usagef("%s comes from the capture", name)
		}
		v, err := calc.Parse(text, calc.Count)
		if err != nil || v < 1 || v > 1<<16 || v != math.Trunc(v) {
			return calc.Result{}, hint.Usagef("%s=%s is not a number from 1 to 65536", name, text)
		}
		size[name] = int(v)
	}
	f, err := os.Open(file)
	if err != nil {
		return calc.Result{}, errors.Unwrap(err)
	}
	defer f.Close()
	segments, flows, _, err := calc.ReadSegments(f)
	if err != nil {
		return calc.Result{}, err
	}
	if len(segments) == 0 {
		return calc.Result{}, errors.New("no TCP segments in it")
	}
	return calc.LROOf(segments, flows, size["batch"], size["entries"]), nil
}
