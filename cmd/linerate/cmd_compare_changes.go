package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"linerate/catalogue"
	"linerate/internal/assemble/ledgers"
	"linerate/internal/cli"
	"linerate/internal/compare"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/trend"
)

// changesFlags are the flags of compare changes.
type changesFlags struct {
	in     compare.Input
	find   trend.Options
	since  time.Duration
	failOn string
	html   string
	ledger string
	asJSON bool
	again  rerunFlags
}

// newCompareChangesCmd finds change points.
func newCompareChangesCmd() *cobra.Command {
	var f changesFlags
	cmd := &cobra.Command{
		Use:   "changes [FILE|STUDY]",
		Short: "find change points in a series: studies night by night, trials in their order",
		Long: `changes finds where the distribution of a series of values changes, in their
order, without assuming a shape (E-divisive, Matteson & James 2014).

For studies in the ledger (one STUDY, or all of them), a series is one metric of one
variant on one machine. A change found there is suspected; the output lists what differs
between the runs before and after it. Where both states can take turns on one machine,
--rerun measures them side by side here, --submit LABEL queues that for workers. Only that
verdict confirms or refutes a change.

    linerate compare changes
    linerate compare changes firewall-rules --since 48h --rerun --fail-on change

Of a file, the series is the values of a column.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if _, err := os.Stat(args[0]); args[0] == "-" || !errors.Is(err, os.ErrNotExist) {
					return f.ofFile(cmd, args[0])
				}
			}
			return f.ofStudies(cmd, append(args, "")[0])
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.in.Column, "column", "C", "", "column of a file: a number, a CSV heading or a path of JSON keys")
	fl.StringVarP(&f.in.Delimiters, "delimiter", "d", "", "characters between columns (default blank and tab)")
	fl.IntVar(&f.find.Minimum, "minimum", 5, "least values between two changes")
	fl.Float64Var(&f.find.Alpha, "alpha", 0.01, "level of each change's permutation test; of studies that of all series together")
	fl.Uint64Var(&f.find.Seed, "seed", 1, "seed of the permutations")
	fl.StringVar(&f.find.Metric, "metric", "", "metric of the studies (default: the primary one of each)")
	fl.StringVar(&f.find.Variant, "variant", "", "one `VARIANT` of the studies")
	fl.BoolVar(&f.find.Effects, "effects", false, "look at variants' distance from the control, which a slower machine leaves alone")
	fl.DurationVar(&f.since, "since", 0, "only changes of the last `TIME`, such as 48h")
	fl.StringVar(&f.failOn, "fail-on", "", "exit with 4 on a `change` that is not refuted, or only on one that is confirmed: change, confirmed")
	fl.StringVar(&f.html, "html", "", "write a page: the series that changed, over time")
	fl.BoolVar(&f.asJSON, "json", false, "print one JSON document")
	addLedgerFlag(cmd, &f.ledger)
	f.again.add(cmd)
	return cmd
}

// ofFile looks for changes among the values of a file.
func (f *changesFlags) ofFile(cmd *cobra.Command, name string) error {
	x, err := sample(cmd, name, f.in)
	if err != nil {
		return err
	}
	if len(x) > 2000 {
		return hint.With(fmt.Errorf("%s holds %s values, more than 2,000", name, show.Count(len(x))), "summarise them first: a mean for each day, build or block")
	}
	found := stats.ChangePoints(x, f.find.Minimum, f.find.Alpha, 999, f.find.Seed)
	return cli.Answer(cmd, f.asJSON, compare.ChangesOf(len(x), found), func(p *show.Page) { compare.PrintChanges(p, len(x), found) })
}

// studyChangesDocument is what `compare changes STUDY --json` prints.
type studyChangesDocument struct {
	Version int     `json:"version"`
	Alpha   float64 `json:"alpha"`  // of all series together
	Method  string  `json:"method"` // the test
	// Short is how many series have too few runs.
	Short  int            `json:"short"`
	Series []trend.Series `json:"series"`
}

// ofStudies looks for changes in the runs that the ledger has of studies.
func (f *changesFlags) ofStudies(cmd *cobra.Command, name string) error {
	switch {
	case f.failOn != "" && f.failOn != "change" && f.failOn != string(trend.Confirmed):
		return hint.Unknown("value of --fail-on", f.failOn, []string{"change", string(trend.Confirmed)})
	case !(f.find.Alpha > 0 && f.find.Alpha < 1):
		return hint.Usagef("--alpha %g is not between 0 and 1", f.find.Alpha)
	case f.find.Minimum < 2:
		return hint.Usagef("--minimum %d: a change needs two runs or more on each side", f.find.Minimum)
	}
	all, err := f.look(cmd, name)
	if err != nil {
		return err
	}
	again, failed := f.again.prove(cmd, f.ledger, &all)
	if again {
		if all, err = f.look(cmd, name); err != nil {
			return errors.Join(failed, err)
		}
	}
	if f.html != "" {
		if err := writeFile(f.html, func(w io.Writer) error { return trend.WriteHTML(w, all.Series, cli.CommandLine(cmd)) }); err != nil {
			return errors.Join(failed, err)
		}
	}
	doc := studyChangesDocument{1, f.find.Alpha, "E-divisive (Matteson & James 2014), permutations within segments", all.Short, append([]trend.Series{}, all.Series...)}
	err = cli.Answer(cmd, f.asJSON, doc, func(p *show.Page) { trend.Print(p, all.Series, all.Short, f.find) })
	if err := errors.Join(failed, err); err != nil {
		return err
	}
	return f.fail(all.Series)
}

// look reads the ledger.
func (f *changesFlags) look(cmd *cobra.Command, name string) (all ledger.Changes, err error) {
	known, err := catalogue.Load()
	if err != nil {
		return all, err
	}
	var since time.Time
	if f.since > 0 {
		since = time.Now().Add(-f.since)
	}
	err = ledgers.Read(cmd.Context(), f.ledger, func(s ledger.Store) error {
		all, err = ledger.FindChanges(cmd.Context(), s, name, f.find, since, known)
		return err
	})
	return all, err
}

// fail is exit code 4 where a change counts.
func (f *changesFlags) fail(all []trend.Series) error {
	for i := range all {
		for _, c := range all[i].Changes {
			if f.failOn == "change" && c.Status != trend.Refuted || f.failOn == string(trend.Confirmed) && c.Status == trend.Confirmed {
				return hint.Exit(cli.ExitVerdict)
			}
		}
	}
	return nil
}
