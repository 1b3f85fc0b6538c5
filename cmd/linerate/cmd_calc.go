package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/calc"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/show"
)

// calcDoc is the --json document of a calculator.
type calcDoc struct {
	Version int `json:"version"`
	calc.Result
}

func newCalcCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "calc [WHAT [INPUT=VALUE …]]",
		Short: "calculate line rates, windows, buffers and table sizes, with sources",
		Long: `The arithmetic of tuning. Inputs are flags or INPUT=VALUE words with units:
10Gb/s, 13ms, 64KiB (64K of bytes is binary). Without WHAT, calc lists the
calculators.`,
		Example: `    linerate calc line-rate --link 10Gb/s --frame 64
    linerate calc bdp link=10Gb/s rtt=80ms
    linerate calc window maxsockbuf=16MiB`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			_, err := calc.Find(args[0])
			return err
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), calculatorsDocument{1, calc.All()})
			}
			return listCalculators(cmd.OutOrStdout())
		},
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print one JSON document")
	for _, c := range calc.All() {
		cmd.AddCommand(newCalculatorCmd(c, &asJSON))
	}
	return cmd
}

// newCalculatorCmd gives every input of c a flag; its help shows the default,
// with its unit, where the value stands.
func newCalculatorCmd(c *calc.Calculator, asJSON *bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:     c.Name + " [INPUT=VALUE …]",
		Aliases: c.Aliases,
		Short:   c.Summary,

		ValidArgsFunction: completeInputs(c),
		RunE: func(cmd *cobra.Command, words []string) error {
			args, err := calcArgs(cmd, c, words)
			if err != nil {
				return err
			}
			r, err := c.Run(args)
			if err != nil {
				return err
			}
			if *asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), calcDoc{1, r})
			}
			return printCalc(cmd.OutOrStdout(), r)
		},
	}
	for _, in := range c.Inputs {
		cmd.Flags().String(flagName(in.Name), "", in.Doc+" (default `"+in.Default+"`)")
	}
	if c.Name == "lro" {
		return addPcap(cmd, asJSON)
	}
	return cmd
}

func flagName(input string) string { return strings.ReplaceAll(input, "_", "-") }

// calcArgs joins the flags given and the INPUT=VALUE words; giving one input
// twice is a mistake.
func calcArgs(cmd *cobra.Command, c *calc.Calculator, words []string) (map[string]string, error) {
	args := map[string]string{}
	for _, in := range c.Inputs {
		if f := cmd.Flags().Lookup(flagName(in.Name)); f.Changed {
			args[in.Name] = f.Value.String()
		}
	}
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			return nil, hint.With(hint.Usagef("%q is not INPUT=VALUE", w), "see %s --help", cmd.CommandPath())
		}
		name = strings.ReplaceAll(name, "-", "_")
		if _, twice := args[name]; twice {
			return nil, hint.Usagef("%s is given twice", name)
		}
		args[name] = value
	}
	return args, nil
}

func listCalculators(w io.Writer) error {
	var t show.Table
	for _, c := range calc.All() {
		inputs := list.Map(c.Inputs, func(in calc.Input) string { return in.Name })
		t.Add(c.Name, c.Summary+" ("+strings.Join(inputs, ", ")+")")
	}
	return t.Write(w, cli.StyleOf(w))
}

// printCalc shows a result for people: inputs, outputs with how they came
// about, the table, what others say, and the sources.
func printCalc(w io.Writer, r calc.Result) error {
	var t show.Table
	for _, in := range r.Inputs {
		t.Add(in.Name, in.Text, in.Doc)
	}
	t.Add()
	for _, out := range r.Outputs {
		t.Add(out.Name, out.Text, out.Doc)
	}
	style := cli.StyleOf(w)
	p := show.NewPage(style)
	p.Lines(t.Lines(style))
	if r.Table != nil {
		p.Line("")
		p.Lines(show.Table{Header: r.Table.Columns, Rows: r.Table.Rows}.Lines(style))
	}
	for _, n := range r.Notes {
		p.Line("")
		p.Paragraph("", "", n.Who+": "+n.Says+".")
		switch {
		case n.Wrong:
			p.Paragraph("  ", "  ", "wrong: "+n.Truth+".")
		case n.Truth != "":
			p.Paragraph("  ", "  ", n.Truth+".")
		}
	}
	p.Line("")
	p.Paragraph("", "  ", "sources: "+strings.Join(r.Sources, "; "))
	return p.Flush(w)
}

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
		f, err := os.Open(*file)
		if err != nil {
			return fmt.Errorf("%s: %w", *file, errors.Unwrap(err))
		}
		defer f.Close()
		r, err := calc.LROOfCapture(f, args)
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

// calculatorsDocument is what calc --json prints without a calculator.
type calculatorsDocument struct {
	Version     int                `json:"version"`
	Calculators []*calc.Calculator `json:"calculators"`
}
