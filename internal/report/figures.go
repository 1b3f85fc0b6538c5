package report

import "linerate/internal/chart"

// figures are pictures of one kind, one of each part.
type figures struct{ Shown, Folded []chart.Figure }

func (f *figures) add(shown bool, charts []chart.Figure) {
	if shown {
		f.Shown = append(f.Shown, charts...)
	} else {
		f.Folded = append(f.Folded, charts...)
	}
}

// Any reports whether there is one.
func (f figures) Any() bool { return len(f.Shown)+len(f.Folded) > 0 }
