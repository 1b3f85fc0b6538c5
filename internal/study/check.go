package study

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/show"
	"linerate/internal/testbed"
)

// problem is what is wrong with a study, at a path of its YAML.
type problem struct {
	path, what, hint string
}

func wrong(path, format string, args ...any) *problem {
	return &problem{path: path, what: fmt.Sprintf(format, args...)}
}

func (p *problem) advise(format string, args ...any) *problem {
	p.hint = fmt.Sprintf(format, args...)
	return p
}

// Limits of what a study may ask for: beyond them a typing error is likelier
// than an intention.
const (
	maxVariants  = 64
	maxBlocks    = 10_000
	maxSeconds   = 3600
	maxFlows     = load.MaxFlows
	maxAddresses = 50_000 // of a /16, whose end is the DUT's
	maxRules     = 100_000
	maxElements  = 1 << 20
	maxRoutes    = 1 << 20
	minFrameSize = 64
	maxFrameSize = 9216
)

var nameRE = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// check finds the first thing that makes the study impossible, or nil.
func (s *Spec) check() *problem {
	for _, f := range []func() *problem{s.checkHead, s.checkTestbed, s.checkSweeps, s.checkPoints, s.checkWorkload, s.checkVariants, s.checkPlace, s.checkParts, s.checkSwept, s.checkMetrics, s.checkGates, s.checkLooks} {
		if p := f(); p != nil {
			return p
		}
	}
	return nil
}

func (s *Spec) checkHead() *problem {
	switch {
	case !nameRE.MatchString(s.Name):
		return notAName("name", "name", s.Name)
	case s.Question == "":
		return wrong("name", "study %s asks no question", s.Name).advise("add a line, question: What does … cost?")
	}
	return cmp.Or(within("blocks", s.Blocks, 1, maxBlocks), within("retries", s.Retries, 0, 100))
}

func (s *Spec) checkWorkload() *problem {
	w := s.Workload
	if p := cmp.Or(
		oneOf("workload.family", w.Family, "ipv4", "ipv6"),
		oneOf("workload.directions", cmp.Or(w.Directions, OneWay), OneWay, BothWays),
		oneOf("workload.order", w.Order, "round-robin", "random"),
		within("workload.sources", cmp.Or(w.Sources, 1), 1, maxAddresses),
		within("workload.destinations", cmp.Or(w.Destinations, 1), 1, maxAddresses),
	); p != nil {
		return p
	}
	if len(w.Sizes) > 0 && w.IMIX != "" {
		return wrong("workload.imix", "sizes and imix exclude each other").advise("keep one of them")
	}
	if w.Link != "" {
		if r, err := load.ParseRate(w.Link); err != nil || r.BPS == 0 {
			return wrong("workload.link", "link: %q is no rate of a wire", w.Link).advise("write 10Gbps")
		}
	}
	for i, q := range w.Queues {
		if q < 1 || q > maxQueues || len(w.Queues) > 8 {
			return wrong(fmt.Sprintf("workload.queues[%d]", i), "queues: up to eight numbers, each within 1 and %d", maxQueues)
		}
	}
	if w.IMIX != "" {
		if _, err := w.sizes(); err != nil {
			return wrong("workload.imix", "%v", err).advise("%s", hint.Of(err))
		}
	}
	return checkFrames("workload", w)
}

// checkFrames checks what a part may replace: sizes and the count of flows.
func checkFrames(path string, w Workload) *problem {
	if p := within(path+".flows", w.Flows, 1, maxFlows); p != nil {
		return p
	}
	if !(w.Elephant >= 0 && w.Elephant < 1) || w.Elephant > 0 && w.Flows < 2 {
		return wrong(path+".elephant", "elephant: %g is no share that one flow of several sends", w.Elephant).advise("write elephant: 0.5, and flows: 2 or more")
	}
	for i, size := range w.Sizes {
		at := fmt.Sprintf("%s.sizes[%d]", path, i)
		if size < minFrameSize || size > maxFrameSize {
			return wrong(at, "a frame of %d bytes is not within %d and %d (sizes count the 4-byte FCS)", size, minFrameSize, maxFrameSize)
		}
		if size < smallest(w.Family) {
			return wrong(at, "an IPv6 frame of %d bytes has no room for its stamp", size).advise("the smallest is %d", smallest(w.Family))
		}
	}
	return nil
}

func (s *Spec) checkVariants() *problem {
	if len(s.Variants) < 2 || len(s.Variants) > maxVariants {
		return wrong("variants", "%s: a study compares 2 to %d", show.Plural(len(s.Variants), "variant"), maxVariants).
			advise("the first is the control: variants: [{name: none}, {name: ours, settings: […]}]")
	}
	var names []string
	for i, v := range s.Variants {
		path := fmt.Sprintf("variants[%d]", i)
		switch {
		case !nameRE.MatchString(v.Name):
			return s.notSwept(notAName(path+".name", "variant name", v.Name), v.Name)
		case v.Name == AA:
			return wrong(path+".name", "the name %q is taken: it is the control's second arm, which every study has", AA).advise("choose another")
		case v.OS != "" && v.OS != "linux" && v.OS != "freebsd":
			return oneOf(path+".os", v.OS, "linux", "freebsd")
		case v.Curve != "" && !nameRE.MatchString(v.Curve):
			return notAName(path+".curve", "curve", v.Curve)
		case slices.Contains(names, v.Name):
			return wrong(path+".name", "two variants are named %q", v.Name).advise("%s", s.ofItsOwn(v.At))
		}
		names = append(names, v.Name)
		for j, set := range v.Settings {
			if p := set.check(fmt.Sprintf("%s.settings[%d]", path, j)); p != nil {
				return p
			}
		}
	}
	if !slices.Contains(names, s.Control) {
		return wrong("control", "control %q is not a variant", s.Control).advise("%s", hint.Of(hint.Unknown("variant", s.Control, names)))
	}
	return nil
}

func (s *Spec) checkParts() *problem {
	if len(s.Parts) > maxParts {
		return wrong("parts", "%d parts: a study has at most %d", len(s.Parts), maxParts)
	}
	var names []string
	for i, p := range s.Parts {
		path := fmt.Sprintf("parts[%d]", i)
		if slices.Contains(names, p.Name) {
			return wrong(path, "two parts are named %q", p.Name).advise("%s", s.ofItsOwn(p.At))
		}
		names = append(names, p.Name)
		if len(p.Sizes) > 0 && p.IMIX != "" {
			return wrong(path+".imix", "sizes and imix exclude each other").advise("keep one of them")
		}
		if p.Family != "" {
			if bad := oneOf(path+".family", p.Family, "ipv4", "ipv6"); bad != nil {
				return bad
			}
		}
		if _, err := s.Offers(p).sizes(); err != nil {
			return wrong(path+".imix", "%v", err).advise("%s", hint.Of(err))
		}
		if bad := s.checkShare(i, path); bad != nil {
			return bad
		}
		if bad := p.check(path); bad != nil {
			return bad
		}
		if bad := s.checkDirections(path, p); bad != nil {
			return bad
		}
		if bad := s.checkServe(path, p); bad != nil {
			return bad
		}
		if bad := checkFrames(path, s.Offers(p)); bad != nil {
			return bad
		}
	}
	return nil
}

func (p Part) check(path string) *problem {
	if !nameRE.MatchString(p.Name) {
		return notAName(path+".name", "part name", p.Name)
	}
	return cmp.Or(
		oneOf(path+".mode", string(p.Mode), string(testbed.Cost), string(testbed.Overload), string(testbed.Serve)),
		p.checkManagement(path), p.checkFlood(path), p.checkRate(path),
		within(path+".flows", cmp.Or(p.Flows, 1), 1, maxFlows),
		within(path+".blocks", p.Blocks, 1, maxBlocks),
		within(path+".seconds", p.Seconds, 0.05, maxSeconds),
		within(path+".warmup", p.Warmup, 0, maxSeconds),
		p.checkSearch(path),
	)
}

func (p Part) checkManagement(path string) *problem {
	switch {
	case p.Management && (p.Mode != testbed.Overload || p.Search != nil):
		return wrong(path+".management", "management is asked under a steady load only: mode overload, without a search")
	case p.Management && p.Seconds < 0.3:
		return wrong(path+".seconds", "%g s are too short to ask for management: 0.3 at least", p.Seconds)
	}
	return nil
}

func (p Part) checkFlood(path string) *problem {
	if p.Flood == "" {
		return nil
	}
	switch {
	case p.Flood != FloodSYN:
		return oneOf(path+".flood", p.Flood, FloodSYN)
	case !p.Management:
		return wrong(path+".flood", "a flood says nothing but whether the DUT still answers").advise("add management: true")
	case p.Rate.isShare() || strings.HasSuffix(string(p.Rate), "bps"):
		return wrong(path+".rate", "a flood's rate is max, or segments per second").advise("write 100kpps")
	}
	return nil
}

// checkRate wants an offered load that the mode can have.
func (p Part) checkRate(path string) *problem {
	if _, err := p.Rate.Parse(); err != nil && !p.Rate.isShare() {
		return wrong(path+".rate", "%v", err).advise("%s; or a share of the control's capacity (80%%)", hint.Of(err))
	}
	switch {
	case p.Rate.IsMax():
		return nil
	case p.Mode == testbed.Serve:
		return wrong(path+".rate", "requests have a rate of their own").advise("write http: {rate: 100}")
	case p.Mode == testbed.Cost:
		return wrong(path+".rate", "mode cost has no offered load: the chain runs as fast as one CPU can").
			advise("remove rate, or use mode: overload")
	}
	return nil
}

func (p Part) checkSearch(path string) *problem {
	switch {
	case p.Search == nil:
		return nil
	case p.Mode != testbed.Overload || !p.Rate.IsMax():
		return wrong(path+".search", "a search chooses its loads in mode overload").advise("use mode: overload and no rate")
	}
	return p.Search.check(path + ".search")
}

func (s *Spec) checkMetrics() *problem {
	primaries := 0
	for i, g := range s.Metrics {
		path := fmt.Sprintf("metrics[%d]", i)
		m, ok := MetricNamed(g.Metric)
		if !ok {
			return wrong(path+".metric", "unknown metric %q", g.Metric).advise("%s", hint.Of(hint.Unknown("metric", g.Metric, metricNames())))
		}
		part, ok := s.Part(g.Part)
		switch {
		case g.Part == "":
			return wrong(path+".metric", "%s needs a part of mode %s, and the study has none", g.Metric, m.Mode).advise("add parts: [{mode: %s}]", m.Mode)
		case !ok:
			return wrong(path+".part", "metric %s names no part of the study: %q", g.Metric, g.Part).advise("%s", hint.Of(hint.Unknown("part", g.Part, s.partNames())))
		case part.Mode != m.Mode:
			return wrong(path+".part", "%s is measured in mode %s, and part %s is of mode %s", g.Metric, m.Mode, g.Part, part.Mode)
		case !part.yields(m):
			return wrong(path+".part", "%s is not measured in part %s", g.Metric, g.Part).
				advise("a part with search: measures %s (method mlr) or %s (method rfc2544), others all else", ConditionalThroughput, Throughput)
		}
		if bad := g.checkMargin(m, path); bad != nil {
			return bad
		}
		if g.Primary {
			primaries++
		}
	}
	if primaries != 1 {
		return wrong("metrics", "%d metrics are primary: exactly one answers the question", primaries).advise("mark it with primary: true")
	}
	return nil
}

// checkMargin wants a margin that the metric can have: in percentage points of
// shares alone.
func (g Goal) checkMargin(m Metric, path string) *problem {
	switch {
	case g.MarginPoints != 0 && !m.Share:
		return wrong(path+".margin_points", "%s is no share of a whole", g.Metric).advise("write margin_percent")
	case !(g.MarginPoints >= 0 && g.MarginPoints < 100):
		return wrong(path+".margin_points", "margin_points: %g is not within 0 and 100", g.MarginPoints)
	case g.MarginPoints > 0 && g.MarginPercent == 0:
		return nil
	case !(g.MarginPercent > 0 && g.MarginPercent < 100):
		return wrong(path+".margin_percent", "margin_percent: %g is not within 0 and 100", g.MarginPercent)
	}
	return nil
}

func (s *Spec) checkGates() *problem {
	limits := s.Gates.byKey()
	for _, key := range slices.Sorted(maps.Keys(limits)) {
		low, high := 0.0, 100.0
		if key == "headroom" {
			low = 1
		}
		if p := within("gates."+key, *limits[key], low, high); p != nil {
			return p
		}
	}
	return nil
}

// within refuses a number beyond its bounds, or none; both bounds are allowed.
func within[T int | float64](path string, v, least, most T) *problem {
	if v >= least && v <= most {
		return nil
	}
	plain := func(v T) string { return strconv.FormatFloat(float64(v), 'f', -1, 64) }
	return wrong(path, "%s: %v is not within %s and %s", path[lastDot(path)+1:], v, plain(least), plain(most))
}

func oneOf(path, value string, known ...string) *problem {
	if slices.Contains(known, value) {
		return nil
	}
	key := path[lastDot(path)+1:]
	return wrong(path, "%s: unknown %q", key, value).advise("%s", hint.Of(hint.Unknown(key, value, known)))
}

func lastDot(s string) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '.' {
			return i
		}
	}
	return -1
}
