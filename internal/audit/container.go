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

// ofSystem are containers that boot a full system, which applies its sysctl.d. In them all
// of /proc/sys but net is read-only (LXC's proc:mixed, systemd-nspawn(1)).
var ofSystem = []string{"lxc", "lxc-libvirt", "systemd-nspawn"}

// contained reports sysctls in a container's own files that only the host, or the
// container's configuration there, can set.
func (a *auditor) contained(j judged) []candidate {
	if slices.Contains([]string{pod, daemonSet, composed}, a.f.Container) {
		return a.inPod(j)
	}
	if j.rec == nil || j.Stage != fact.Sysctl || j.st.Mechanism != setting.Sysctl || !slices.Contains(ofSystem, a.f.Container) {
		return nil
	}
	f := Finding{ID: "LR-CONTAINER:" + j.Name, Kind: Misplaced, Severity: j.ifEffective(Warning), Action: Remove, Name: j.Name, Sources: []string{"lxc.container.conf(5)", "namespaces(7)"}}.at(j.Line)
	switch j.rec.ScopeOn(j.Name, a.f.Release) {
	case tunable.Host:
		f.Message = fmt.Sprintf("%s belongs to the kernel of the host; this container (%s) cannot set it", j.Name, a.f.Container)
		f.Why = "It is in no namespace. Below /proc/sys a container can write what its own network namespace holds: sysctl(8) answers \"Permission denied\", \"Read-only file system\" or \"cannot stat\", and nothing is set."
		f.Fix = fmt.Sprintf("Remove the line here; if %s is wanted, set it on the host, in /etc/sysctl.d/, for all of its containers.", j.Value)
	case tunable.IPCNS:
		f.Message = fmt.Sprintf("%s is set for a container from outside; within it (%s) it is read-only", j.Name, a.f.Container)
		f.Why = "It is the container's own, of its IPC namespace, but LXC and systemd-nspawn mount /proc/sys read-only, all but net."
		f.Fix = "Remove the line here. On the host, " + a.fromOutside(j.Name, j.Value)
	default:
		return nil
	}
	return one(misplaced, f)
}

// fromOutside is where a host sets a sysctl of a container's own IPC namespace.
func (a *auditor) fromOutside(name, value string) string {
	line := fmt.Sprintf("lxc.sysctl.%s = %s", name, value)
	if slices.Contains(a.Rules.PCTSysctls, name) {
		return fmt.Sprintf("put %s into the container's configuration (Proxmox VE: /etc/pve/lxc/ID.conf).", line)
	}
	return fmt.Sprintf("put %s into the container's configuration; Proxmox VE takes it for all containers alone, from a file in /usr/share/lxc/config/common.conf.d/.", line)
}

// proxmoxContainers is where Proxmox VE keeps the configurations of its containers.
const proxmoxContainers = "/etc/pve/lxc/"

// containers judges the sysctls that a host's configurations give to its containers.
func (a *auditor) containers() []candidate {
	var all []candidate
	for _, l := range a.lines {
		if of, ok := strings.CutPrefix(l.Name, linux.Containers); ok && l.Stage == fact.Field {
			id, name, _ := strings.Cut(of, "/")
			if f, bad := a.forContainer(l, id, name); bad {
				all = append(all, candidate{Finding: f, class: lineRule})
			}
		}
	}
	return all
}

// forContainer reports a sysctl that a container's configuration cannot give it.
func (a *auditor) forContainer(l fact.Line, id, name string) (Finding, bool) {
	f := Finding{ID: "LR-LXC-SYSCTL:" + l.Name, Kind: Misplaced, Severity: Error, Action: Move, Name: l.Name, Sources: []string{"lxc.container.conf(5)", "lxc src/lxc/conf.c (setup_sysctl_parameters)"}}.at(l)
	rec, known := a.c.Lookup(a.f.OS, name)
	scope := tunable.NetNS
	if known {
		scope = rec.ScopeOn(name, a.f.Release)
	}
	if strings.HasPrefix(l.File, proxmoxContainers) && !slices.Contains(a.Rules.PCTSysctls, name) {
		f.Sources = []string{"pve-container src/PVE/LXC/Config.pm"}
		f.Message = fmt.Sprintf("Proxmox VE drops lxc.sysctl.%s of container %s", name, id)
		f.Why = "Of lxc.sysctl.… it takes those of IPC namespaces alone (fs.mqueue, kernel.msg…, kernel.sem, kernel.shm…). pct says \"unable to parse config\" of others, starts the container without them, and leaves the line out when it writes the file next."
		f.Fix = fmt.Sprintf("Remove the line, and set it within the container, in /etc/sysctl.d/: %s = %s.", name, l.Value)
		switch scope {
		case tunable.Host:
			f.Fix = fmt.Sprintf("Remove the line, and set it on this host, in /etc/sysctl.d/, for all of its containers: %s = %s.", name, l.Value)
		case tunable.IPCNS: // read-only within the container
			f.Fix = fmt.Sprintf("Remove the line. Where all containers may have it: lxc.sysctl.%s = %s, in a file in /usr/share/lxc/config/common.conf.d/.", name, l.Value)
		case tunable.Namespace:
			f.Fix = "Remove the line."
		}
		return f, true
	}
	switch p := a.refusedOf(rec, known, l); {
	case known && !rec.Exists(a.f.Release):
		f.Action = Remove
		f.Message = fmt.Sprintf("container %s does not start: %s does not exist on %s", id, name, a.on())
		f.Why = "LXC gives up a start when it cannot write one of these sysctls."
		f.Fix = "Remove the line."
	case scope == tunable.Host:
		f.Severity = Warning
		f.Message = fmt.Sprintf("lxc.sysctl.%s is no container's own", name)
		f.Why = "It is in no namespace: the start of a privileged container changes it for the host and all containers, and an unprivileged one does not start (\"Failed to setup sysctl parameters\")."
		f.Fix = fmt.Sprintf("Remove the line, and set it on this host, in /etc/sysctl.d/: %s = %s.", name, l.Value)
	case p != nil:
		f.Kind, f.Action = Range, Change
		f.Message = fmt.Sprintf("container %s does not start: the kernel refuses %s=%s: %s", id, name, l.Value, p.Message)
		f.Why = "LXC gives up a start when it cannot write one of these sysctls."
		f.Fix = "Give a value that fits, or remove the line."
	default:
		return f, false
	}
	return f, true
}

// refusedOf is why the kernel refuses a line's value, nil where it does not, or is not
// known to.
func (a *auditor) refusedOf(rec *tunable.Record, known bool, l fact.Line) *tunable.ValueProblem {
	if !known || l.Hidden() {
		return nil
	}
	if p := rec.RejectOn(a.f.Release, l.Value); p != nil && p.Outside == tunable.Refused {
		return p
	}
	return nil
}
