package study

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/lazy"
	"linerate/internal/list"
	"linerate/internal/load"
	"linerate/internal/show"
	"linerate/internal/yamlfile"
)

var nameRE = lazy.Regexp(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// check returns the first problem that makes the study impossible, or nil.
func (s *Spec) check() *yamlfile.Problem {
	for _, f := range []func() *yamlfile.Problem{s.checkHead, s.checkTestbed, s.checkSweeps, s.checkPoints, s.checkWorkload, s.checkVariants, s.checkPlace, s.checkParts, s.checkSwept, s.checkMetrics, s.Gates.check, s.checkLooks} {
		if p := f(); p != nil {
			return p
		}
	}
	return nil
}

func (s *Spec) checkHead() *yamlfile.Problem {
	switch {
	case !nameRE().MatchString(s.Name):
		return notAName("name", "name", s.Name)
	case s.Question == "":
		return yamlfile.Wrong("name", "study %s asks no question", s.Name).Advise("add a line, question: What does … cost?")
	}
	return cmp.Or(yamlfile.Within("blocks", s.Blocks, 1, maxBlocks), yamlfile.Within("retries", s.Retries, 0, 100))
}

func (s *Spec) checkWorkload() *yamlfile.Problem {
	w := s.Workload
	if p := cmp.Or(
		yamlfile.OneOf("workload.family", w.Family, "ipv4", "ipv6"),
		yamlfile.OneOf("workload.directions", cmp.Or(w.Directions, OneWay), OneWay, BothWays),
		yamlfile.OneOf("workload.order", w.Order, "round-robin", "random", trains),
		yamlfile.OneOf("workload.imix", cmp.Or(w.IMIX, simpleIMIX), simpleIMIX),
		yamlfile.Within("workload.sources", cmp.Or(w.Sources, 1), 1, maxAddresses),
		yamlfile.Within("workload.destinations", cmp.Or(w.Destinations, 1), 1, maxAddresses),
	); p != nil {
		return p
	}
	if len(w.Sizes) > 0 && w.IMIX != "" {
		return yamlfile.Wrong("workload.imix", "sizes and imix exclude each other").Advise("keep one of them")
	}
	if w.Link != "" {
		if r, err := load.ParseRate(w.Link); err != nil || r.BPS == 0 {
			return yamlfile.Wrong("workload.link", "link: %q is not the rate of a wire", w.Link).Advise("write 10Gbps")
		}
	}
	return CheckFrames("workload", w)
}

// simpleIMIX is the only named mix of frame sizes.
const simpleIMIX = "simple"

// CheckFrames checks what a part may override: frame sizes and the number of flows.
func CheckFrames(path string, w Workload) *yamlfile.Problem {
	if p := yamlfile.Within(path+".flows", w.Flows, 1, MaxFlows); p != nil {
		return p
	}
	if !(w.Elephant >= 0 && w.Elephant < 1) || w.Elephant > 0 && w.Flows < 2 {
		return yamlfile.Wrong(path+".elephant", "elephant: %g is not a share that one of several flows can send", w.Elephant).Advise("write elephant: 0.5, and flows: 2 or more")
	}
	for i, size := range w.Sizes {
		at := fmt.Sprintf("%s.sizes[%d]", path, i)
		if size < minFrameSize || size > maxFrameSize {
			return yamlfile.Wrong(at, "a frame of %d bytes is not within %d and %d (sizes count the 4-byte FCS)", size, minFrameSize, maxFrameSize)
		}
		if size < Smallest(w.Family) {
			return yamlfile.Wrong(at, "an IPv6 frame of %d bytes has no room for its stamp", size).Advise("the smallest is %d", Smallest(w.Family))
		}
	}
	return nil
}

func (s *Spec) checkVariants() *yamlfile.Problem {
	if len(s.Variants) < 2 || len(s.Variants) > maxVariants {
		return yamlfile.Wrong("variants", "%s: a study compares 2 to %d", show.Plural(len(s.Variants), "variant"), maxVariants).
			Advise("the first is the control: variants: [{name: none}, {name: ours, settings: […]}]")
	}
	var names []string
	for i, v := range s.Variants {
		path := fmt.Sprintf("variants[%d]", i)
		switch {
		case !nameRE().MatchString(v.Name):
			return s.notSwept(notAName(path+".name", "variant name", v.Name), v.Name)
		case v.Name == AA:
			return yamlfile.Wrong(path+".name", "the name %q is taken: it is the control's second arm, which every study has", AA).Advise("choose another")
		case v.OS != "" && v.OS != "linux" && v.OS != "freebsd":
			return yamlfile.OneOf(path+".os", v.OS, "linux", "freebsd")
		case v.Curve != "" && !nameRE().MatchString(v.Curve):
			return notAName(path+".curve", "curve", v.Curve)
		case slices.Contains(names, v.Name):
			return yamlfile.Wrong(path+".name", "two variants are named %q", v.Name).Advise("%s", s.ofItsOwn(v.At))
		}
		names = append(names, v.Name)
		for j, set := range v.Settings {
			at := fmt.Sprintf("%s.settings[%d]", path, j)
			if p := set.check(at); p != nil {
				return p
			}
			if set.Device != "" && !s.OnLiveHost() && !slices.Contains(ends, set.Device) {
				return yamlfile.OneOf(at+".device", set.Device, ends...)
			}
		}
	}
	if !slices.Contains(names, s.Control) {
		return yamlfile.Wrong("control", "control %q is not a variant", s.Control).Advise("%s", hint.Of(hint.Unknown("variant", s.Control, names)))
	}
	return nil
}

func (s *Spec) checkParts() *yamlfile.Problem {
	if len(s.Parts) > maxParts {
		return yamlfile.Wrong("parts", "%d parts: a study has at most %d", len(s.Parts), maxParts)
	}
	var names []string
	for i, p := range s.Parts {
		path := PartPath(i)
		if slices.Contains(names, p.Name) {
			return yamlfile.Wrong(path, "two parts are named %q", p.Name).Advise("%s", s.ofItsOwn(p.At))
		}
		names = append(names, p.Name)
		if bad := p.check(path); bad != nil {
			return bad
		}
	}
	if bad := cmp.Or(checkAsks(s), checkSwitched(s)); bad != nil {
		return bad
	}
	for i, p := range s.Parts {
		if bad := p.checkKeys(PartPath(i)); bad != nil {
			return bad
		}
		if bad := s.checkOwn(i, PartPath(i)); bad != nil {
			return bad
		}
	}
	return nil
}

// checkKeys refuses keys that belong to another kind of part.
func (p Part) checkKeys(path string) *yamlfile.Problem {
	type key struct {
		given bool
		kind  Kind
		name  string
	}
	given := list.Filter([]key{
		{p.Usable, KindForward, "management"}, {p.Flood != "", KindForward, "flood"}, {p.Search != nil, KindSearch, "search"},
		{p.HTTP != nil, KindServe, "http"}, {p.SMTP != nil, KindServe, "smtp"}, {p.Files != nil, KindServe, "files"}, {p.Link != nil, KindServe, "link"},
		{p.Live != nil && p.Mode != ConnectionsMode, KindSwitchback, "live"},
	}, func(k key) bool { return k.given })
	for _, k := range given {
		if k.kind != given[0].kind {
			return yamlfile.Wrong(path+"."+k.name, "%s and %s are keys of two kinds of parts: a part has those of one", given[0].name, k.name)
		}
	}
	if len(given) > 0 && given[0].kind != KindOf(p) {
		return yamlfile.Wrong(path, "part %s is of mode %s, and has keys of another kind of part", p.Name, p.Mode).Advise("known modes: %s", strings.Join(modes, ", "))
	}
	return nil
}

func (p Part) check(path string) *yamlfile.Problem {
	if !nameRE().MatchString(p.Name) {
		return notAName(path+".name", "part name", p.Name)
	}
	return cmp.Or(
		yamlfile.OneOf(path+".mode", string(p.Mode), modes...),
		yamlfile.Within(path+".blocks", p.Blocks, 1, maxBlocks),
		yamlfile.Within(path+".seconds", p.Seconds, 0.05, MaxSeconds),
		yamlfile.Within(path+".warmup", p.Warmup, 0, MaxSeconds),
	)
}

func (s *Spec) checkMetrics() *yamlfile.Problem {
	primaries := 0
	for i, g := range s.Metrics {
		path := fmt.Sprintf("metrics[%d]", i)
		m, ok := MetricNamed(g.Metric)
		if !ok {
			return yamlfile.Wrong(path+".metric", "unknown metric %q", g.Metric).Advise("%s", hint.Of(hint.Unknown("metric", g.Metric, metricNames())))
		}
		part, ok := s.Part(g.Part)
		switch {
		case g.Part == "":
			return yamlfile.Wrong(path+".metric", "%s needs a part of mode %s, and the study has none", g.Metric, m.Mode).Advise("add parts: [{mode: %s}]", m.Mode)
		case !ok:
			return yamlfile.Wrong(path+".part", "metric %s names no part of the study: %q", g.Metric, g.Part).Advise("%s", hint.Of(hint.Unknown("part", g.Part, list.Map(s.Parts, func(p Part) string { return p.Name }))))
		case !part.yields(m):
			return yamlfile.Wrong(path+".part", "%s is measured in mode %s%s, and part %s is of mode %s", g.Metric, m.Mode, m.asking(), g.Part, part.Mode).
				Advise("part %s measures %s", g.Part, strings.Join(namesOf(list.Filter(KindOf(part).metrics(), part.yields)), ", "))
		}
		if bad := g.checkMargin(m, path); bad != nil {
			return bad
		}
		if g.Primary {
			primaries++
		}
	}
	if primaries != 1 {
		return yamlfile.Wrong("metrics", "%d metrics are primary: exactly one answers the question", primaries).Advise("mark it with primary: true")
	}
	return nil
}

// checkMargin refuses a margin that the metric cannot have: only shares have
// margins in percentage points.
func (g Goal) checkMargin(m Metric, path string) *yamlfile.Problem {
	switch {
	case g.MarginPoints != 0 && !m.Share:
		return yamlfile.Wrong(path+".margin_points", "%s is not a fraction", g.Metric).Advise("write margin_percent")
	case !(g.MarginPoints >= 0 && g.MarginPoints < 100):
		return yamlfile.Wrong(path+".margin_points", "margin_points: %g is not within 0 and 100", g.MarginPoints)
	case g.MarginPoints > 0 && g.MarginPercent == 0:
		return nil
	case !(g.MarginPercent > 0 && g.MarginPercent < 100):
		return yamlfile.Wrong(path+".margin_percent", "margin_percent: %g is not within 0 and 100", g.MarginPercent)
	}
	return nil
}

// notAName returns the problem of an invalid name, and proposes a valid one.
func notAName(path, what, name string) *yamlfile.Problem {
	bad := yamlfile.Wrong(path, "%s %q is not a name: lower-case letters, digits, dots and dashes", what, name)
	if like := strings.Trim(notInNames().ReplaceAllString(strings.ToLower(name), "-"), "-._"); nameRE().MatchString(like) {
		return bad.Advise("write %s", like)
	}
	return bad.Advise("begin with a letter or digit, and have 64 of them at most")
}

var notInNames = lazy.Regexp(`[^a-z0-9._-]+`)
