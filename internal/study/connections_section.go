package study

import (
	"fmt"
	"math"
	"time"

	"linerate/internal/document"
	"linerate/internal/show"
	"linerate/internal/stats"
)

// HostEffect is what a whole host gains when all connections are treated instead of none, estimated from the
// windows' shares. Where the arms share a bottleneck, one connection may gain what another loses.
type HostEffect struct {
	stats.Effect
	// Between is the effect between the connections of the same window.
	Between stats.Effect `json:"between_connections"`
	Windows int          `json:"windows"`
	// P tests that the host gains what its connections do; Apart says that the
	// host is not shown to gain that.
	P     stats.Number `json:"p_value"`
	Apart bool         `json:"apart,omitempty"`
}

// The levels at which the host's effect is distinguished from its connections'. Losing a
// verdict is better than promising a host a gain that it does not get. The host's effect is
// less precise, so it replaces the connections' only where the two differ beyond doubt.
const (
	apartLevel = 0.1
	otherLevel = 0.005
)

// deriveConnections tests whether the arms disturb each other, and withdraws
// verdicts about the host where they do.
func deriveConnections(r *Results, s Spec) {
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		switch v.Host = hostEffect(*r, *v); {
		case v.Host == nil:
			continue
		case !v.Host.Apart:
			v.takeHost()
			continue
		}
		w := wordsOf(v.Metric)
		v.Warnings = append(v.Warnings, fmt.Sprintf("the %s differ by %s, the whole %s by %s %s: %s",
			w.units, v.Text(), w.whole, v.Host.Text(), v.Host.Bounds(), w.share))
		v.Verdict = stats.Inconclusive
	}
}

// unitWords are the words of reports for the study's units, for what the units belong to, and for how they share it.
type unitWords struct{ units, whole, share string }

func wordsOf(metric string) unitWords {
	if m, _ := MetricNamed(metric); m.Mode == FlowsMode {
		return unitWords{"flows", "router", "they wait for one another, and what is saved on one is saved for all"}
	}
	return unitWords{"connections", "host", "they share a bottleneck, and what one gains another loses"}
}

// takeHost replaces the effect by that of the whole host, if the two are shown
// to differ and the verdict still holds.
func (v *Verdict) takeHost() {
	h := v.Host
	if !(h.P.Float() <= otherLevel) || !v.Verdict.Differs() {
		return
	}
	w := wordsOf(v.Metric)
	v.Effect, v.Method = h.Effect, v.Method+"; the effect is the whole "+w.whole+"'s, by the windows' shares"
	v.Warnings = append(v.Warnings, fmt.Sprintf("the %s of a window differ by %s, but share what limits them: the effect is that on the whole %s", w.units, h.Between.Text(), w.whole))
	if size := h.EffectPercent; v.EffectNS.Known() && size.Known() {
		of := func(n stats.Number) stats.Number { return stats.Num(v.ControlMean.Float() * n.Float() / 100) }
		v.EffectNS, v.NSLow, v.NSHigh = of(size), of(h.CILow), of(h.CIHigh)
	}
}

// hostEffect adds to the effect between connections what all connections lose or gain with the treated
// share: the slope, over windows, of the metric of all connections in a window after the effect is
// removed from the treated ones. The shares come in random order, so drift is noise.
func hostEffect(r Results, v Verdict) *HostEffect {
	m, ok := connectionMetricNamed(v.Metric)
	size, low, high := v.Size()
	if !ok || !size.Known() || !low.Known() {
		return nil
	}
	onScale := func(x float64) float64 { return math.Log1p(max(-0.999, x/100)) }
	if m.Share {
		onScale = func(x float64) float64 { return x / 100 }
	}
	direct := onScale(size.Float())
	se := (onScale(high.Float()) - onScale(low.Float())) / (2 * 1.96)
	windows, shares := map[int][]stats.Unit{}, map[int]float64{}
	for _, t := range r.Trials {
		c := t.Saw().Connections
		if c == nil || t.Block == 0 || !t.Valid || t.Part != v.Part {
			continue
		}
		units := m.of(*c)
		for i := range units {
			switch {
			case t.Variant != v.Variant:
			case m.Share:
				units[i].Value -= direct * units[i].Of
			default:
				units[i].Value *= math.Exp(-direct)
			}
		}
		windows[t.Block], shares[t.Block] = append(windows[t.Block], units...), c.Share
	}
	var x, y []float64
	for block, units := range windows {
		value := m.summary(units)
		if !m.Share {
			value = math.Log(value)
		}
		if !math.IsNaN(value) && !math.IsInf(value, 0) {
			x, y = append(x, shares[block]), append(y, value)
		}
	}
	slope, ok := stats.Slope(x, y)
	if !ok {
		return nil
	}
	whole := stats.SumOf(slope, direct, se)
	h := &HostEffect{Between: v.Effect, Windows: len(x), P: stats.Num(slope.P)}
	if m.Share {
		h.EffectPoints, h.PointsLow, h.PointsHigh = stats.Num(100*whole.Estimate), stats.Num(100*whole.Low), stats.Num(100*whole.High)
	} else {
		h.Effect = stats.EffectOf(whole.Map(stats.Percent))
	}
	against := (slope.Estimate > 0) != (direct > 0)
	switch v.Verdict {
	case stats.Better, stats.Worse:
		h.Apart = against && slope.P <= apartLevel && whole.Contains(0)
	case stats.Equivalent:
		h.Apart = slope.P <= apartLevel && !whole.Contains(0)
	}
	return h
}

func connectionsMethod(p Part) string {
	t := p.terms()
	return fmt.Sprintf("Each connection that the host accepted drew its arm when it was established, by a keyed hash of its addresses and ports; treated ones got the setting as socket options. "+
		"Both arms were up at once, in %d windows of %s; the share of treated connections was 10, 50 or 90 %% in each, in random order. "+
		"The unit is the connection, weighted by its chance of being in its arm; variances are of sums over clients. A second coin splits the control for the A/A comparison.",
		p.Blocks, span(Seconds(t.Window)))
}

// classes are the limits of classes of the handshake's round trip, in seconds.
var classes = []float64{0, 0.005, 0.02, 0.1, math.Inf(1)}

func connectionSections(s Spec, r Results) []document.Block {
	if s.Design != Concurrent || len(r.Trials) == 0 {
		return nil
	}
	return section("Connections", "", classTable(s, r), hostTable(r), countTable(s, r))
}

// classTable shows the primary effect by the clients' round trip.
func classTable(s Spec, r Results) document.Table {
	t := document.Table{Title: "By round trip of the handshake", Header: []string{"round trip", "variant", "connections", "effect", "95 % interval"},
		Note: "Exploratory: the primary metric among clients at a like distance, measured before anything was set."}
	g := s.Primary()
	m, _ := connectionMetricNamed(g.Metric)
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

// ofClass returns the trials with only the connections whose handshake took between from and to seconds.
func ofClass(trials []Trial, from, to float64) (out []Trial) {
	for _, t := range trials {
		c := t.Saw().Connections
		if c == nil || !c.whole() {
			continue
		}
		some := Connections{Share: c.Share}
		for i, rtt := range c.FirstRTT {
			if rtt > 0 && rtt >= from && rtt < to {
				some.Add(c.At(i))
			}
		}
		o := *t.Observed
		o.Connections = &some
		t.Observed = &o
		out = append(out, t)
	}
	return out
}

// hostTable shows what the shares say about the whole host.
func hostTable(r Results) document.Table {
	t := document.Table{Title: "The whole host", Header: []string{"metric", "variant", "between connections", "all against none treated", "95 % interval", "p of a difference", ""},
		Note: "Connections that share a bottleneck may take from each other. How the metric of all moves with the share of treated ones, from window to window, shows what the host gains as a whole."}
	for _, v := range r.Verdicts {
		if v.Host == nil {
			continue
		}
		m, _ := r.Metric(v.Metric)
		says := ""
		if v.Host.Apart {
			says = "helps the connection, not the host"
		}
		t.Rows = append(t.Rows, []string{m.Label, v.Variant, v.Host.Between.Text(), v.Host.Text(), v.Host.Bounds(), show.Optional(v.Host.P, show.P), says})
	}
	return t
}

// countTable shows what became of each arm's connections.
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

// Lasts returns how long a study by connection takes: its ramp, its windows,
// and one more window in which the last connections end.
func Lasts(p Part) time.Duration { return time.Duration(p.Blocks+2) * Seconds(p.terms().Window) }
