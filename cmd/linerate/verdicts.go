package main

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/stats"
	"linerate/internal/study"
)

func addFailOn(cmd *cobra.Command, value *string) {
	cmd.Flags().StringVar(value, "fail-on", "", "exit 4 when a variant's primary verdict is this or beyond, of "+strings.Join(stats.VerdictNames(), " < "))
}

func checkFailOn(value string) error {
	if value == "" {
		return nil
	}
	_, err := stats.ParseVerdict(value)
	return err
}

// failOn is exit code 4 when a verdict is at or beyond the limit, if any.
func failOn(limit string, verdicts iter.Seq[stats.Verdict]) error {
	if limit == "" {
		return nil
	}
	for v := range verdicts {
		if v.Compare(stats.Verdict(limit)) >= 0 {
			return hint.Exit(cli.ExitVerdict)
		}
	}
	return nil
}

// failOnResults maps the primary verdicts to the exit code. A study that a guardrail ended
// is no success, whatever the limit.
func failOnResults(limit string, r study.Results) error {
	return failOn(cmp.Or(limit, string(stats.Stopped)), func(yield func(stats.Verdict) bool) {
		for _, v := range r.Verdicts {
			if v.Primary && !yield(v.Verdict) {
				return
			}
		}
	})
}

// scheduled is one slot in the JSON of study run --dry-run.
type scheduled struct {
	Part    string `json:"part"`
	Block   int    `json:"block"`
	Order   int    `json:"order"`
	Variant string `json:"variant"`
}

// scheduleDocument is what study run --dry-run --json prints.
type scheduleDocument struct {
	Version     int                 `json:"version"`
	Study       string              `json:"study"`
	Seed        uint64              `json:"seed"`
	Schedule    []scheduled         `json:"schedule"`
	Unavailable []study.Unavailable `json:"unavailable"`
}

// printSchedule prints which trial would run when.
func printSchedule(cmd *cobra.Command, s study.Spec, gone []study.Unavailable) error {
	slots := slices.DeleteFunc(study.Schedule(s, *s.Seed), func(slot study.Slot) bool {
		return slices.ContainsFunc(gone, func(u study.Unavailable) bool { return u.Variant == slot.Variant })
	})
	rows := list.Map(slots, func(t study.Slot) scheduled { return scheduled{t.Part, t.Block, t.Order, t.Variant} })
	return cli.Print(cmd, scheduleDocument{1, s.Name, *s.Seed, rows, gone}, func(w io.Writer) error {
		fmt.Fprintf(w, "study %s, seed %d: %d trials", s.Name, *s.Seed, len(slots))
		if n := s.Reboots(slots); n > 0 {
			fmt.Fprintf(w, ", %d boots of the DUT", n)
		}
		fmt.Fprintln(w)
		block := ""
		for _, slot := range slots {
			if b := fmt.Sprintf("%s block %d:", slot.Part, slot.Block); b != block {
				if block != "" {
					fmt.Fprintln(w)
				}
				block = b
				fmt.Fprint(w, b)
			}
			fmt.Fprintf(w, " %s", slot.Variant)
		}
		fmt.Fprintln(w)
		for _, u := range gone {
			fmt.Fprintf(w, "not here: %s: %s\n", u.Variant, u.Reason)
		}
		return nil
	})
}
