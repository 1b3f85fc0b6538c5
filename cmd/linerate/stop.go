package main

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
	"linerate/internal/lab"
	"linerate/internal/study"
)

const (
	// enoughTime is how long a study with --precision may take without
	// --time.
	enoughTime = 10 * time.Minute
	// mostBlocks is how many blocks such a study may have.
	mostBlocks = 200
)

// stop plans when a study may end, by --precision, --time and --blocks.
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

// percentage is a flag that takes "25%", "25 %" or "25".
type percentage float64

// String is empty of none, which help takes for no default.
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

// blocksWithin is how many blocks of the primary metric's part fit into a time in which the
// other parts run too.
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
