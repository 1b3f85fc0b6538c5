package accesslog

import (
	"strings"
	"testing"
	"time"

	"linerate/internal/show"
)

// TestColumns: their width suits the data; every request
// is in a column or beyond the last, and an axis ends where the data do.
func TestColumns(t *testing.T) {
	slow := []int64{50_000, 50_000, 60_000_000}
	for name, c := range map[string]struct {
		took   []int64
		from   int64
		width  int64
		end    int64
		beyond int64
	}{
		"all of it":    {slow, 0, 1_000_000, 65_000_000, 0},
		"milliseconds": {[]int64{0, 1000, 3000, 3000}, 0, 1000, 10_000, 0},
		"microseconds": {[]int64{7, 12, 30}, 0, 1, 35, 0},
		"1.7 s":        {[]int64{75_000, 1_700_000}, 0, 50_000, 1_750_000, 0},
		"whole fives":  {[]int64{100_000, 200_000}, 0, 5000, 225_000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tally := NewTally(&Options{})
			for _, us := range c.took {
				tally.add(us)
			}
			cols, beyond := tally.linearColumns(pictureColumns)
			held := beyond
			for _, col := range cols {
				held += col.count
			}
			last := cols[len(cols)-1]
			if cols[0].from != c.from || last.to-last.from != c.width || last.to != c.end || beyond != c.beyond || held != int64(len(c.took)) {
				t.Errorf("from %d to %d by %d µs, %d beyond, %d held; want %+v", cols[0].from, last.to, last.to-last.from, beyond, held, c)
			}
		})
	}
}

// TestPictureFits: no line of what a terminal shows is wider than the terminal.
func TestPictureFits(t *testing.T) {
	o := &Options{Under: []time.Duration{100 * time.Millisecond}}
	tally := NewTally(o)
	for i := range int64(2000) {
		tally.add(i * i)
	}
	for _, width := range []int{60, 80, 100} {
		var b strings.Builder
		style := show.Style{Width: width, Fold: true}
		if err := tally.WritePicture(&b, style); err != nil {
			t.Fatal(err)
		}
		if err := tally.WriteNumbers(&b, style); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if show.Width(strings.TrimRight(line, "\n")) > width {
				t.Errorf("%d columns: %q", width, line)
			}
		}
	}
}
