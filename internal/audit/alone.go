package audit

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/factexpr"
	"linerate/internal/setting"
)

// firewallReads are the names of expressions that rest on a firewall's files,
// and on rc.conf, which switches it on.
var firewallReads = map[string][]string{
	"pf": {"/etc/rc.conf", "/etc/pf.conf"}, "pf_rules": {"/etc/pf.conf"}, "pf_source_tracking": {"/etc/pf.conf"}, "pf_max_mss": {"/etc/pf.conf"},
	"ipfw": {"/etc/rc.conf"}, "ipfw_nat": {"/etc/rc.conf"}, "ipfw_stateful": {"/etc/rc.conf"}, "ipfw_rules": {"/etc/rc.conf"},
	"forwarding": {"/etc/rc.conf", "/etc/sysctl.conf"}, "webserver": {"/etc/rc.conf"}, "serves_web": {"/etc/rc.conf"},
}

// missing are the unknown files on which a condition depends, where single files were
// given: a FreeBSD host has others, and what they set may reverse the condition.
func (a *auditor) missing(names []string, calls []factexpr.Call) []string {
	if !a.f.From.Alone || a.f.OS != fact.FreeBSD || a.product != nil { // an appliance's configuration is whole
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

// restsOn is the file in which what an expression asks for would be set, none
// where a line that is known sets it.
func (a *auditor) restsOn(c factexpr.Call) []string {
	switch c.Function {
	case "rc", "rc_text", "service":
		return []string{"/etc/rc.conf"}
	case "module": // kld_list loads some, the loader others
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

// unsure tones down a finding that depends on files which were not given.
func (f Finding) unsure(files []string) Finding {
	if len(files) == 0 {
		return f
	}
	f.Severity = Info
	f.Why = strings.TrimSpace(f.Why + fmt.Sprintf(" %s may say otherwise: not among the files that were given.", either(files)))
	return f
}
