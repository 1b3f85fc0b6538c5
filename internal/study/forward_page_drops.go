package study

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"linerate/internal/chart"
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

// printDrops tells where each arm's frames ended, in one table of all parts.
func printDrops(p *show.Page, r Results) {
	var all []Drops
	var names []string
	for _, part := range r.Measured() {
		if of := dropsIn(r, part); of != nil {
			all, names = append(all, of...), append(names, part)
		}
	}
	if all == nil {
		return
	}
	places := placesIn(all)
	places = append([]drop.Place{drop.Delivered}, slices.DeleteFunc(places, func(p drop.Place) bool { return p == drop.Delivered })...)
	title, header, right := "where the frames ended that part "+names[0]+" offered", []string{"variant", ""}, []bool{false, false}
	if len(names) > 1 {
		title, header, right = "where the frames ended that were offered", append([]string{"part"}, header...), append(right, false)
	}
	for _, at := range places {
		header, right = append(header, string(at)), append(right, true)
	}
	var rows [][]string
	for i, d := range all {
		row := []string{r.ArmName(d.Variant), p.Bar(d.Percent(drop.Delivered)/100, 10)}
		switch {
		case len(names) == 1:
		case i > 0 && all[i-1].Part == d.Part:
			row = append([]string{""}, row...)
		default:
			row = append([]string{d.Part}, row...)
		}
		for _, at := range places {
			row = append(row, p.Paint(placeInk(at, d), show.Percent(d.Percent(at))))
		}
		rows = append(rows, row)
	}
	PrintTable(p, title, header, right, rows)
}

// placeInk marks what needs an explanation.
func placeInk(at drop.Place, d Drops) show.Ink {
	if at == drop.Unknown && d.UnknownPercent() > drop.Doubt {
		return show.Doubt
	}
	return show.Plain
}

// endings draws a bar for each arm: where the frames ended that were offered.
func endings(r Results, part string, width float64) string {
	all := dropsIn(r, part)
	if all == nil {
		return ""
	}
	narrow := chart.IsNarrow(width)
	left, right, top, row, bar := 10.0, 10.0, 4.0, 30.0, 20.0
	if narrow {
		row = 46
	} else {
		for _, d := range all {
			left = max(left, 14+chart.TextWidth(r.ArmName(d.Variant)))
		}
	}
	places := placesIn(all)
	bottom := top + row*float64(len(all))
	columns := 3.0
	if narrow {
		columns = 1
	}
	c := chart.New(width, bottom+34+18*math.Ceil(float64(len(places))/columns))
	s := chart.Scale{To: 100, Left: left, Span: width - left - right}
	for _, v := range s.Ticks(5) {
		c.Line("grid", s.At(v), top, s.At(v), bottom)
		c.Tick(s.At(v), bottom+14, show.Tick(v)+" %")
	}
	for i, d := range all {
		y := top + row*float64(i) + (row-bar)/2
		if narrow {
			c.Text("name", "start", 2, y-1, r.ArmName(d.Variant))
			y += 6
		} else {
			c.Text("name", "end", left-8, y+14, r.ArmName(d.Variant))
		}
		stack(c, s, d, r.ArmName(d.Variant), y, bar)
	}
	for i, p := range places {
		x := 10 + math.Mod(float64(i), columns)*(width/columns)
		y := bottom + 34 + 18*math.Floor(float64(i)/columns)
		c.Rect("ends at-"+class(p), x, y-9, 10, 10)
		c.Text("name", "start", x+15, y, p.Words())
	}
	return c.SVG("where the frames ended that were offered in part " + part)
}

// stack draws one arm's bar.
func stack(c *chart.Canvas, s chart.Scale, d Drops, arm string, y, height float64) {
	at := 0.0
	whole := max(100.0, 100*float64(d.Offered+d.Excess)/float64(max(1, d.Offered)))
	for _, p := range drop.Places() {
		share := 100 * d.Percent(p) / whole
		if share <= 0 {
			continue
		}
		x, w := s.At(at), s.At(at+share)-s.At(at)
		c.Shape(`<rect class="ends at-%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s</title></rect>`,
			class(p), x, y, max(0.5, w-1), height, html.EscapeString(endingTitle(d, p, arm)))
		if text := show.Percent(d.Percent(p)); chart.TextWidth(text)+8 < w {
			c.Text("inside", "middle", x+w/2, y+14, text)
		}
		at += share
	}
}

// endingTitle says of a place what was counted there.
func endingTitle(d Drops, p drop.Place, arm string) string {
	text := fmt.Sprintf("%s: %s, %s of %s offered frames (%s)", arm, p.Words(), show.Count(d.At(p)), show.Count(d.Offered), show.Percent(d.Percent(p)))
	for _, b := range d.Buckets {
		if b.Place != p {
			continue
		}
		for _, cause := range b.Causes {
			text += fmt.Sprintf("\n%s %s", cause.Name, show.Count(cause.Frames))
			if cause.Machine {
				text += " at most: the counter is the whole machine's"
			}
		}
	}
	return text
}

func class(p drop.Place) string { return strings.ReplaceAll(string(p), " ", "-") }
