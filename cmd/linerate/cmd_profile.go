package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/profile"
	"linerate/internal/show"
)

const profileLong = `Read where time went, from what profilers print: pmcstat -G, dtrace's stack(),
perf script, folded stacks, pprof; each possibly compressed by gzip. Written are
flame graphs (.svg, .html), pprof (.pb.gz, for go tool pprof) and folded stacks.

    linerate profile record --cpu 1 --seconds 10 -o router.pb.gz      # Linux, as root
    linerate profile show forwarding.graph
    linerate profile show --without cpu_idle --out flame.html forwarding.graph
    linerate profile diff before.folded after.folded --out diff.html`

// profileFlags are the flags of profile show and diff.
type profileFlags struct {
	choice profile.Choice
	event  string
	out    string
	sort   string
	top    int
	asJSON bool
}

func newProfileCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "show profiles and their differences as flame graphs and tables",
		Long:  profileLong,
	}
	cmd.AddCommand(newProfileRecordCmd(), newProfileShowCmd(), newProfileDiffCmd())
	return cmd
}

func newProfileShowCmd() *cobra.Command {
	var f profileFlags
	cmd := &cobra.Command{
		Use:   "show FILE…",
		Short: "show the heaviest functions and the flame graph",
		Args:  cobra.MinimumNArgs(1),
		RunE:  f.show,
	}
	f.register(cmd, "functions")
	return cmd
}

func newProfileDiffCmd() *cobra.Command {
	var f profileFlags
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "show the difference of two profiles and the differential flame graph",
		Args:  cobra.ExactArgs(2),
		RunE:  f.diff,
	}
	f.register(cmd, "movers")
	cmd.Flags().StringVar(&f.sort, "sort", "self", "order by the function's own share (self), or with its callees (total)")
	return cmd
}

func (f *profileFlags) register(cmd *cobra.Command, what string) {
	fl := cmd.Flags()
	fl.StringVar(&f.event, "event", "", "event to read, of a file with several (default: its first)")
	fl.StringSliceVar(&f.choice.Only, "only", nil, "keep only stacks with one of these functions")
	fl.StringSliceVar(&f.choice.Without, "without", nil, "drop stacks with one of these functions, such as cpu_idle")
	fl.StringVar(&f.choice.From, "from", "", "drop the callers of this function")
	fl.StringVarP(&f.out, "out", "o", "", "write .svg, .html, .pb.gz or .folded to this file")
	fl.IntVarP(&f.top, "top", "n", 20, "how many "+what+" to print")
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON document")
}

// load reads the chosen part of each file; other files may lack the functions
// that the first has.
func (f *profileFlags) load(stdin io.Reader, files []string) ([]profile.Named, error) {
	var out []profile.Named
	var absent error
	for _, name := range files {
		p, err := readProfile(stdin, name, f.event)
		if err == nil {
			_, missing := p.Choose(f.choice, false)
			if absent == nil || missing == nil {
				absent = missing
			}
			p, err = p.Choose(f.choice, true)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, profile.Named{File: name, Profile: p})
	}
	if absent != nil && len(files) == 1 {
		return nil, fmt.Errorf("%s: %w", files[0], absent)
	}
	return out, nil
}

func readProfile(stdin io.Reader, name, event string) (*profile.Profile, error) {
	if name == "-" {
		return profile.ReadEvent(stdin, event)
	}
	file, err := os.Open(name)
	if err != nil {
		var bad *os.PathError
		if errors.As(err, &bad) {
			err = bad.Err
		}
		return nil, err
	}
	defer file.Close()
	return profile.ReadEvent(file, event)
}

func (f *profileFlags) show(cmd *cobra.Command, files []string) error {
	if f.out != "" && len(files) > 1 {
		return hint.With(hint.Usagef("%d profiles cannot be written to one file", len(files)), "give one, or compare two with profile diff")
	}
	all, err := f.load(cmd.InOrStdin(), files)
	if err != nil {
		return err
	}
	if err := writeProfile(f.out, profile.Picture{Title: filepath.Base(files[0]), After: all[0].Profile}); err != nil {
		return err
	}
	doc := profile.Document{Version: 1, Profiles: list.Map(all, func(p profile.Named) profile.Summary { return p.Summary(f.top) })}
	return cli.Answer(cmd, f.asJSON, doc, func(pg *show.Page) {
		for i, p := range all {
			if i > 0 {
				pg.Line("")
			}
			p.Print(pg, f.top)
		}
	})
}

func (f *profileFlags) diff(cmd *cobra.Command, files []string) error {
	if f.sort != "self" && f.sort != "total" {
		return hint.Unknown("order", f.sort, []string{"self", "total"})
	}
	both, err := f.load(cmd.InOrStdin(), files)
	if err != nil {
		return err
	}
	before, after := both[0], both[1]
	pic := profile.Picture{Title: filepath.Base(files[0]) + " → " + filepath.Base(files[1]), Before: before.Profile, After: after.Profile}
	if err := writeProfile(f.out, pic); err != nil {
		return err
	}
	movers := profile.Movers(before.Profile, after.Profile)
	if f.sort == "total" {
		profile.SortByTotal(movers)
	}
	doc := profile.Changes{Version: 1, Before: before.Summary(0), After: after.Summary(0), Movers: movers[:min(len(movers), max(f.top, 0))]}
	return cli.Answer(cmd, f.asJSON, doc, func(pg *show.Page) { profile.PrintMovers(pg, before, after, movers, f.top) })
}
