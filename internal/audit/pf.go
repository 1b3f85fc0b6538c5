package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/hint"
	"linerate/internal/tunable"
)

// pfFile checks the options of pf.conf against the catalogue: if pfctl(8) refuses a value, the host
// has no ruleset at all.
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
	return slices.Concat(all, a.pfAdaptive(pf), a.pfSkips(pf))
}

// pfRefuses is the consequence of a mistake in pf.conf.
const pfRefuses = "pfctl(8) loads nothing of a file with a mistake. At boot rc.d/pf then switches pf on without these rules, and it passes everything, unless pf_fallback_rules_enable is on."

// pfNumbers checks a file's limits or timeouts against the names that pfctl(8) knows, and their
// values against the catalogue.
func (a *auditor) pfNumbers(kind string, known words, list []fact.Limit) []candidate {
	var all []candidate
	for _, l := range list {
		if l.File == "" {
			continue // of the running pf
		}
		name := strings.ToLower(l.Name) // names known to pfctl are never redacted
		j := a.judged(l.AsLine("pf.conf:" + kind + "." + name))
		values := with{"refuses": pfRefuses, "kind": kind, "word": l.Name, "most": strconv.Itoa(pfMost), "fix": "Remove it."}
		switch {
		case known != "" && !known.has(name):
			if meant := near(name, known); len(meant) > 0 {
				values["fix"] = fmt.Sprintf("Write %s, if that was meant.", either(meant))
			}
			all = append(all, a.says("LR-RANGE", "pf-name", j.Line, values))
		case l.Value > pfMost:
			all = append(all, a.says("LR-RANGE", "pf-most", j.Line, values))
		case j.rec != nil:
			all = append(all, slices.Concat(a.rejected(j), a.pfDefault(j), a.cautions(j))...)
		}
	}
	return all
}

// pfDefault is asDefault for pf. It skips appliances, which compute limits and write every option.
func (a *auditor) pfDefault(j judged) []candidate {
	if a.product != nil {
		return nil
	}
	return a.asDefault(j)
}

func near(name string, known words) []string {
	return hint.Nearest(name, strings.Fields(string(known)), maxNear)
}

// pfMost is the maximum of a limit or a timeout, an unsigned int.
const pfMost = 1<<32 - 1

// lastOf returns the last number with a name in a file.
func lastOf(list []fact.Limit, name string) (fact.Limit, bool) {
	for _, l := range slices.Backward(list) {
		if strings.EqualFold(l.Name, name) && l.File != "" {
			return l, true
		}
	}
	return fact.Limit{}, false
}

// pfAdaptive reports adaptive timeouts that never take effect, or that empty the state table before
// it is full (pf_state_expires, sys/netpfil/pf/pf.c).
func (a *auditor) pfAdaptive(pf *fact.PF) []candidate {
	start, hasStart := lastOf(pf.Timeouts, "adaptive.start")
	end, hasEnd := lastOf(pf.Timeouts, "adaptive.end")
	limit := uint64(a.names.PFLimit("states"))
	of, name, at, wanted := "never", "adaptive.start", start, limit/10*6
	switch {
	case hasStart && start.Value > 0 && limit > 0 && start.Value >= limit && (!hasEnd || end.Value > max(limit, start.Value)):
	case !hasEnd || end.Value == 0: // disabled on purpose, or pfctl's default
		return nil
	case hasStart && start.Value >= end.Value:
		of, name, at = "order", "adaptive.end", end
	case limit > 0 && end.Value < limit:
		of, name, at, wanted = "early", "adaptive.end", end, limit/10*12
	default:
		return nil
	}
	return []candidate{a.says("LR-PF-ADAPTIVE", of, called(name, at.AsLine("")), with{"start": fmt.Sprint(start.Value), "end": fmt.Sprint(end.Value), "limit": fmt.Sprint(limit), "wanted": fmt.Sprint(wanted)})}
}

// pfSkips reports an external interface among those that pf skips: the rules translate on it, or it
// gets its address by DHCP or the like.
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
			return []candidate{a.says("LR-PF-SKIP", "outside", called(n, o), with{"interface": n})}
		}
	}
	return nil
}
