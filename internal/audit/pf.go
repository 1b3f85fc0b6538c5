package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/hint"
	"linerate/internal/tunable"
)

// pfFile holds the options of pf.conf against the catalogue: a value that
// pfctl(8) refuses costs the host its whole ruleset.
func (a *auditor) pfFile() []candidate {
	pf := a.f.Firewall.PF
	if pf == nil || a.f.OS != fact.FreeBSD {
		return nil
	}
	var all []candidate
	for _, l := range pf.Options {
		l.Name = "pf.conf:set." + l.Name
		j := a.judged(l)
		if j.rec != nil && j.rec.OS == tunable.FreeBSD {
			all = append(all, slices.Concat(a.rejected(j), a.pfDefault(j), a.cautions(j))...)
		}
	}
	all = append(all, a.pfNumbers("limit", a.Rules.PFLimits, pf.FileLimits)...)
	all = append(all, a.pfNumbers("timeout", a.Rules.PFTimeouts, pf.Timeouts)...)
	return slices.Concat(all, a.pfAdaptive(pf), pfUndone(pf), a.pfSkips(pf))
}

// pfRefuses is what a mistake in pf.conf costs.
const pfRefuses = "pfctl(8) loads nothing of a file with a mistake. At boot rc.d/pf then switches pf on without these rules, and it passes everything, unless pf_fallback_rules_enable is on."

// pfNumbers holds a file's limits or timeouts against the names that pfctl(8)
// knows, and their values against the catalogue.
func (a *auditor) pfNumbers(kind string, known words, list []fact.Limit) []candidate {
	var all []candidate
	for _, l := range list {
		if l.File == "" {
			continue // the running pf's
		}
		name := strings.ToLower(l.Name) // names that pfctl knows are never hidden
		j := a.judged(l.AsLine("pf.conf:" + kind + "." + name))
		f := Finding{ID: "LR-RANGE:" + j.Name, Name: j.Name, Kind: Range, Severity: Error, Action: Change, Sources: []string{"sbin/pfctl/parse.y", "pf.conf(5)"},
			Why: pfRefuses}.at(j.Line)
		switch {
		case known != "" && !known.has(name):
			if f.Fix = "Remove it."; len(near(name, known)) > 0 {
				f.Fix = fmt.Sprintf("Write %s, if that was meant.", either(near(name, known)))
			}
			f.Message = fmt.Sprintf("pf has no %s of the name %s", kind, l.Name)
			all = append(all, one(rejectedLine, f)...)
		case l.Value > pfMost:
			f.Message = fmt.Sprintf("%s %s is above %d, the most that pfctl(8) takes", kind, l.Name, pfMost)
			f.Fix = "Give a value that fits."
			all = append(all, one(outOfRange, f)...)
		case j.rec != nil:
			all = append(all, slices.Concat(a.rejected(j), a.pfDefault(j), a.cautions(j))...)
		}
	}
	return all
}

// pfDefault is asDefault of pf's own; an appliance computes limits, and its page writes every option.
func (a *auditor) pfDefault(j judged) []candidate {
	if a.product != nil {
		return nil
	}
	return a.asDefault(j)
}

func near(name string, known words) []string {
	return hint.Nearest(name, strings.Fields(string(known)), maxNear)
}

// pfMost is the largest number of a limit or a timeout: an unsigned int.
const pfMost = 1<<32 - 1

// lastOf is the last of a file's numbers by a name.
func lastOf(list []fact.Limit, name string) (fact.Limit, bool) {
	for _, l := range slices.Backward(list) {
		if strings.EqualFold(l.Name, name) && l.File != "" {
			return l, true
		}
	}
	return fact.Limit{}, false
}

// pfAdaptive reports adaptive timeouts that never act, or that empty the table
// before it is full (pf_state_expires, sys/netpfil/pf/pf.c).
func (a *auditor) pfAdaptive(pf *fact.PF) []candidate {
	start, hasStart := lastOf(pf.Timeouts, "adaptive.start")
	end, hasEnd := lastOf(pf.Timeouts, "adaptive.end")
	limit := uint64(a.names.PFLimit("states"))
	if hasStart && start.Value > 0 && limit > 0 && start.Value >= limit && (!hasEnd || end.Value > max(limit, start.Value)) {
		return one(disagreeing, Finding{ID: "LR-PF-ADAPTIVE:adaptive.start", Name: "adaptive.start", Kind: Coupled, Severity: Warning, Action: Change, Sources: []string{"sys/netpfil/pf/pf.c", "pf.conf(5)"},
			Message: fmt.Sprintf("adaptive.start %d is not below the limit of %d states: timeouts never shrink", start.Value, limit),
			Why:     "The table is full before pf begins to shorten timeouts.",
			Fix:     fmt.Sprintf("Set adaptive.start to %d or less, or leave both out: pfctl(8) takes 60 %% and 120 %% of a limit that the file sets.", limit/10*6)}.at(start.AsLine("")))
	}
	if !hasEnd || end.Value == 0 {
		return nil // off on purpose, or pfctl's own
	}
	f := Finding{ID: "LR-PF-ADAPTIVE:adaptive.end", Name: "adaptive.end", Kind: Coupled, Severity: Warning, Action: Change, Sources: []string{"sys/netpfil/pf/pf.c", "pf.conf(5)"}}.
		at(end.AsLine(""))
	switch {
	case hasStart && start.Value >= end.Value:
		f.Message = fmt.Sprintf("adaptive.start %d is not below adaptive.end %d: timeouts never shrink", start.Value, end.Value)
		f.Why = "pf scales timeouts between the two; with the end at or below the start it does not scale at all."
		f.Fix = "Put adaptive.start below adaptive.end; pfctl's own choice is 60 % and 120 % of the limit of states."
	case limit > 0 && end.Value < limit:
		f.Message = fmt.Sprintf("adaptive.end %d is below the limit of %d states", end.Value, limit)
		f.Why = "At adaptive.end every timeout is 0: pf drops all states that are idle at the next purge, though the table has room for more."
		f.Fix = fmt.Sprintf("Set adaptive.end to %d or more, or leave both out: pfctl(8) takes 60 %% and 120 %% of a limit that the file sets.", limit/10*12)
	default:
		return nil
	}
	return one(disagreeing, f)
}

// pfUndone reports timeouts of TCP that a later `set optimization` sets anew.
func pfUndone(pf *fact.PF) []candidate {
	i := slices.IndexFunc(pf.Options, func(l fact.Line) bool { return l.Name == "optimization" })
	if i < 0 {
		return nil
	}
	set := pf.Options[i]
	for _, o := range pf.Options[i:] {
		if o.Name == "optimization" {
			set = o
		}
	}
	var all []candidate
	for _, t := range pf.Timeouts {
		if t.File != set.File || t.Line >= set.Number || !strings.HasPrefix(strings.ToLower(t.Name), "tcp.") {
			continue
		}
		all = append(all, one(repeated, Finding{ID: "LR-DUPLICATE:pf.conf:timeout." + t.Name, Name: "pf.conf:timeout." + t.Name, Kind: Duplicate, Severity: Warning, Action: Change, Sources: []string{"sbin/pfctl/pfctl.c", "pf.conf(5)"},
			Message: fmt.Sprintf("timeout %s is overridden by set optimization %s at line %d", t.Name, cmp.Or(set.Value, "…"), set.Number),
			Why:     "An optimization is a set of TCP's timeouts; pfctl(8) takes options in the file's order, and the last one stands.",
			Fix:     "Put set timeout below set optimization."}.at(t.AsLine("")))...)
	}
	return all
}

// pfSkips reports the interface to the world among those that pf passes over: the rules
// translate on it, or it asks a network for its address.
func (a *auditor) pfSkips(pf *fact.PF) []candidate {
	for _, o := range pf.Options {
		if o.Name != "skip" || pf.Rules+pf.Translations == 0 {
			continue
		}
		for _, n := range strings.Fields(o.Value) {
			v, _ := a.f.RCValue("ifconfig_" + n)
			if strings.Contains(n, redact.Mark) || !slices.Contains(pf.Outside, n) && (!a.f.ForwardsIPv4() || !strings.Contains(strings.ToUpper(v), "DHCP")) {
				continue
			}
			return one(caution, Finding{ID: "LR-PF-SKIP:" + n, Name: n, Kind: Harmful, Severity: Error, Action: Change, Sources: []string{"pf.conf(5)", "sys/netpfil/pf/pf.c"},
				Message: fmt.Sprintf("pf passes over %s, which leads outside", n),
				Why:     "Of an interface with set skip no packet is filtered, and none is translated: the rules for it do nothing, and everything from outside gets in.",
				Fix:     "Remove " + n + " from set skip; lo0 is what belongs there."}.at(o))
		}
	}
	return nil
}
