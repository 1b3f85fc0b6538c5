package audit

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/factexpr"
	"linerate/internal/setting"
)

// firewallReads maps names of expressions to the files they depend on: those of a firewall, and
// rc.conf, which enables it.
var firewallReads = map[string][]string{
	"pf": {"/etc/rc.conf", "/etc/pf.conf"}, "pf_rules": {"/etc/pf.conf"}, "pf_source_tracking": {"/etc/pf.conf"}, "pf_max_mss": {"/etc/pf.conf"},
	"ipfw": {"/etc/rc.conf"}, "ipfw_nat": {"/etc/rc.conf"}, "ipfw_stateful": {"/etc/rc.conf"}, "ipfw_rules": {"/etc/rc.conf"},
	"forwarding": {"/etc/rc.conf", "/etc/sysctl.conf"}, "webserver": {"/etc/rc.conf"}, "serves_web": {"/etc/rc.conf"},
}

// missing returns the unknown files on which a condition depends, if single files were given: a
// FreeBSD host has others, whose settings may reverse the condition.
func (a *auditor) missing(names []string, calls []factexpr.Call) []string {
	if !a.f.From.Alone || a.f.OS != fact.FreeBSD || a.product != nil { // an appliance's configuration is complete
		return nil
	}
	var files []string
	for _, n := range names {
		files = append(files, firewallReads[n]...)
	}
	for _, c := range calls {
		files = append(files, a.restsOn(c)...)
	}
	slices.Sort(files)
	return slices.DeleteFunc(slices.Compact(files), func(f string) bool { return a.f.Read(f) })
}

// restsOn returns the files in which the setting that an expression reads would be, none if a known
// line sets it.
func (a *auditor) restsOn(c factexpr.Call) []string {
	switch c.Function {
	case "rc", "rc_text", "service":
		return []string{"/etc/rc.conf"}
	case "module": // kld_list loads some modules, the loader others
		return []string{"/boot/loader.conf", "/etc/rc.conf"}
	case "value", "text", "is_set":
		rec, ok := a.c.Lookup(a.f.OS, c.Argument)
		if _, set := a.lineOf(c.Argument); set || !ok {
			return nil
		}
		if rec.Mechanism == setting.Firewall {
			return []string{"/etc/pf.conf"}
		}
		if f := properFile(a.f.OS, rec.At(a.f.Release)); f != "" {
			return []string{f}
		}
	}
	return nil
}

// unsure lowers the severity of a finding that depends on files that were not given.
func (f Finding) unsure(files []string) Finding {
	if len(files) == 0 {
		return f
	}
	f.Severity = Info
	f.Why = strings.TrimSpace(f.Why + fmt.Sprintf(" %s may say otherwise: not among the files that were given.", either(files)))
	return f
}
