package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/lab"
	"linerate/internal/list"
	"linerate/internal/show"
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

// failOn returns the error for exit code 4 if a verdict is at or beyond limit.
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

// failOnResults applies failOn to the primary verdicts. A study that a guardrail stopped always
// fails.
func failOnResults(limit string, r study.Results) error {
	return failOn(cmp.Or(limit, string(stats.Stopped)), func(yield func(stats.Verdict) bool) {
		for _, v := range r.Verdicts {
			if v.Primary && !yield(v.Verdict) {
				return
			}
		}
	})
}

// scheduled is one slot in the output of study run --dry-run --json.
type scheduled struct {
	Part    string `json:"part"`
	Block   int    `json:"block"`
	Order   int    `json:"order"`
	Variant string `json:"variant"`
}

// scheduleDocument is the output of study run --dry-run --json.
type scheduleDocument struct {
	Version     int                 `json:"version"`
	Study       string              `json:"study"`
	Seed        uint64              `json:"seed"`
	Schedule    []scheduled         `json:"schedule"`
	Unavailable []study.Unavailable `json:"unavailable"`
}

// printSchedule prints the order of the trials.
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

const (
	// enoughTime is the maximum duration of a study with --precision but without --time.
	enoughTime = 10 * time.Minute
	// mostBlocks is the maximum number of blocks of such a study.
	mostBlocks = 200
)

// stop sets when a study may end, from --precision, --time and --blocks.
func (f *runFlags) stop(cmd *cobra.Command, s *study.Spec) error {
	asked := cmd.Flags().Changed("precision") || cmd.Flags().Changed("time")
	if !asked {
		if s.Looks != nil && cmd.Flags().Changed("blocks") {
			*s = s.WithLooks(f.blocks, s.Looks.PrecisionPercent)
		}
		return nil
	}
	precision, within := float64(f.precision), cmp.Or(f.within, enoughTime)
	if precision < 0 || precision >= 100 || cmd.Flags().Changed("precision") && precision == 0 {
		return hint.With(hint.Usagef("--precision %s is not between 0 and 100 %%", &f.precision), "--precision 1%% ends when every interval is ±1 %% or decided")
	}
	if within < time.Second || within > 24*time.Hour {
		return hint.Usagef("--time %v is not within 1s and 24h", within)
	}
	*s = s.WithLooks(blocksWithin(*s, within), precision)
	if cmd.Flags().Changed("blocks") {
		*s = s.WithLooks(f.blocks, precision)
	}
	return nil
}

// percentage is a flag value such as "25%", "25 %" or "25".
type percentage float64

// String returns "" for zero, so that help shows no default.
func (p *percentage) String() string {
	if *p == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*p), 'g', -1, 64) + "%"
}

func (p *percentage) Type() string { return "percent" }

func (p *percentage) Set(text string) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%")), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return errors.New("want a percentage, such as 25%")
	}
	*p = percentage(v)
	return nil
}

// blocksWithin returns how many blocks of the primary metric's part fit into the given time, with
// the other parts running too.
func blocksWithin(s study.Spec, within time.Duration) int {
	seed := uint64(1)
	took := func(n int) time.Duration {
		return lab.Estimate(lab.Task{Spec: s.WithLooks(n, 0), Seed: seed})
	}
	least := took(3)
	each := (took(13) - least) / 10
	if each <= 0 {
		return mostBlocks
	}
	return max(3, min(mostBlocks, 3+int((within-least)/each)))
}

// writePilot prints which effects a study of a given length could detect, and describes each metric.
func writePilot(w io.Writer, s study.Spec, pilots map[string]study.Pilot, watched []string) error {
	page := show.NewPage(cli.StyleOf(w))
	study.PrintForecast(page, s, pilots)
	for _, line := range watched {
		page.Paragraph("", "  ", line)
	}
	return page.Flush(w)
}
