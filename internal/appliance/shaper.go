package appliance

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
)

// maxShapers is the maximum number of shapers of a configuration.
const maxShapers = 1000

func (c *Config) shape(s fact.Shaper) {
	if len(c.Shapers) < maxShapers {
		s.Line.Stage, s.Line.Effective = fact.Field, true
		c.Shapers = append(c.Shapers, s)
	}
}

// rateUnits maps prefixes of the products' units to bit/s: Kbit, Mb, gbit, k.
var rateUnits = []struct {
	word string
	bits float64
}{{"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"t", 1e12}, {"", 1}}

// rate converts a number and a unit to bit/s; nil if it is not a rate.
func rate(number, unit string) *uint64 {
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || v < 0 || math.IsNaN(v) {
		return nil
	}
	unit = strings.ToLower(strings.TrimSpace(unit))
	for _, u := range rateUnits {
		if strings.HasPrefix(unit, u.word) {
			bits := uint64(min(v*u.bits, 1e15))
			return &bits
		}
	}
	return nil
}

// whole returns the number in an element, 0 if it is not one.
func (n *node) whole(path ...string) uint64 {
	v, _ := strconv.ParseUint(n.first(path...).value(), 10, 32)
	return v
}

// opnsensePipes reads dummynet pipes, and which of them a rule sends traffic to, directly or
// through a queue: the product ignores rules whose pipe or queue is disabled.
func (s *sense) opnsensePipes() {
	shaper := s.root.first("OPNsense", "TrafficShaper")
	pipeOf := map[string]string{} // of enabled queues
	for _, q := range shaper.at("queues", "queue") {
		if q.first("enabled").value() == "1" {
			pipeOf[q.id] = q.first("pipe").value()
		}
	}
	used, known := map[string]bool{}, true
	for _, r := range shaper.at("rules", "rule") {
		target := r.first("target").value()
		if known = known && target != ""; r.first("enabled").value() == "1" {
			used[target], used[pipeOf[target]] = true, true
		}
	}
	for _, p := range shaper.at("pipes", "pipe") {
		number := p.first("number").value()
		x := s.pipe(p, number, s.p.Fields["OPNsense/TrafficShaper/pipes/pipe/enabled"]+": "+number)
		x.Enabled = p.first("enabled").value() == "1"
		x.Bandwidth = rate(p.first("bandwidth").value(), p.first("bandwidthMetric").value())
		x.Scheduler = p.first("scheduler").value()
		if x.Scheduler == "fq_codel" || p.first("codel_enable").value() == "1" {
			x.TargetMS, x.IntervalMS = float64(p.whole("codel_target")), float64(p.whole("codel_interval"))
		}
		if x.Scheduler == "fq_codel" {
			x.Quantum, x.Limit, x.Flows = p.whole("fqcodel_quantum"), p.whole("fqcodel_limit"), p.whole("fqcodel_flows")
		}
		if yes := used[p.id]; known && p.id != "" {
			x.Used = &yes
		}
		s.c.shape(x)
	}
}

// pipe returns a new pipe of either product.
func (s *sense) pipe(p *node, number, place string) fact.Shaper {
	name := "shaper/pipe/" + number
	return fact.Shaper{Kind: fact.ShaperPipe, Name: name, Line: fact.Line{File: s.file, Number: p.line, Text: "pipe " + number, Name: name, Value: p.first("bandwidth").value(), Place: place}}
}

// limited reports whether an enabled rule sends traffic to a limiter. Which one is unknown: rules
// refer to limiters by user-chosen names, which are not read.
func (s *sense) limited() bool {
	return slices.ContainsFunc(s.root.at("filter", "rule"), func(r *node) bool {
		return !r.has("disabled") && (r.first("dnpipe").value() != "" || r.first("pdnpipe").value() != "")
	})
}

// pfsenseLimiters reads limiters. If no rule names a limiter, none is used.
func (s *sense) pfsenseLimiters() {
	limited := s.limited()
	for _, q := range s.root.at("dnshaper", "queue") {
		number := q.first("number").value()
		x := s.pipe(q, number, s.p.Fields["dnshaper"]+": the limiter of number "+number)
		x.Enabled = q.has("enabled")
		x.Scheduler = q.first("sched").value()
		x.Bandwidth = s.limiterRate(q)
		codel := ""
		switch {
		case x.Scheduler == "fq_codel":
			codel = "param_fq_codel_"
			x.Quantum, x.Limit, x.Flows = q.whole(codel+"quantum"), q.whole(codel+"limit"), q.whole(codel+"flows")
		case q.first("aqm").value() == "codel":
			codel = "param_codel_"
		}
		if codel != "" {
			x.TargetMS, x.IntervalMS = float64(q.whole(codel+"target")), float64(q.whole(codel+"interval"))
		}
		if !limited {
			x.Used = &limited
		}
		s.c.shape(x)
	}
}

// limiterRate returns the bandwidth of a limiter that has only one; schedules may give it several.
func (s *sense) limiterRate(q *node) *uint64 {
	items := q.at("bandwidth", "item")
	if len(items) != 1 {
		return nil
	}
	return rate(items[0].first("bw").value(), items[0].first("bwscale").value())
}

// pfsenseALTQ reads interfaces shaped by ALTQ queues. pfSense writes nothing for an interface
// without a default queue, except with CODELQ, which has none.
func (s *sense) pfsenseALTQ() {
	for _, q := range s.root.at("shaper", "queue") {
		label := q.first("interface").value()
		name := "shaper/altq/" + label
		x := fact.Shaper{Kind: fact.ShaperALTQ, Name: name, Device: s.root.first("interfaces", label, "if").value(), Enabled: q.first("enabled").value() == "on", Scheduler: strings.ToLower(q.first("scheduler").value()),
			Limit: q.whole("qlimit"),
			Line:  fact.Line{File: s.file, Number: q.line, Text: "altq on " + label, Name: name, Value: q.first("bandwidth").value(), Place: s.p.Fields["shaper"] + " ▸ By Interface: " + strings.ToUpper(label)}}
		if unit := q.first("bandwidthtype").value(); unit != "%" {
			x.Bandwidth = rate(q.first("bandwidth").value(), unit)
		}
		if queues := q.at("queue"); len(queues) > 0 || x.Scheduler != "codelq" {
			used := slices.ContainsFunc(queues, takesRest)
			x.Used = &used
		}
		s.c.shape(x)
	}
}

// takesRest reports whether a queue is, or contains, the default queue.
func takesRest(q *node) bool {
	return q.first("default").value() != "" || slices.ContainsFunc(q.at("queue"), takesRest)
}
