package study

import (
	"fmt"
	"math"
	"time"

	"linerate/internal/document"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// HostEffect is what a whole host gains where connections draw their arms: the variant with nine
// connections in ten treated against the control with one in ten, window against window. Where
// the arms share a bottleneck, a connection may gain what another loses.
type HostEffect struct {
	stats.Effect
	Fours int `json:"fours"` // of windows, one of each share in random order
	// P is of "no other than the effect between the connections of a window", and Apart says
	// that the host is not shown to gain what its connections do.
	P     stats.Number `json:"p_value"`
	Apart bool         `json:"apart,omitempty"`
}

// deriveConnections asks whether the arms disturb each other, and takes back verdicts on the host
// where they do.
func deriveConnections(r *Results, s Spec) {
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if v.Host = hostEffect(*r, *v); v.Host == nil || !v.Host.Apart {
			continue
		}
		v.Warnings = append(v.Warnings, fmt.Sprintf("the connections differ by %s and the whole host by %s %s: the arms share a bottleneck, and what one gains the other loses",
			v.Text(), v.Host.Text(), v.Host.Bounds()))
		v.Verdict = stats.Inconclusive
	}
}

// hostEffect compares the outer shares of each four windows; nil where there are too few.
func hostEffect(r Results, v Verdict) *HostEffect {
	m, ok := metricOfConnections(v.Metric)
	if !ok {
		return nil
	}
	type four struct{ direct, windows, few, most float64 }
	fours := map[int]*four{}
	values := map[[2]any]float64{}
	for _, t := range r.Trials {
		if x, ok := t.Metrics[v.Metric]; ok && t.Valid && t.Block > 0 && t.Saw().Connections != nil {
			values[[2]any{t.Block, t.Variant}] = x
		}
	}
	scale := func(x float64) float64 {
		if m.Share {
			return x
		}
		return math.Log(x)
	}
	for _, t := range r.Trials {
		c := t.Saw().Connections
		control, both := values[[2]any{t.Block, v.Control}]
		treated, is := values[[2]any{t.Block, v.Variant}]
		if c == nil || t.Variant != v.Variant || !both || !is {
			continue
		}
		f := fours[(t.Block-1)/4]
		if f == nil {
			f = &four{few: math.NaN(), most: math.NaN()}
			fours[(t.Block-1)/4] = f
		}
		f.direct, f.windows = f.direct+scale(treated)-scale(control), f.windows+1
		switch c.Share {
		case fewTreated:
			f.few = scale(control)
		case mostOfAll:
			f.most = scale(treated)
		}
	}
	var whole, apart []float64
	for _, f := range fours {
		if total := f.most - f.few; !math.IsNaN(total) && !math.IsInf(total, 0) {
			whole, apart = append(whole, total), append(apart, total-f.direct/f.windows)
		}
	}
	if len(whole) < 2 {
		return nil
	}
	return judgeHost(stats.OneSample(whole, 0.95), stats.OneSample(apart, 0.95), v, m, len(whole))
}

func judgeHost(whole, apart stats.Test, v Verdict, m unitMetric, fours int) *HostEffect {
	h := &HostEffect{Fours: fours, P: stats.Num(apart.P)}
	if m.Share {
		h.EffectPoints, h.PointsLow, h.PointsHigh = stats.Num(100*whole.Estimate), stats.Num(100*whole.Low), stats.Num(100*whole.High)
	} else {
		h.Effect = stats.EffectOf(whole.Map(stats.Percent))
	}
	size, _, _ := v.Size()
	switch v.Verdict {
	case stats.Better, stats.Worse:
		h.Apart = apart.P <= 0.05 && !(whole.Low > 0 && size.Float() > 0 || whole.High < 0 && size.Float() < 0)
	case stats.Equivalent:
		h.Apart = apart.P <= 0.05 && !whole.Contains(0)
	}
	return h
}

func connectionsMethod(s Spec, r Results, p Part) string {
	t := p.terms()
	return fmt.Sprintf("Each connection that the host accepted drew its arm when it was established, by a keyed hash of its addresses and ports; treated ones got the setting as socket options. "+
		"Both arms were up at once, in %d windows of %s; the share of treated connections was 10, 50 or 90 %% in each, in random order. "+
		"The unit is the connection, weighted by its chance of being in its arm; variances are of sums over clients. A second coin splits the control for the A/A comparison.",
		p.Blocks, span(seconds(t.Window)))
}

// classes are of the round trip of the handshake, from each to the next, in seconds.
var classes = []float64{0, 0.005, 0.02, 0.1, math.Inf(1)}

// connectionSections are what a report shows of studies by connection.
func connectionSections(s Spec, r Results) []Section {
	if s.Design != Concurrent || len(r.Trials) == 0 {
		return nil
	}
	section := Section{Title: "Connections"}
	section.add(true, classTable(s, r), hostTable(r), countTable(s, r))
	return []Section{section}
}

// classTable has the primary effect by the distance of clients.
func classTable(s Spec, r Results) document.Table {
	t := document.Table{Title: "By round trip of the handshake", Header: []string{"round trip", "variant", "connections", "effect", "95 % interval"},
		Note: "Exploratory: the primary metric among clients at a like distance, measured before anything was set."}
	g := s.Primary()
	m, _ := metricOfConnections(g.Metric)
	for i, from := range classes[:len(classes)-1] {
		trials := ofClass(r.Trials, from, classes[i+1])
		for _, v := range s.Variants {
			if v.Name == s.Control {
				continue
			}
			c := compareConnections(s, g, trials, []stats.Arm{{Name: v.Name}}, options(m.Metric, g, r.Seed))[0]
			if c.N == 0 {
				continue
			}
			e := c.Result()
			t.Rows = append(t.Rows, []string{classText(from, classes[i+1]), v.Name, show.Count(c.NControl + c.NVariant), e.Text(), e.Bounds()})
		}
	}
	return t
}

func classText(from, to float64) string {
	switch {
	case from == 0:
		return "below " + show.Nanos(1e9*to)
	case math.IsInf(to, 1):
		return show.Nanos(1e9*from) + " and more"
	}
	return show.Nanos(1e9*from) + " to " + show.Nanos(1e9*to)
}

// ofClass are the trials with the connections alone whose handshake took so long.
func ofClass(trials []Trial, from, to float64) (out []Trial) {
	for _, t := range trials {
		c := t.Saw().Connections
		if c == nil || !c.whole() {
			continue
		}
		some := Connections{Share: c.Share}
		for i, rtt := range c.FirstRTT {
			if rtt > 0 && rtt >= from && rtt < to {
				some.Add(Connection{c.Client[i], rtt, c.RTT[i], c.Duration[i], c.Rate[i], c.Segments[i], c.Again[i], c.Bytes[i]})
			}
		}
		o := *t.Observed
		o.Connections = &some
		t.Observed = &o
		out = append(out, t)
	}
	return out
}

// hostTable has what the shares say of the whole host.
func hostTable(r Results) document.Table {
	t := document.Table{Title: "The whole host", Header: []string{"metric", "variant", "between connections", "90 % against 10 % treated", "95 % interval", "p of a difference", ""},
		Note: "Connections that share a bottleneck may take from each other. Windows with most and with few treated connections show what the host gains as a whole."}
	for _, v := range r.Verdicts {
		if v.Host == nil {
			continue
		}
		m, _ := r.Metric(v.Metric)
		says := ""
		if v.Host.Apart {
			says = "helps the connection, not the host"
		}
		t.Rows = append(t.Rows, []string{m.Label, v.Variant, v.Text(), v.Host.Text(), v.Host.Bounds(), show.Optional(v.Host.P, show.P), says})
	}
	return t
}

// countTable has what became of each arm's connections.
func countTable(s Spec, r Results) document.Table {
	t := document.Table{Title: "What became of them", Header: []string{"arm", "opened", "ended", "still open", "refused", "unseen", "clients"},
		Note: "A connection that had not ended one window after its own is in no number."}
	for _, arm := range s.Arms() {
		var sum Connections
		clients := map[uint32]bool{}
		for _, trial := range r.Trials {
			if c := trial.Saw().Connections; c != nil && trial.Variant == arm {
				sum.Opened, sum.Open, sum.Refused, sum.Lost = sum.Opened+c.Opened, sum.Open+c.Open, sum.Refused+c.Refused, sum.Lost+c.Lost
				for _, client := range c.Client {
					clients[client] = true
				}
			}
		}
		row := []string{arm}
		for _, n := range []int{sum.Opened, sum.Opened - sum.Open - sum.Lost, sum.Open, sum.Refused, sum.Lost, len(clients)} {
			row = append(row, show.Count(n))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Lasts is how long a study by connection takes: its ramp, its windows, and one more in which the
// last connections end.
func Lasts(p Part) time.Duration { return time.Duration(p.Blocks+2) * seconds(p.terms().Window) }
