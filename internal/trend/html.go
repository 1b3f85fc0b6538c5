package trend

import (
	_ "embed"
	"io"

	"linerate/internal/chart"
	"linerate/internal/show"
)

//go:embed page.html
var pageText string

var htmlPage = chart.NewPage("changes", pageText, nil)

// said is a change in words.
type said struct {
	Status         Status
	Words, Machine string
	Turns, Beside  []string
	Rerun          string
}

// WriteHTML writes series and their changes as a page that loads nothing; command makes it
// again.
func WriteHTML(w io.Writer, all []Series, command string) error {
	d := struct {
		Title, Command string
		Nothing        string // what it means that there are no changes
		Changes        []said
		Figures        []chart.Figure
		Series         show.Table
	}{"Studies over time", command, nothing(all), nil, Figures(all), table(all)}
	for i := range all {
		for j := range all[i].Changes {
			c := &all[i].Changes[j]
			d.Changes = append(d.Changes, said{c.Status, all[i].headline(c), all[i].Subject, c.Turns, c.Beside, c.rerun()})
		}
	}
	return htmlPage.Write(w, d)
}
