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

// deviceName splits net.ipv4.conf.eth0.rp_filter into the tree, the device (including "all" and
// "default") and the setting.
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

// perDevice checks lines that set all, default or single devices against the way in which the
// kernel combines them (Record.WithAll).
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
		} else if device != "default" && !strings.ContainsAny(device, "*?[") { // a glob sets conf.all too
			all = append(all, a.oneDevice(d)...)
		}
	}
	return all
}

// dotted reports a line for an interface whose name contains a dot, written only with dots:
// sysctl(8) and systemd-sysctl take that dot for a separator.
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

// slipOf returns "all" or "default" if a device name differs from it by one letter and no such
// device is known.
func (a *auditor) slipOf(device string) string {
	if _, there := a.f.NIC(device); there || len(device) < 2 {
		return ""
	}
	known, _ := list.Find([]string{"all", "default"}, func(known string) bool { return hint.Distance(device, known, 1) == 1 })
	return known
}

// deviceLine is a line about a per-device setting.
type deviceLine struct {
	judged
	tree, setting string
}

func number(value string) (float64, bool) {
	n, ok := tunable.ParseInteger(strings.TrimSpace(value))
	if !ok {
		return 0, false
	}
	f, _ := n.Float64()
	return f, true
}

// allLine checks a line for conf.all.
func (a *auditor) allLine(d deviceLine) []candidate {
	v, ok := number(d.Value)
	if !ok {
		return nil
	}
	own, how := d.tree+"default."+d.setting, a.together(d)
	of, set := "", d.Value // the required value of conf.default
	switch {
	case how == tunable.AllIgnored && a.f.IsSet(own):
		if a.required(d.Line, d.rec) {
			return nil // conf.default protects; a benchmark's scanner requires both lines
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

// reaches says which interfaces conf.default affects: for IPv4 all whose own value was never
// written, for IPv6 those created later.
func reaches(d deviceLine) string {
	if d.tree == "net.ipv4.conf." && d.setting != "forwarding" {
		return ": every interface whose own value nobody wrote follows it."
	}
	return ", and that of interfaces which are there already."
}

// together returns how the kernel combines conf.all with a device's value on this host.
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

// staysOn reports whether some interface keeps a setting on that conf.all switches off: a running
// one that no line sets; or, if none is known, no file sets an interface and the default is on.
func (a *auditor) staysOn(d deviceLine) bool {
	if on, known := a.atRunning(d); known {
		return on
	}
	v, ok := a.defaultOf(d)
	return ok && v != 0 && !a.deviceSet(d)
}

// staysOff reports whether all interfaces keep a setting off that conf.all alone cannot switch on.
func (a *auditor) staysOff(d deviceLine) bool {
	if on, known := a.atRunning(d); known {
		return !on
	}
	v, ok := a.defaultOf(d)
	return ok && v == 0 && !a.deviceSet(d) && !a.f.IsSet(d.tree+"default."+d.setting)
}

// atRunning reports whether a setting is on for a running interface that no file sets; known is
// false without running values.
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

// deviceSet reports whether a line sets the same setting for a device.
func (a *auditor) deviceSet(d deviceLine) bool {
	return slices.ContainsFunc(a.siblings(d), func(s fact.Tunable) bool {
		return a.f.IsSet(s.Name) && s.Name != d.tree+"default."+d.setting
	})
}

// siblings returns the same setting of conf.default and of devices.
func (a *auditor) siblings(d deviceLine) []fact.Tunable {
	return list.Filter(a.f.Settings, func(s fact.Tunable) bool {
		tree, device, setting, ok := deviceName(s.Name)
		return ok && tree == d.tree && setting == d.setting && device != "all"
	})
}

// defaultOf returns the initial value of interfaces: conf.default, from files or the kernel's
// default.
func (a *auditor) defaultOf(d deviceLine) (float64, bool) {
	set, _ := a.f.Value(d.tree + "default." + d.setting) // "" is not a number
	if v, ok := number(set); ok {
		return v, true
	}
	text, ok := d.rec.InstanceDefaults[d.tree+"default."+d.setting]
	if !ok {
		text, _ = d.rec.DefaultIn(a.f.Release, a.env)
	}
	return number(text)
}

// oneDevice checks a line for one interface against conf.all.
func (a *auditor) oneDevice(d deviceLine) []candidate {
	v, ok := number(d.Value)
	all, known := number(a.env.Text(d.tree + "all." + d.setting))
	if !ok || !known {
		return nil
	}
	how := a.together(d)
	if !(how == tunable.AllMax && all > v || how == tunable.AllOr && v == 0 && all != 0 || how == tunable.AllAnd && v != 0 && all == 0) {
		return nil
	}
	return []candidate{a.says("LR-PERDEVICE", "one", d.Line, with{"all": d.tree + "all." + d.setting, "result": fmt.Sprint(all), "how": combination[how]})}
}
