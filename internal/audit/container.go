package audit

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/linux"
	"linerate/internal/setting"
	"linerate/internal/tunable"
)

// ofSystem lists containers that boot a full system, which applies its sysctl.d. In them all of
// /proc/sys except net is read-only (LXC's proc:mixed, systemd-nspawn(1)).
var ofSystem = []string{"lxc", "lxc-libvirt", "systemd-nspawn"}

// contained reports sysctls in a container's own files that only the host, or the container's
// configuration on the host, can set.
func (a *auditor) contained(j judged) []candidate {
	if slices.Contains([]string{pod, daemonSet, composed}, a.f.Container) {
		return a.inPod(j)
	}
	if j.rec == nil || j.Stage != fact.Sysctl || j.st.Mechanism != setting.Sysctl || !slices.Contains(ofSystem, a.f.Container) {
		return nil
	}
	of := ""
	switch scope := j.rec.ScopeOn(j.Name, a.f.Release); {
	case scope == tunable.Host:
		of = "host"
	case scope == tunable.IPCNS && slices.Contains(a.Rules.PCTSysctls, j.Name):
		of = "pct"
	case scope == tunable.IPCNS:
		of = "ipc"
	default:
		return nil
	}
	c := a.says("LR-CONTAINER", of, j.Line, with{"container": a.f.Container})
	c.Severity = j.ifEffective(Warning)
	return []candidate{c}
}

// proxmoxContainers is where Proxmox VE stores container configurations.
const proxmoxContainers = "/etc/pve/lxc/"

// containers checks the sysctls in a host's container configurations.
func (a *auditor) containers() []candidate {
	var all []candidate
	for _, l := range a.lines {
		if of, ok := strings.CutPrefix(l.Name, linux.Containers); ok && l.Stage == fact.Field {
			id, name, _ := strings.Cut(of, "/")
			all = append(all, a.forContainer(l, id, name)...)
		}
	}
	return all
}

// forContainer reports a sysctl that a container's configuration cannot set.
func (a *auditor) forContainer(l fact.Line, id, name string) []candidate {
	rec, known := a.c.Lookup(a.f.OS, name)
	scope, of, problem := tunable.NetNS, "", ""
	if known {
		scope = rec.ScopeOn(name, a.f.Release)
	}
	switch p := a.refusedOf(rec, known, l); {
	case strings.HasPrefix(l.File, proxmoxContainers) && !slices.Contains(a.Rules.PCTSysctls, name):
		of = "pct"
	case known && !rec.Exists(a.f.Release):
		of = "removed"
	case scope == tunable.Host:
		of = "host"
	case p != nil:
		of, problem = "refused", p.Message
	default:
		return nil
	}
	c := a.says("LR-LXC-SYSCTL", of, l, with{"id": id, "sysctl": name, "problem": problem})
	if of == "pct" {
		switch scope {
		case tunable.Host:
			c.Fix = fmt.Sprintf("Remove the line, and set it on this host, in /etc/sysctl.d/, for all of its containers: %s = %s.", name, l.Value)
		case tunable.IPCNS: // read-only in the container
			c.Fix = fmt.Sprintf("Remove the line. Where all containers may have it: lxc.sysctl.%s = %s, in a file in /usr/share/lxc/config/common.conf.d/.", name, l.Value)
		case tunable.Namespace:
			c.Fix = removeLine
		}
	}
	return []candidate{c}
}

// refusedOf returns why the kernel refuses a line's value, nil if it accepts it or that is unknown.
func (a *auditor) refusedOf(rec *tunable.Record, known bool, l fact.Line) *tunable.ValueProblem {
	if !known || l.Hidden() {
		return nil
	}
	if p := rec.RejectOn(a.f.Release, l.Value); p != nil && p.Outside == tunable.Refused {
		return p
	}
	return nil
}
