package instrument

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"time"

	"linerate/internal/lazy"
	"linerate/internal/list"
)

// Write is a write to a sysctl, reported just before the kernel carries it out.
type Write struct {
	At   time.Time `json:"at"`
	Name string    `json:"name"`
	Old  string    `json:"old"`
	New  string    `json:"new"`
	// Chain is the process that writes, followed by its ancestors.
	Chain []Process `json:"chain"`
	// Exe is the path of its executable; "" if the process ended before it was read.
	Exe string `json:"exe,omitempty"`
	// Unit is the process's systemd unit, or the last component of its cgroup; Container
	// is the ID of its container.
	Unit      string `json:"unit,omitempty"`
	Container string `json:"container,omitempty"`
	// Groups are the cgroups of the process, innermost first.
	Groups []string `json:"cgroups,omitempty"`
	// Elsewhere says that the process is in another network namespace than linerate, so
	// net sysctls are that namespace's.
	Elsewhere bool `json:"other_network_namespace,omitempty"`
	// Lost is the number of writes so far that could not be reported.
	Lost int `json:"lost,omitempty"`
}

// Process is a process ID and the kernel's name for the process.
type Process struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
}

// Programs returns the names of the processes in the chain.
func (w *Write) Programs() (names []string) {
	return list.Map(w.Chain, func(p Process) string { return p.Name })
}

// String describes the write in one line.
func (w *Write) String() string {
	var by []string
	for i, p := range w.Chain {
		name := fmt.Sprintf("%s[%d]", p.Name, p.PID)
		if i == 0 && w.Exe != "" && path.Base(w.Exe) != p.Name {
			name += " (" + w.Exe + ")"
		}
		by = append(by, name)
	}
	out := fmt.Sprintf("%s  %s: %s → %s, by %s", w.At.Format(time.TimeOnly), w.Name, cmp.Or(w.Old, `""`), cmp.Or(w.New, `""`), strings.Join(by, " ← "))
	if w.Unit != "" {
		out += ", in " + w.Unit
	}
	if w.Container != "" {
		out += ", container " + w.Container[:min(12, len(w.Container))]
	}
	if w.Elsewhere {
		out += ", in another network namespace"
	}
	return out
}

var (
	ofUnit      = lazy.Regexp(`\.(service|scope|socket|mount|swap)$`)
	ofContainer = lazy.Regexp(`(?:^|[-:])([0-9a-f]{64})(?:\.scope)?$`)
)

// place derives Unit and Container from the names of the cgroups.
func (w *Write) place() {
	for _, g := range w.Groups {
		if m := ofContainer().FindStringSubmatch(g); m != nil && w.Container == "" {
			w.Container, w.Unit = m[1], g
		}
		if w.Unit == "" && ofUnit().MatchString(g) {
			w.Unit = g
		}
	}
	if w.Unit == "" && len(w.Groups) > 0 {
		w.Unit = w.Groups[0]
	}
}
