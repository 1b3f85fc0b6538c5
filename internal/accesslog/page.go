package accesslog

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"linerate/internal/chart"
	"linerate/internal/show"
)

//go:embed page.html
var pageText string

var page = chart.NewPage("logs", pageText, template.FuncMap{
	"count":   func(n int64) string { return show.Grouped(float64(n), 0) },
	"us":      seconds,
	"percent": func(f float64) string { return show.Percent(100 * f) },
	"when": func(unix int64) string {
		if unix == 0 {
			return ""
		}
		return time.Unix(unix, 0).UTC().Format("2006-01-02 15:04:05")
	},
})

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
	Linear, Log, Heat    []chart.Figure
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
		Cumulative                       []chart.Figure
	}{Title: "Request times of " + strings.Join(p.Names, ", "), Command: p.Command, Compare: p.Compared,
		Answer: p.Tallies[0].Sentence(), By: p.Tallies[0].opts.By.String(),
		Made: fmt.Sprintf("Made %s by linerate %s.", p.Made.UTC().Format("2006-01-02 15:04 UTC"), p.Version)}
	if len(p.Compared) > 0 {
		data.Answer = p.Compared[0].Sentence
		data.Cumulative = chart.Draw("Share of requests answered within a time", "", func(w float64) string { return cumulativeChart(p.Names, p.Tallies, w) })
	}
	for i, t := range p.Tallies {
		data.Logs = append(data.Logs, t.pageLog(p.Names[i]))
	}
	return page.Write(w, data)
}

func (t *Tally) pageLog(name string) pageLog {
	l := pageLog{Name: name, Filter: t.Filter(), Format: t.opts.Format.Name,
		Linear: chart.Draw("Requests by time taken, in bins of "+seconds(t.pictureBin(pictureColumns)), "", func(w float64) string { return t.histogramChart("", false, w) }),
		Log:    chart.Draw("The same on a logarithmic scale", "", func(w float64) string { return t.histogramChart("", true, w) }),
		Lines:  t.Lines, Selected: t.Selected, Bad: t.BadLines(), Slowest: t.Slowest()}
	for _, q := range quantiles {
		l.Quantiles = append(l.Quantiles, namedValue{q.name, t.took(t.Quantile(q.q))})
	}
	l.Quantiles = append(l.Quantiles, namedValue{"max", t.took(t.Max)})
	for i, u := range t.opts.Under {
		l.Under = append(l.Under, namedValue{"under " + duration(u), percent(floorPercent(t.Under[i], t.Selected))})
	}
	for r, n := range t.Bad {
		if n > 0 {
			l.Reasons = append(l.Reasons, fmt.Sprintf("%d %s", n, reasonTexts[r]))
		}
	}
	if t.opts.Format.Has(Time) {
		l.Heat = chart.Draw("Over time", "Each column is a stretch of time (UTC). The stronger a cell's colour, the more of the requests of its column took that long.", t.heatChart)
	}
	if l.Groups = t.Groups(); len(l.Groups) > 40 {
		l.Groups = l.Groups[:40]
	}
	return l
}
