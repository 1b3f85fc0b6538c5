package accesslog

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/internal/show"
)

// tallied is a log in Apache's combined format with NGINX's request time.
func tallied(t *testing.T, o *Options, log string) *Tally {
	t.Helper()
	tally, _, err := Read(t.Context(), []string{"-"}, strings.NewReader(log), o)
	if err != nil {
		t.Fatal(err)
	}
	return tally
}

// requests are lines of one status with these times in ms.
func requests(status int, ms ...int) string {
	var b strings.Builder
	for i, v := range ms {
		fmt.Fprintf(&b, "h - - [10/Oct/2025:12:%02d:%02d +0000] \"GET /p%d?x=1 HTTP/1.1\" %d %d \"-\" \"ua\" %d.%03d\n", i/60%60, i%60, i%3, status, 600*i, v/1000, v%1000)
	}
	return b.String()
}

// TestDocument: the terminal's output accounts for every request, fits its width, and names what
// could not be read.
func TestDocument(t *testing.T) {
	o := &Options{Under: []time.Duration{100 * time.Millisecond}}
	tally := tallied(t, o, requests(200, 0, 3, 3, 40, 99, 100, 1700)+"nonsense\n")
	for _, width := range []int{60, 80, 100} {
		var b strings.Builder
		if err := tally.Document("access.log").Terminal(&b, show.Style{Width: width, Fold: true}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if show.Width(strings.TrimRight(line, "\n")) > width {
				t.Errorf("%d columns: %q", width, line)
			}
		}
		for _, want := range []string{"access.log: 7 requests of 8 lines (every request)", "half took 40 ms or less", "100 ms  71.4 %", "below 100 ms         5  ▇▇▇", "from 1.7 s", "not of the format, such as"} {
			if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, strings.Join(strings.Fields(want), " ")) {
				t.Errorf("%d columns: no %q in\n%s", width, want, &b)
			}
		}
	}
	var b strings.Builder
	if err := NewTally(o).Document("x").Terminal(&b, show.Style{}); err != nil || !strings.Contains(b.String(), "No request was selected") {
		t.Errorf("%v\n%s", err, &b)
	}
}

// TestDistribution: the width of bins suits the data, and every request is in one.
func TestDistribution(t *testing.T) {
	for width, took := range map[string][]int64{
		"below 5 s": {50_000, 50_000, 60_000_000}, "below 1 ms": {0, 1000, 3000, 3000}, "below 0.002 ms": {7, 12, 30}, "below 100 ms": {75_000, 1_700_000}, "below 10 ms": {100_000, 200_000},
	} {
		tally := NewTally(&Options{})
		for _, us := range took {
			tally.add(us, 0, false)
		}
		rows, n := tally.distribution().Rows, 0
		for _, row := range rows {
			held, err := strconv.Atoi(row[1])
			if err != nil || held > 0 != (row[2] != "") {
				t.Errorf("%v: %v", row, err)
			}
			n += held
		}
		if rows[0][0] != width || n != len(took) || len(rows) > mostBins+1 {
			t.Errorf("%v: %d in %v", took, n, rows)
		}
	}
}
