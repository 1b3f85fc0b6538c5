package study

import (
	"slices"

	"linerate/internal/document"
	"linerate/internal/drop"
	"linerate/internal/show"
)

// leastShown is the share of the offered frames, in percent, below which a
// place is not shown: one frame in two thousand.
const leastShown = 0.05

// dropsIn are the accounts of a part's arms, in their order; nil where no arm
// lost anything worth showing.
func dropsIn(r Results, part string) []Drops {
	var out []Drops
	lost := false
	for _, arm := range r.Arms(part) {
		for _, d := range r.Drops {
			if d.Part == part && d.Variant == arm {
				out = append(out, d)
				lost = lost || 100-d.Percent(drop.Delivered) >= leastShown
			}
		}
	}
	if !lost {
		return nil
	}
	return out
}

// placesIn are the places that hold enough frames of any account.
func placesIn(all []Drops) (places []drop.Place) {
	for _, p := range drop.Places() {
		for _, d := range all {
			if d.Percent(p) >= leastShown {
				places = append(places, p)
				break
			}
		}
	}
	return places
}

// dropsTable has where each arm's frames ended, of all parts.
func dropsTable(r Results) document.Table {
	var all []Drops
	for _, part := range r.Measured() {
		all = append(all, dropsIn(r, part)...)
	}
	places := slices.DeleteFunc(placesIn(all), func(p drop.Place) bool { return p == drop.Delivered })
	places = append([]drop.Place{drop.Delivered}, places...)
	t := document.Table{Header: []string{"part", "variant"}}
	for _, at := range places {
		t.Header = append(t.Header, string(at))
	}
	for _, d := range all {
		row := []string{d.Part, r.ArmName(d.Variant)}
		for _, at := range places {
			row = append(row, show.Percent(d.Percent(at)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// causesTable has the counters that saw frames end.
func causesTable(r Results) document.Table {
	t := document.Table{Title: "The counters", Header: []string{"part", "variant", "where", "counter", "frames", "of those offered"},
		Note: "A counter of the whole machine says at most how many they were."}
	for _, part := range r.Measured() {
		for _, d := range dropsIn(r, part) {
			for _, b := range d.Buckets {
				for _, cause := range b.Causes {
					name := cause.Name
					if cause.Machine {
						name += " (the whole machine's)"
					}
					t.Rows = append(t.Rows, []string{d.Part, r.ArmName(d.Variant), b.Place.Words(), name, show.Count(cause.Frames),
						show.Percent(100 * float64(cause.Frames) / float64(max(1, d.Offered)))})
				}
			}
		}
	}
	return t
}
