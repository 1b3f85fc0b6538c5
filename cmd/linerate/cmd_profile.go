package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

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
		RunE: func(cmd *cobra.Command, args []string) error {
			return runProfileShow(cmd.OutOrStdout(), cmd.InOrStdin(), f, args)
		},
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
		RunE: func(cmd *cobra.Command, args []string) error {
			return runProfileDiff(cmd.OutOrStdout(), cmd.InOrStdin(), f, args)
		},
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

// loaded is a profile with the file it is from.
type loaded struct {
	file string
	*profile.Profile
}

// load reads the chosen part of each file; other files may lack the functions
// that the first has.
func (f *profileFlags) load(stdin io.Reader, files []string) ([]loaded, error) {
	var out []loaded
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
		out = append(out, loaded{name, p})
	}
	if absent != nil && len(files) == 1 {
		return nil, fmt.Errorf("%s: %w", files[0], absent)
	}
	return out, nil
}

func readProfile(stdin io.Reader, name, event string) (*profile.Profile, error) {
	in := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			var bad *os.PathError
			if errors.As(err, &bad) {
				err = bad.Err
			}
			return nil, err
		}
		defer file.Close()
		in = file
	}
	found, err := profile.Read(in)
	if err != nil {
		return nil, err
	}
	if event == "" {
		if len(found) > 1 {
			found[0].Notes = append(found[0].Notes, fmt.Sprintf("The file has %d events, this is the first: %s.", len(found), show.List(events(found))))
		}
		return found[0], nil
	}
	for _, p := range found {
		if p.Event == event {
			return p, nil
		}
	}
	return nil, hint.Unknown("event", event, events(found))
}

func events(found []*profile.Profile) []string {
	return list.Map(found, func(p *profile.Profile) string { return show.Clean(p.Event) })
}

func runProfileShow(w io.Writer, stdin io.Reader, f profileFlags, files []string) error {
	if f.out != "" && len(files) > 1 {
		return hint.With(hint.Usagef("%d profiles cannot be written to one file", len(files)), "give one, or compare two with profile diff")
	}
	all, err := f.load(stdin, files)
	if err != nil {
		return err
	}
	if f.out != "" {
		pic := profile.Picture{Title: filepath.Base(files[0]), After: all[0].Profile}
		if err := writeProfile(f.out, pic); err != nil {
			return err
		}
	}
	if f.asJSON {
		docs := []profileDoc{}
		for _, p := range all {
			docs = append(docs, docOf(p, f.top))
		}
		return cli.PrintJSON(w, profilesDocument{1, docs})
	}
	for i, p := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := printProfile(w, p, f.top); err != nil {
			return err
		}
	}
	return nil
}

func runProfileDiff(w io.Writer, stdin io.Reader, f profileFlags, files []string) error {
	if f.sort != "self" && f.sort != "total" {
		return hint.Unknown("order", f.sort, []string{"self", "total"})
	}
	both, err := f.load(stdin, files)
	if err != nil {
		return err
	}
	before, after := both[0].Profile, both[1].Profile
	if f.out != "" {
		pic := profile.Picture{Title: filepath.Base(files[0]) + " → " + filepath.Base(files[1]), Before: before, After: after}
		if err := writeProfile(f.out, pic); err != nil {
			return err
		}
	}
	movers := profile.Movers(before, after)
	if f.sort == "total" {
		profile.SortByTotal(movers)
	}
	if f.asJSON {
		return cli.PrintJSON(w, moversDocument{1, docOf(both[0], 0), docOf(both[1], 0), movers[:min(len(movers), max(f.top, 0))]})
	}
	return printMovers(w, both, movers, f.top)
}

// profileDoc is a profile in JSON.
// profilesDocument is what profile show --json prints.
type profilesDocument struct {
	Version  int          `json:"version"`
	Profiles []profileDoc `json:"profiles"`
}

// moversDocument is what profile diff --json prints.
type moversDocument struct {
	Version int             `json:"version"`
	Before  profileDoc      `json:"before"`
	After   profileDoc      `json:"after"`
	Movers  []profile.Mover `json:"movers"`
}

type profileDoc struct {
	File      string        `json:"file"`
	Format    string        `json:"format"`
	Event     string        `json:"event"`
	Unit      string        `json:"unit"`
	Samples   int64         `json:"samples,omitempty"`
	Total     int64         `json:"total"`
	Stacks    int           `json:"stacks"`
	Notes     []string      `json:"notes"`
	Functions []functionDoc `json:"functions,omitempty"`
}

type functionDoc struct {
	profile.Frame
	Self         int64   `json:"self"`
	SelfPercent  float64 `json:"self_percent"`
	Total        int64   `json:"total"`
	TotalPercent float64 `json:"total_percent"`
}

func docOf(p loaded, top int) profileDoc {
	d := profileDoc{p.file, p.Format, p.Event, p.Unit, p.Samples, p.Total(), len(p.Stacks), p.Notes, nil}
	if d.Notes == nil {
		d.Notes = []string{}
	}
	if top > 0 {
		for _, x := range p.Functions() {
			if len(d.Functions) == top {
				break
			}
			d.Functions = append(d.Functions, functionDoc{x.Frame, x.Self, share(x.Self, d.Total), x.Total, share(x.Total, d.Total)})
		}
	}
	return d
}

func share(part, whole int64) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

// headOf prints what a profile is and what to know of it.
func headOf(pg *show.Page, label string, p loaded) {
	text := fmt.Sprintf("%s: %s", p.Format, profile.WeightOf(p.Profile))
	switch {
	case p.Samples == 0 || p.Unit == "samples":
	case p.Unit == "nanoseconds":
		text += fmt.Sprintf(", %s of CPU time", show.Nanos(float64(p.Total())))
	default:
		text += fmt.Sprintf(", %s%s", show.SI(float64(p.Total()), ""), p.Unit)
	}
	pg.Line(pg.Bold(label+show.Clean(p.file)) + "  " + show.Clean(text) + fmt.Sprintf(", %s", show.Plural(len(p.Stacks), "distinct stack")))
	for _, n := range p.Notes {
		pg.Paragraph("  "+pg.Paint(show.Doubt, "note")+"  ", "        ", show.Clean(n))
	}
}

func printProfile(w io.Writer, p loaded, top int) error {
	pg := show.NewPage(cli.StyleOf(w))
	headOf(pg, "", p)
	t := show.Table{Header: []string{"self", "", "total", "function", "in"}, Right: []bool{true, false, true}}
	for i, f := range p.Functions() {
		if i >= top || f.Self == 0 {
			break
		}
		self := share(f.Self, p.Total())
		t.Add(show.Percent(self), pg.Bar(self/100, 12), show.Percent(share(f.Total, p.Total())), show.Clean(f.Name), pg.Dim(show.Clean(f.Module)))
	}
	pg.Table(t)
	return pg.Flush(w)
}

func printMovers(w io.Writer, both []loaded, movers []profile.Mover, top int) error {
	pg := show.NewPage(cli.StyleOf(w))
	headOf(pg, "before ", both[0])
	headOf(pg, "after  ", both[1])
	pg.Line("")
	pg.Paragraph("", "", profile.MoverSentence(movers)+" Shares are of each profile's own total: of equal length or not, they compare.")
	pg.Line("")
	t := show.Table{Header: []string{"self points", "before", "after", "total points", "before", "after", "function"}, Right: []bool{true, true, true, true, true, true}}
	for i, m := range movers {
		if i >= top || profile.Still(m) && m.TotalPoints == 0 {
			break
		}
		t.Add(paintPoints(pg, m.SelfPoints), show.Percent(m.BeforeSelf), show.Percent(m.AfterSelf), paintPoints(pg, m.TotalPoints), show.Percent(m.BeforeTotal), show.Percent(m.AfterTotal), show.Clean(m.Name))
	}
	pg.Table(t)
	return pg.Flush(w)
}

func paintPoints(pg *show.Page, v float64) string {
	text := strings.TrimSuffix(profile.Points(v), " points")
	switch {
	case v >= 1:
		return pg.Paint(show.Bad, text)
	case v <= -1:
		return pg.Paint(show.Good, text)
	}
	return text
}

// writerFor is how to write what the file's name asks for.
func writerFor(name string, pic profile.Picture) (func(io.Writer) error, error) {
	switch lower := strings.ToLower(name); {
	case strings.HasSuffix(lower, ".svg"):
		return pic.WriteSVG, nil
	case strings.HasSuffix(lower, ".html"), strings.HasSuffix(lower, ".htm"):
		return pic.WriteHTML, nil
	case pic.Before != nil:
		return nil, hint.With(hint.Usagef("a difference of profiles cannot be written as %q", name), "name it .svg or .html; write each profile with profile show")
	case strings.HasSuffix(lower, ".pb.gz"), strings.HasSuffix(lower, ".pprof"):
		return pic.After.WritePprof, nil
	case strings.HasSuffix(lower, ".folded"), strings.HasSuffix(lower, ".txt"):
		return pic.After.WriteFolded, nil
	}
	return nil, hint.With(hint.Usagef("what %q should hold is not known", name), "name it .svg, .html, .pb.gz or .folded")
}

func writeProfile(name string, pic profile.Picture) error {
	write, err := writerFor(name, pic)
	if err != nil {
		return err
	}
	return writeFile(name, write)
}
