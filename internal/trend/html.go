package trend

import (
	"io"

	"linerate/internal/document"
)

// WriteHTML writes series and their changes as a page that loads nothing; command makes it
// again.
func WriteHTML(w io.Writer, all []Series, command string) error {
	d := document.Document{Kicker: "linerate compare changes", Title: "Studies over time"}
	for i := range all {
		for j := range all[i].Changes {
			c := &all[i].Changes[j]
			d.Answers = append(d.Answers, document.Answer{Lead: string(c.Status), Text: ": " + all[i].headline(c)})
			note := "On " + all[i].Subject + "."
			for _, turn := range c.Turns {
				note += " Changed: " + turn + "."
			}
			for _, other := range c.Beside {
				note += " Also changed: " + other + "."
			}
			if again := c.rerun(); again != "" {
				note += " Re-run: " + again + "."
			}
			d.Add(document.Note(note))
		}
	}
	if len(d.Answers) == 0 {
		d.Answer(nothing(all), "", "")
	}
	d.Add(document.Figures(Figures(all))...)
	t := table(all)
	d.Add(document.Heading("All series"), document.Table{Header: t.Header, Rows: t.Rows,
		Note: "A change is suspected where E-divisive (Matteson and James, 2014) splits a series at the level that all of them share. Only a study in which both states take turns makes a claim of it."})
	if command != "" {
		d.Add(document.Heading("Repeat it"), document.Code(command))
	}
	return d.HTML(w)
}
