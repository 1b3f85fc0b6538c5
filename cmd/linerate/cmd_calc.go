package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/calc"
	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/show"
)

// calcDoc is the output of calc --json.
type calcDoc struct {
	Version int `json:"version"`
	calc.Result
}

func newCalcCmd() *cobra.Command {
	cmd := verb("calc", cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error {
		w := cmd.OutOrStdout()
		if len(args) == 0 {
			return cli.Print(cmd, calculatorsDocument{1, calc.All()}, listCalculators)
		}
		r, err := calculate(args[0], args[1:])
		if err != nil {
			return err
		}
		return cli.Print(cmd, calcDoc{1, r}, func(io.Writer) error { return printCalc(w, r) })
	})
	cli.JSONFlag(cmd)
	return cmd
}

// calculate runs a calculator on inputs given as INPUT=VALUE.
func calculate(what string, words []string) (calc.Result, error) {
	c, err := calc.Find(what)
	if err != nil {
		return calc.Result{}, err
	}
	inputs := map[string]string{}
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			return calc.Result{}, hint.With(hint.Usagef("%q is not INPUT=VALUE", w), "linerate calc %s shows its inputs", c.Name)
		}
		name = strings.ReplaceAll(name, "-", "_")
		if _, twice := inputs[name]; twice {
			return calc.Result{}, hint.Usagef("%s is given twice", name)
		}
		inputs[name] = value
	}
	return c.Run(inputs)
}

func listCalculators(w io.Writer) error {
	var t show.Table
	for _, c := range calc.All() {
		inputs := list.Map(c.Inputs, func(in calc.Input) string { return in.Name })
		t.Add(c.Name, c.Summary+" ("+strings.Join(inputs, ", ")+")")
	}
	return t.Write(w, cli.StyleOf(w))
}

// printCalc prints inputs, outputs with their derivation, the table, other recommendations and the
// sources.
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

// calculatorsDocument is the output of calc --json without a calculator.
type calculatorsDocument struct {
	Version     int                `json:"version"`
	Calculators []*calc.Calculator `json:"calculators"`
}
