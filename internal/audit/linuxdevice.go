package audit

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/list"
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
		d := deviceLine{a.judged(l), tree, setting}
		if slip := a.slipOf(device); slip != "" {
			all = append(all, a.says("LR-UNKNOWN", "slip", l, with{"device": device, "slip": slip, "meant": tree + slip + "." + setting}))
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
		return []candidate{a.says("LR-UNKNOWN", "dot", l, with{"device": rest[:i], "meant": tree + strings.ReplaceAll(rest[:i], ".", "/") + rest[i:]})}
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
	tree, setting string
}

// value is what files or the running host say of a device's setting.
func (a *auditor) deviceValue(d deviceLine, device string) (float64, bool) {
	v, _ := a.f.Value(d.tree + device + "." + d.setting) // none is no number
	return number(v)
}

// number is a value as one.
func number(value string) (float64, bool) {
	n, ok := tunable.ParseInteger(strings.TrimSpace(value))
	if !ok {
		return 0, false
	}
	f, _ := n.Float64()
	return f, true
}

// allLine judges a line of conf.all.
func (a *auditor) allLine(d deviceLine) []candidate {
	v, ok := number(d.Value)
	if !ok {
		return nil
	}
	own, how := d.tree+"default."+d.setting, a.together(d)
	of, set := "", d.Value // what conf.default has to be
	switch {
	case how == tunable.AllIgnored && a.f.IsSet(own):
		if a.required(d.Line, d.rec) {
			return nil // conf.default protects, and the benchmark's scanner looks for both lines
		}
		of, set = "all-and-default", ""
	case how == tunable.AllIgnored:
		of = "all"
	case (how == tunable.AllOr || how == tunable.AllMax) && v == 0 && a.staysOn(d):
		of, set = "off", "0"
	case how == tunable.AllAnd && v != 0 && a.staysOff(d):
		of = "on"
	default:
		return nil
	}
	c := a.says("LR-PERDEVICE", of, d.Line, with{"own": own, "how": combination[how], "reaches": reaches(d)})
	if set != "" {
		c.sets("", own, set)
	}
	return []candidate{c}
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
	if on, known := a.atRunning(d); known {
		return on
	}
	v, ok := a.defaultOf(d)
	return ok && v != 0 && !a.deviceSet(d)
}

// staysOff reports whether every interface keeps a setting off that conf.all
// alone cannot switch on.
func (a *auditor) staysOff(d deviceLine) bool {
	if on, known := a.atRunning(d); known {
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
	return list.Filter(a.f.Settings, func(s fact.Tunable) bool {
		tree, device, setting, ok := deviceName(s.Name)
		return ok && tree == d.tree && setting == d.setting && device != "all"
	})
}

// defaultOf is what interfaces start with: conf.default, of files or the
// kernel's own.
func (a *auditor) defaultOf(d deviceLine) (float64, bool) {
	if v, ok := a.deviceValue(d, "default"); ok {
		return v, true
	}
	text, ok := d.rec.InstanceDefaults[d.tree+"default."+d.setting]
	if !ok {
		text, _ = d.rec.DefaultIn(a.f.Release, a.env)
	}
	return number(text)
}

// oneDevice judges a line of one interface against conf.all.
func (a *auditor) oneDevice(d deviceLine) []candidate {
	v, ok := number(d.Value)
	all, known := a.deviceValue(d, "all")
	if !ok || !known {
		return nil
	}
	how := a.together(d)
	if !(how == tunable.AllMax && all > v || how == tunable.AllOr && v == 0 && all != 0 || how == tunable.AllAnd && v != 0 && all == 0) {
		return nil
	}
	return []candidate{a.says("LR-PERDEVICE", "one", d.Line, with{"all": d.tree + "all." + d.setting, "result": fmt.Sprint(all), "how": combination[how]})}
}
