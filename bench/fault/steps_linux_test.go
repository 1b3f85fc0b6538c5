package fault

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// step is a place a fault can strike at: the command that comes next, and what
// has become of the host until then.
type step struct {
	command      string
	look         string // the host's files: names, owners, sizes, times
	reads, dates int    // how often settings and the clock have been read
}

// unseen are commands that change what no file shows: running values, what is on
// the disk, which processes there are.
var unseen = []string{"knob_write", "sync", "fsync", "setsid"}

// differs says whether a fault of a kind that strikes here differs from one that strikes at
// the step before. A kill or a failing write leaves the host as it is at this moment, so it
// differs only where the host's state or the command does. A false answer or another time
// matters only where something is read. Failed commands, lost connections and second
// parties differ at every step.
func (s step) differs(before step, kind Kind) bool {
	switch kind {
	case Kill, Boot, Unsynced, Full, ReadOnly:
		return s.look != before.look || slices.Contains(unseen, before.command)
	case Lie:
		return s.reads != before.reads
	case Clock:
		return s.dates != before.dates
	}
	return true
}

// trace reads the steps of a phase that was run to be counted.
func (l *lab) trace() ([]step, error) {
	text, err := os.ReadFile(filepath.Join(l.sandbox.Dir, "trace"))
	var all []step
	var s step
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "read":
			s.reads++
		case "date":
			s.dates++
		case "step":
			s.command, s.look, _ = strings.Cut(rest, " ")
			all = append(all, s)
		}
	}
	return all, err
}
