package study

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"linerate/internal/document"
	"linerate/internal/show"
)

// guardTable says how near each guardrail came, the nearest first.
func guardTable(windows []window) document.Table {
	t := document.Table{Title: "Guardrails", Header: []string{"guardrail", "nearest", "value", "limit", "when", ""},
		Note: "How near each guardrail came to ending the study, under treatment: 100 % trips. A limit that follows the control moves with it, and counts by four standard errors."}
	nearest, place, trips := map[string]Nearest{}, map[string]string{}, map[string]string{}
	for _, w := range windows {
		for name, n := range w.Nearest {
			if n.Share >= nearest[name].Share {
				nearest[name], place[name] = n, fmt.Sprintf("%s, %s", w.place(), after(windows, w, n.At))
			}
		}
		if w.Trip != nil {
			trips[w.Trip.Guardrail] = w.Trip.Text
		}
	}
	names := slices.Collect(maps.Keys(nearest))
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(nearest[b].Share, nearest[a].Share), cmp.Compare(a, b))
	})
	for _, name := range names {
		n := nearest[name]
		t.Rows = append(t.Rows, []string{name, show.WholePercent(100 * n.Share), inUnit(n.Unit, n.Value), inUnit(n.Unit, n.Limit), place[name], trips[name]})
	}
	return t
}

// place is a window in words.
func (w window) place() string {
	switch {
	case w.Ramp:
		return "first exposures"
	case w.Pair == 0:
		return "rest"
	}
	return fmt.Sprintf("pair %d.%d", w.Pair, w.Half)
}

// after is when something was, so many seconds after a window's switch, on the clock of
// the pictures.
func after(windows []window, w window, at float64) string {
	return span(w.Start.Sub(windows[0].Start) + Seconds(w.Switch+at))
}

// dropTable has what each arm dropped of its packets, by place, in the windows that count.
func dropTable(windows []window) document.Table {
	t := document.Table{Title: "Drops by place", Header: []string{"place"}, Note: "Of the packets that the host handled, in the windows that count."}
	packets, drops := map[string]float64{}, map[string]map[string]float64{}
	for _, w := range windows {
		if w.Ramp || w.Pair == 0 || !w.Valid {
			continue
		}
		if packets[w.Variant] == 0 {
			t.Header = append(t.Header, w.Variant)
		}
		packets[w.Variant] += w.Traffic
		for at, n := range w.Drops {
			if drops[at] == nil {
				drops[at] = map[string]float64{}
			}
			drops[at][w.Variant] += n
		}
	}
	slices.Sort(t.Header[1:])
	for _, at := range slices.Sorted(maps.Keys(drops)) {
		row := []string{at}
		for _, arm := range t.Header[1:] {
			row = append(row, show.Loss(drops[at][arm]/max(1e-9, packets[arm])))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
