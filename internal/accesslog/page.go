package accesslog

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"linerate/internal/show"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("logs").Funcs(template.FuncMap{
	"count":   func(n int64) string { return show.Grouped(float64(n), 0) },
	"us":      seconds,
	"percent": func(f float64) string { return fmt.Sprintf("%.1f %%", 100*f) },
	"num":     func(what string, v float64) string { return compared(what, v, "") },
	"signed":  func(what string, v float64) string { return compared(what, v, "+") },
	"when": func(unix int64) string {
		if unix == 0 {
			return ""
		}
		return time.Unix(unix, 0).UTC().Format("2006-01-02 15:04:05")
	},
}).Parse(pageText))

// compared prints a number of a comparison in its unit.
func compared(what string, v float64, flag string) string {
	if strings.HasPrefix(what, "share") && flag != "" {
		return fmt.Sprintf("%+.1f points", v)
	}
	if strings.HasPrefix(what, "share") {
		return fmt.Sprintf("%.1f %%", v)
	}
	return fmt.Sprintf("%"+flag+".4g s", v)
}

// Page is what an HTML page about logs is made of.
type Page struct {
	Names    []string
	Tallies  []*Tally
	Compared []*Comparison // of the first log with the others
	Command  string        // that makes the page again
	Made     time.Time
	Version  string
}

type namedValue struct{ Name, Value string }

// pageLog is one log in the page's template.
type pageLog struct {
	Name, Filter, Format string
	Linear, Log, Heat    template.HTML
	Quantiles, Under     []namedValue
	Groups               []Group
	Slowest              []SlowRequest
	Lines, Selected, Bad int64
	Reasons              []string
}

// WriteHTML writes one self-contained page; it loads nothing.
func (p *Page) WriteHTML(w io.Writer) error {
	data := struct {
		Title, Answer, Made, Command, By string
		Logs                             []pageLog
		Compare                          []*Comparison
		Cumulative                       template.HTML
	}{Title: "Request times of " + strings.Join(p.Names, ", "), Command: p.Command, Compare: p.Compared,
		Answer: p.Tallies[0].Sentence(), By: p.Tallies[0].opts.By.String(),
		Made: fmt.Sprintf("Made %s by linerate %s.", p.Made.UTC().Format("2006-01-02 15:04 UTC"), p.Version)}
	if len(p.Compared) > 0 {
		data.Answer = p.Compared[0].Sentence
		data.Cumulative = template.HTML(cumulativeChart(p.Names, p.Tallies))
	}
	for i, t := range p.Tallies {
		data.Logs = append(data.Logs, t.pageLog(p.Names[i]))
	}
	return page.Execute(w, data)
}

func (t *Tally) pageLog(name string) pageLog {
	l := pageLog{Name: name, Filter: t.opts.Filter.String(), Format: t.opts.Format.Name,
		Linear: template.HTML(t.histogramChart("Requests by time taken, bins of "+seconds(t.opts.binWidth()), false)),
		Log:    template.HTML(t.histogramChart("The same on a logarithmic scale", true)),
		Lines:  t.Lines, Selected: t.Selected, Bad: t.BadLines(), Slowest: t.Slowest()}
	for _, q := range quantiles {
		l.Quantiles = append(l.Quantiles, namedValue{q.name, t.took(t.Quantile(q.q))})
	}
	l.Quantiles = append(l.Quantiles, namedValue{"max", t.took(t.Max)})
	for i, u := range t.opts.Under {
		l.Under = append(l.Under, namedValue{duration(u), fmt.Sprintf("%.1f %%", floorPercent(t.Under[i], t.Selected))})
	}
	for r, n := range t.Bad {
		if n > 0 {
			l.Reasons = append(l.Reasons, fmt.Sprintf("%d %s", n, reasonTexts[r]))
		}
	}
	if t.opts.Format.Has(Time) {
		l.Heat = template.HTML(t.heatChart())
	}
	if l.Groups = t.Groups(); len(l.Groups) > 40 {
		l.Groups = l.Groups[:40]
	}
	return l
}
