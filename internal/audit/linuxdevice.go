package audit

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/tunable"
)

// deviceName takes net.ipv4.conf.eth0.rp_filter apart: the tree, the device
// ("all" and "default" among them) and the setting.
func deviceName(name string) (tree, device, setting string, ok bool) {
	for _, t := range []string{"net.ipv4.conf.", "net.ipv6.conf."} {
		if rest, found := strings.CutPrefix(name, t); found {
			if i := strings.LastIndexByte(rest, '.'); i > 0 {
				return t, rest[:i], rest[i+1:], true
			}
		}
	}
	return "", "", "", false
}

// perDevice holds lines about one setting of all, default and single devices
// against the way the kernel puts them together (Record.WithAll).
func (a *auditor) perDevice() []candidate {
	if a.f.OS != fact.Linux {
		return nil
	}
	var all []candidate
	for _, l := range a.lines {
		all = append(all, a.dotted(l)...)
		tree, device, setting, ok := deviceName(l.Name)
		if !ok || !l.Effective {
			continue
		}
		rec, known := a.c.Lookup(fact.Linux, l.Name)
		if !known || rec.WithAll == "" || a.ofEvery(l) {
			continue
		}
		d := deviceLine{a.judged(l), tree, device, setting}
		if slip := a.slipOf(device); slip != "" {
			all = append(all, one(unheard, Finding{ID: "LR-UNKNOWN:" + l.Name, Kind: Unknown, Severity: Error, Action: Change, Name: l.Name, Sources: []string{},
				Message: fmt.Sprintf("%s: no interface is known as %q; did you mean %s?", l.Name, device, slip),
				Why:     "It is one letter off. " + a.consequence(l.Stage), Fix: fmt.Sprintf("Write %s%s.%s.", tree, slip, setting)}.at(l))...)
			continue
		}
		if device == "all" {
			all = append(all, a.allLine(d)...)
		} else if device != "default" {
			all = append(all, a.oneDevice(d)...)
		}
	}
	return all
}

// dotted reports a line about an interface with a dot in its name, written with
// dots throughout: sysctl(8) and systemd-sysctl take that dot for a separator.
func (a *auditor) dotted(l fact.Line) []candidate {
	for _, tree := range []string{"net.ipv4.conf.", "net.ipv6.conf.", "net.ipv4.neigh.", "net.ipv6.neigh."} {
		rest, ok := strings.CutPrefix(l.Name, tree)
		i := strings.LastIndexByte(rest, '.')
		if !ok || i <= 0 || !strings.Contains(rest[:i], ".") || !l.Effective {
			continue
		}
		name := tree + strings.ReplaceAll(rest[:i], ".", "/") + rest[i:]
		return one(unheard, Finding{ID: "LR-UNKNOWN:" + l.Name, Kind: Unknown, Severity: Error, Action: Change, Name: l.Name, Sources: []string{"sysctl.d(5)", "sysctl(8)"},
			Message: fmt.Sprintf("%s names no interface %s: the dot in its name is taken for a separator", l.Name, rest[:i]),
			Why:     "A dot of a name is written as a slash where dots separate. " + a.consequence(l.Stage),
			Fix:     fmt.Sprintf("Write %s, or slashes for separators.", name)}.at(l))
	}
	return nil
}

// slipOf is "all" or "default" where a device's name is one letter off it and
// no such device is known.
func (a *auditor) slipOf(device string) string {
	if _, there := a.f.NIC(device); there || len(device) < 2 {
		return ""
	}
	for _, known := range []string{"all", "default"} {
		if hint.Distance(device, known, 1) == 1 {
			return known
		}
	}
	return ""
}

// deviceLine is a line about a setting that devices have each.
type deviceLine struct {
	judged
	tree, device, setting string
}

// value is what files or the running host say of a device's setting.
func (a *auditor) deviceValue(d deviceLine, device string) (float64, bool) {
	v, ok := a.f.Value(d.tree + device + "." + d.setting)
	n, isNumber := tunable.ParseInteger(strings.TrimSpace(v))
	if !ok || !isNumber {
		return 0, false
	}
	f, _ := n.Float64()
	return f, true
}

// number is the line's own.
func (d deviceLine) number() (float64, bool) {
	n, ok := tunable.ParseInteger(strings.TrimSpace(d.Value))
	if !ok {
		return 0, false
	}
	f, _ := n.Float64()
	return f, true
}

// allLine judges a line of conf.all.
func (a *auditor) allLine(d deviceLine) []candidate {
	v, ok := d.number()
	if !ok {
		return nil
	}
	f := Finding{ID: "LR-PERDEVICE:" + d.Name, Kind: Ineffective, Severity: Warning, Action: Change, Name: d.Name, Sources: d.rec.Sources}.at(d.Line)
	own := d.tree + "default." + d.setting
	switch how := a.together(d); {
	case how == tunable.AllIgnored:
		f.Message = fmt.Sprintf("%s=%s changes no interface", d.Name, d.Value)
		f.Why = "The kernel does not read conf.all of this setting: every interface has its own, which starts as conf.default."
		if a.f.IsSet(own) {
			if a.required(d.Line, d.rec) {
				return nil // conf.default protects, and the benchmark's scanner looks for both lines
			}
			f.Severity, f.Action = Info, Remove
			f.Fix = "Remove the line; " + own + " is set too, and does it for interfaces that appear later."
			break
		}
		f.sets("", own, d.Value)
		f.Fix = fmt.Sprintf("Set %s=%s, and that of interfaces which are there already.", own, d.Value)
	case (how == tunable.AllOr || how == tunable.AllMax) && v == 0 && a.staysOn(d):
		f.Message = fmt.Sprintf("%s=0 switches nothing off: an interface's own value counts as well", d.Name)
		f.Why = fmt.Sprintf("The kernel takes %s, and interfaces start with %s.", combination[how], own)
		f.sets("", own, "0")
		f.Fix = fmt.Sprintf("Set %s=0 as well%s", own, reaches(d))
	case how == tunable.AllAnd && v != 0 && a.staysOff(d):
		f.Message = fmt.Sprintf("%s=%s switches nothing on: each interface's own value must be on too", d.Name, d.Value)
		f.Why = fmt.Sprintf("The kernel takes %s, and interfaces start with %s.", combination[how], own)
		f.sets("", own, d.Value)
		f.Fix = fmt.Sprintf("Set %s=%s as well%s", own, d.Value, reaches(d))
	default:
		return nil
	}
	return one(caution, f)
}

// reaches says which interfaces conf.default of a setting reaches: of IPv4 all
// whose own was never written, of IPv6 those that appear later.
func reaches(d deviceLine) string {
	if d.tree == "net.ipv4.conf." && d.setting != "forwarding" {
		return ": every interface whose own value nobody wrote follows it."
	}
	return ", and that of interfaces which are there already."
}

// together is how the kernel puts conf.all and a device's value together on
// this host.
func (a *auditor) together(d deviceLine) tunable.All {
	switch {
	case d.rec.WithAll != tunable.AllRole:
		return d.rec.WithAll
	case a.f.ForwardsIPv4():
		return tunable.AllAnd
	}
	return tunable.AllOr
}

var combination = map[tunable.All]string{
	tunable.AllOr: "either of the two for on", tunable.AllMax: "the greater of the two", tunable.AllAnd: "the setting for on only where both are",
	tunable.AllSets: "what was written last: writing conf.all writes every interface", tunable.AllOnly: "conf.all alone",
}

// staysOn reports whether some interface keeps a setting on that conf.all
// switches off: a running one that no line sets; or none is known, no
// file sets an interface's, and interfaces start with it on.
func (a *auditor) staysOn(d deviceLine) bool {
	on, known := a.atRunning(d)
	if known {
		return on
	}
	v, ok := a.defaultOf(d)
	return ok && v != 0 && !a.deviceSet(d)
}

// staysOff reports whether every interface keeps a setting off that conf.all
// alone cannot switch on.
func (a *auditor) staysOff(d deviceLine) bool {
	on, known := a.atRunning(d)
	if known {
		return !on
	}
	v, ok := a.defaultOf(d)
	return ok && v == 0 && !a.siblingSet(d)
}

// atRunning reports whether a setting is on at some running interface for which
// no file sets it; known is false where nothing runs.
func (a *auditor) atRunning(d deviceLine) (on, known bool) {
	for _, s := range a.siblings(d) {
		if s.Live == nil || strings.HasPrefix(s.Name, d.tree+"lo.") || strings.HasPrefix(s.Name, d.tree+"default.") {
			continue
		}
		known = true
		if v, ok := a.f.LiveValue(s.Name); ok && strings.TrimSpace(v) != "0" && !a.f.IsSet(s.Name) {
			return true, true
		}
	}
	return false, known
}

// siblingSet reports a line of the same setting for conf.default or a device.
func (a *auditor) siblingSet(d deviceLine) bool {
	return a.deviceSet(d) || a.f.IsSet(d.tree+"default."+d.setting)
}

// deviceSet reports a line of the same setting for a device.
func (a *auditor) deviceSet(d deviceLine) bool {
	return slices.ContainsFunc(a.siblings(d), func(s fact.Tunable) bool {
		return a.f.IsSet(s.Name) && s.Name != d.tree+"default."+d.setting
	})
}

// siblings are the same setting of conf.default and of devices.
func (a *auditor) siblings(d deviceLine) []fact.Tunable {
	var all []fact.Tunable
	for _, s := range a.f.Settings {
		if tree, device, setting, ok := deviceName(s.Name); ok && tree == d.tree && setting == d.setting && device != "all" {
			all = append(all, s)
		}
	}
	return all
}

// defaultOf is what interfaces start with: conf.default, of files or the
// kernel's own.
func (a *auditor) defaultOf(d deviceLine) (float64, bool) {
	if v, ok := a.deviceValue(d, "default"); ok {
		return v, true
	}
	text, ok := d.rec.InstanceDefaults[d.tree+"default."+d.setting]
	if !ok {
		text, ok = d.rec.DefaultIn(a.f.Release, a.env)
	}
	n, isNumber := tunable.ParseInteger(text)
	if !ok || !isNumber {
		return 0, false
	}
	f, _ := n.Float64()
	return f, true
}

// oneDevice judges a line of one interface against conf.all.
func (a *auditor) oneDevice(d deviceLine) []candidate {
	v, ok := d.number()
	all, known := a.deviceValue(d, "all")
	if !ok || !known {
		return nil
	}
	how, result := a.together(d), all // what the kernel makes of the two
	if !(how == tunable.AllMax && all > v || how == tunable.AllOr && v == 0 && all != 0 || how == tunable.AllAnd && v != 0 && all == 0) {
		return nil
	}
	return []candidate{{class: lineRule, covers: []string{"LR-DEFAULT", "LR-HARMFUL", "LR-FOLKLORE"}, short: "the value of all counts", Finding: Finding{ID: "LR-PERDEVICE:" + d.Name, Kind: Ineffective, Severity: Warning, Action: Change, Name: d.Name, Sources: d.rec.Sources,
		Message: fmt.Sprintf("%s=%s does nothing: with %sall.%s=%g the interface has %g", d.Name, d.Value, d.tree, d.setting, all, result),
		Why:     fmt.Sprintf("The kernel takes %s.", combination[how]),
		Fix:     fmt.Sprintf("Change %sall.%s, or remove the line.", d.tree, d.setting)}.at(d.Line)}}
}
