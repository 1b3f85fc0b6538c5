package instrument

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"
)

// Write is a write to a sysctl, as the kernel was about to do it.
type Write struct {
	At   time.Time `json:"at"`
	Name string    `json:"name"`
	Old  string    `json:"old"`
	New  string    `json:"new"`
	// Chain is the process that writes, then those that started it.
	Chain []Process `json:"chain"`
	// Exe is its program's file; "" where it ended before that was read.
	Exe string `json:"exe,omitempty"`
	// Unit is the unit of systemd, or the last name of the cgroup, that the process is in;
	// Container the id of the container that it is of.
	Unit      string `json:"unit,omitempty"`
	Container string `json:"container,omitempty"`
	// Groups are the cgroups that the process is in, the innermost first.
	Groups []string `json:"cgroups,omitempty"`
	// Elsewhere: the process is in another network namespace than this one, so a sysctl
	// of net is that namespace's.
	Elsewhere bool `json:"other_network_namespace,omitempty"`
	// Lost is how many writes so far could not be reported.
	Lost int `json:"lost,omitempty"`
}

// Process is a process by its id and the kernel's name for it.
type Process struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
}

// Programs are the names of the chain's processes.
func (w *Write) Programs() (names []string) {
	for _, p := range w.Chain {
		names = append(names, p.Name)
	}
	return names
}

// String is the write as a line for people.
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
	ofUnit      = regexp.MustCompile(`\.(service|scope|socket|mount|swap)$`)
	ofContainer = regexp.MustCompile(`(?:^|[-:])([0-9a-f]{64})(?:\.scope)?$`)
)

// place reads the names of the cgroups.
func (w *Write) place() {
	for _, g := range w.Groups {
		if m := ofContainer.FindStringSubmatch(g); m != nil && w.Container == "" {
			w.Container, w.Unit = m[1], g
		}
		if w.Unit == "" && ofUnit.MatchString(g) {
			w.Unit = g
		}
	}
	if w.Unit == "" && len(w.Groups) > 0 {
		w.Unit = w.Groups[0]
	}
}
