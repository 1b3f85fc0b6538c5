package netbenches

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"path"
	"strconv"
	"strings"

	"linerate/internal/ledger"
	"linerate/internal/list"
	"linerate/internal/stats"
)

// verdicts compares the variants of each group, with correction over the whole study.
func (m *maker) verdicts() {
	for _, g := range groups(m.st.series) {
		control := g.control(m.im.readmes.first)
		for _, metric := range metrics {
			for _, s := range g.series {
				if s != control {
					m.compare(metric, control, s)
				}
			}
		}
	}
	for _, p := range m.im.readmes.across[m.st.dir] {
		for _, metric := range metrics {
			m.compare(metric, p[0], p[1])
		}
	}
	ledger.CorrectFamily(m.b.Verdicts)
	for i := range m.b.Verdicts {
		v := &m.b.Verdicts[i]
		if p := v.Published; p != nil {
			p.Agrees = v.Verdict.Differs() == (p.Verdict == "difference")
			if !p.Agrees {
				m.im.Totals.Disagree++
			}
		}
	}
}

// metrics are the metrics that are compared.
var metrics = []string{MetricRate, MetricEquilibrium}

func arm(s *Series, metric string) stats.Arm {
	return stats.Arm{Name: variantName(s), Values: s.values(func(it *Iteration) (float64, bool) {
		t := it.Judge()
		v, ok := t.Metrics[metric]
		return v, ok && t.Valid
	})}
}

// compare adds the verdict on a variant against a control.
func (m *maker) compare(metric string, control, variant *Series) {
	c, a := arm(control, metric), arm(variant, metric)
	if len(c.Values) < 2 || len(a.Values) < 2 {
		return // a single trial, such as a profiling run, is not a sample
	}
	cmp := stats.CompareSamples(c, []stats.Arm{a}, stats.Options{Better: stats.HigherIsBetter, NoPlan: true})[0]
	v := ledger.FromComparison(&cmp)
	v.Study, v.Environment, v.Metric, v.Primary = m.id, m.environment(variant), metric, true
	v.Better, v.Unit, v.Workload = stats.HigherIsBetter, "pps", workload(variant)
	if metric == MetricEquilibrium {
		v.Unit = "Mb/s"
	}
	v.Control, v.Variant = m.armName(control), variantName(variant)
	v.ID = m.id.Part(metric, string(m.im.ids[control.Study]), relative(control.Study, control.Dir), control.Key,
		string(m.im.ids[variant.Study]), relative(variant.Study, variant.Dir), variant.Key)
	v.ControlTrials, v.VariantTrials = m.im.trialIDs(control), m.im.trialIDs(variant)
	v.Changes = Diff(m.im.t.configFor(control), m.im.t.configFor(variant))
	bounds(&v, control, variant)
	v.Published = m.im.readmes.published(control, variant)
	m.b.Verdicts = append(m.b.Verdicts, v)
}

// armName returns the name of a series, with its folder if it is of another study.
func (m *maker) armName(s *Series) string {
	if s.Study == m.st.dir {
		return variantName(s)
	}
	rel := path.Base(s.Study)
	if topicDir(s.Study) != topicDir(m.st.dir) {
		rel = path.Join(path.Base(topicDir(s.Study)), rel)
	}
	return rel + "/" + variantName(s)
}

// variantName returns the name of a series within its study.
func variantName(s *Series) string {
	if name := strings.Trim(s.Image+"/"+s.Config, "/"); name != "" {
		return name
	}
	return "only"
}

// trialIDs returns the IDs of a series' trials, whichever study contains it.
func (im *Import) trialIDs(s *Series) []ledger.ID {
	return list.Map(s.Iterations, func(it *Iteration) ledger.ID { return im.trialID(s, it) })
}

func (im *Import) trialID(s *Series, it *Iteration) ledger.ID {
	return im.ids[s.Study].Part(relative(s.Study, s.Dir), s.Key, it.Name)
}

// bounds flags arms that the generator limited. If both are, the comparison
// says nothing about the DUT and is invalid.
func bounds(v *ledger.Verdict, control, variant *Series) {
	a, b := mostly(control, FlagGenerator), mostly(variant, FlagGenerator)
	switch {
	case a && b:
		v.Verdict = stats.Invalid
		v.Flags = append(v.Flags, "generator-bound: both arms forward all that is offered")
	case a:
		v.Flags = append(v.Flags, "generator-bound: the control could forward more than was offered")
	case b:
		v.Flags = append(v.Flags, "generator-bound: the variant could forward more than was offered")
	}
	if mostly(control, FlagDrift) || mostly(variant, FlagDrift) {
		v.Flags = append(v.Flags, FlagDrift)
	}
}

// workload describes the offered load from the sender's command line: "IPv4
// UDP 64 B, 2000 flows".
func workload(s *Series) string {
	for _, it := range s.Iterations {
		if e := it.Equilibrium; e != nil {
			frame := ""
			if e.Frame > 0 {
				frame = fmt.Sprintf("%d B", e.Frame)
			}
			return join("VPN equilibrium", frame, s.workload())
		}
		if len(it.Senders) > 0 && it.Senders[0].Command != "" {
			return offered(it.Senders[0].Command, len(it.Senders), s.workload())
		}
	}
	return s.workload()
}

// offered derives a workload from a pkt-gen command line.
func offered(command string, senders int, name string) string {
	family, frame, flows, rate := 4, 0, int64(1), 0.0
	f := append(strings.Fields(strings.ReplaceAll(command, `"`, "")), "")
	for i, a := range f[:len(f)-1] {
		switch next := f[i+1]; a {
		case "-6":
			family = 6
		case "-l": // without the FCS; Ethernet pads to 64 bytes
			if n, err := strconv.Atoi(next); err == nil {
				frame = max(64, n+4)
			}
		case "-R":
			rate, _ = strconv.ParseFloat(next, 64) // 0 if it is not a number
		case "-s", "-d":
			flows *= rangeSize(next)
		}
	}
	text := fmt.Sprintf("IPv%d UDP", family)
	if frame > 0 {
		text += fmt.Sprintf(" %d B", frame)
	}
	if flows > 1 {
		text += fmt.Sprintf(", %d flows", flows)
	}
	if rate > 0 {
		text += fmt.Sprintf(", %g pps offered", rate)
	}
	if senders > 1 {
		text += fmt.Sprintf(", %d senders", senders)
	}
	if name != "" {
		text += " (" + name + ")"
	}
	return text
}

// rangeSize returns the number of address and port pairs in A[:port]-B[:port].
func rangeSize(s string) int64 {
	from, to, _ := strings.Cut(s, "-")
	a, b := addressPort(from), addressPort(to)
	x, y := a.Addr().As16(), b.Addr().As16()
	low := func(b [16]byte) uint64 { return binary.BigEndian.Uint64(b[8:]) }
	if a.Addr().BitLen() != b.Addr().BitLen() || b.Addr().Less(a.Addr()) || [8]byte(x[:]) != [8]byte(y[:]) || low(y)-low(x) > 1<<32 {
		return 1
	}
	ports := int64(1)
	if a.Port() > 0 && b.Port() >= a.Port() {
		ports = int64(b.Port()-a.Port()) + 1
	}
	return int64(low(y)-low(x)+1) * ports
}

// addressPort parses an address with or without a port; it is zero if the text is neither.
func addressPort(s string) netip.AddrPort {
	s = strings.TrimSpace(s)
	if p, err := netip.ParseAddrPort(s); err == nil {
		return p
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(a, 0)
}
