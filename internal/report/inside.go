package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"linerate/internal/document"
	"linerate/internal/list"
	"linerate/internal/profile"
	"linerate/internal/show"
	"linerate/internal/study"
)

// moversShown is how many functions a report lists of those that moved.
const moversShown = 12

// insideOf are a part's telemetry, the control's first; nil without it.
func insideOf(r study.Results, part string) (all []study.Telemetry) {
	for _, t := range r.Telemetry {
		if t.Part != part || t.Unavailable != "" {
			continue
		}
		if t.Variant == r.Control {
			all = append([]study.Telemetry{t}, all...)
		} else {
			all = append(all, t)
		}
	}
	return all
}

// stacksOf are the control's profile and those of the others.
func stacksOf(all []study.Telemetry, control string) (before *profile.Profile, others []study.Telemetry) {
	for _, t := range all {
		switch {
		case t.Stacks == nil:
		case t.Variant == control:
			before = t.Stacks
		default:
			others = append(others, t)
		}
	}
	return before, others
}

// flames draws where the time of the control went, or of the first variant that has a
// profile, and lists what moved in each other.
func flames(r study.Results, part string) (out []document.Block) {
	before, others := stacksOf(insideOf(r, part), r.Control)
	name := r.Control
	if before == nil && len(others) > 0 {
		name, before, others = others[0].Variant, others[0].Stacks, others[1:]
	}
	if before == nil {
		return nil
	}
	title := name + ", part " + part
	svg, caption := before.Flame(title) // escapes every name
	out = append(out, document.Picture{Title: title, Text: profile.HeaviestSentence(before), Caption: caption, SVG: template.HTML(svg)})
	for _, t := range others {
		movers := profile.Movers(before, t.Stacks)
		moved := moversTable(movers)
		moved.Title, moved.Note = t.Variant+" against "+name+", part "+part, profile.MoverSentence(movers)
		if len(moved.Rows) == 0 {
			out = append(out, document.Note(moved.Title+": "+moved.Note))
			continue
		}
		out = append(out, moved)
	}
	return out
}

// inside shows what instruments saw of the parts; a terminal names what moved most.
func inside(d *document.Document, s study.Spec, r study.Results) {
	var pictures, tables []document.Block
	for _, part := range s.MeasuredParts(&r) {
		if _, ok := study.Timeline(part); ok {
			pictures = append(pictures, flames(r, part.Name)...)
			tables = append(append(tables, moved(r, part.Name)), insideTables(r, part.Name)...)
		}
	}
	if len(pictures) > 0 {
		d.Style = profile.FlameStyle()
		d.Add(document.OnPage(append([]document.Block{document.Heading("Where the time went"), document.Note("Each variant was profiled in a separate run, whose rates are not used because sampling disturbs them. Shares are of the time that packets took on the router's CPU. The profiles are in the same directory as this page; `go tool pprof` opens them, and compares two with `-diff_base`.")}, pictures...)))
	}
	d.Add(tables...)
	for _, l := range lacks(r) {
		d.Add(document.Note("Not seen: " + l + "."))
	}
}

// moved tells on a terminal what moved most in each variant's time.
func moved(r study.Results, part string) document.Block {
	t := document.Table{Title: fmt.Sprintf("where the time of part %s went: what moved most against %s, in points of CPU time", part, r.Control), Header: []string{"variant", "functions"}}
	before, others := stacksOf(insideOf(r, part), r.Control)
	for _, o := range others {
		if before != nil {
			t.Rows = append(t.Rows, []string{o.Variant, topMovers(profile.Movers(before, o.Stacks), 3)})
		}
	}
	return document.OnTerminal(func(p *show.Page) { document.Print(p, t) })
}

func moversTable(movers []profile.Mover) document.Table {
	t := document.Table{Header: []string{"function", "self", "before", "after", "with callees", "before", "after"}}
	for i, m := range movers {
		if i == moversShown || profile.Still(m) {
			break
		}
		t.Rows = append(t.Rows, []string{show.Clean(m.Name), profile.Points(m.SelfPoints), show.Percent(m.BeforeSelf), show.Percent(m.AfterSelf),
			profile.Points(m.TotalPoints), show.Percent(m.BeforeTotal), show.Percent(m.AfterTotal)})
	}
	return t
}

// insideTables are the counters per packet and the kernel's reasons of a part.
func insideTables(r study.Results, part string) (out []document.Block) {
	all := insideOf(r, part)
	for _, t := range []document.Table{perPacket(all), reasons(all)} {
		if len(t.Rows) > 0 {
			t.Title += ", part " + part
			out = append(out, t)
		}
	}
	return out
}

// perPacket is a row for each variant, a column for each counter that any of them
// has, and instructions per cycle where both are known.
func perPacket(all []study.Telemetry) document.Table {
	t := document.Table{Title: "Counters per packet", Header: []string{"variant"}, Note: "the CPU's counters while the variant's traffic ran, per packet received; they include waiting."}
	var events []string
	for _, v := range all {
		for _, c := range v.PerPacket {
			if !slices.Contains(events, c.Event) {
				events = append(events, c.Event)
			}
		}
	}
	ratio := slices.Contains(events, "cycles") && slices.Contains(events, "instructions")
	if t.Header = append(t.Header, events...); ratio {
		t.Header = append(t.Header, "instructions per cycle")
	}
	for _, v := range all {
		if len(v.PerPacket) == 0 {
			continue
		}
		row, each := []string{v.Variant}, map[string]float64{}
		for _, event := range events {
			each[event] = math.NaN()
		}
		for _, c := range v.PerPacket {
			each[c.Event] = c.Each()
		}
		for _, event := range events {
			row = append(row, show.Digits(each[event]))
		}
		if ratio {
			row = append(row, show.Digits(each["instructions"]/each["cycles"]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// reasons is a row for each reason that the kernel gave for dropping packets.
func reasons(all []study.Telemetry) document.Table {
	t := document.Table{Title: "The kernel's reasons for dropping packets", Header: []string{"variant", "reason", "frames", "of those offered", "where"},
		Note: "from the tracepoint skb:kfree_skb, in a separate run; frames that a full ring refused never became packets and have no reason."}
	for _, v := range all {
		if v.Drops == nil {
			continue
		}
		for _, b := range v.Drops.Buckets {
			for _, c := range b.Causes {
				if n := v.Reasons[c.Name]; n > 0 {
					t.Rows = append(t.Rows, []string{v.Variant, c.Name, show.Count(n), show.Percent(100 * float64(n) / float64(max(1, v.Drops.Offered))), b.Place.Words()})
				}
			}
		}
	}
	return t
}

// lacks says once what the instruments could not see.
func lacks(r study.Results) (out []string) {
	by := map[string][]string{}
	var order []string
	for _, t := range r.Telemetry {
		for _, m := range t.Missing {
			if len(by[m.Why]) == 0 {
				order = append(order, m.Why)
			}
			known := false
			for _, what := range by[m.Why] {
				known = known || what == m.What
			}
			if !known {
				by[m.Why] = append(by[m.Why], m.What)
			}
		}
	}
	return list.Map(order, func(why string) string { return fmt.Sprintf("%s: %s", strings.Join(by[why], ", "), why) })
}

// topMovers are the first n that moved, in words.
func topMovers(movers []profile.Mover, n int) string {
	var out []string
	for _, m := range movers {
		if len(out) == n || profile.Still(m) {
			break
		}
		out = append(out, show.Clean(m.Name)+" "+strings.TrimSuffix(profile.Points(m.SelfPoints), " points"))
	}
	return strings.Join(out, ", ")
}
