package fault

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// step is a point at which a fault can strike: before a command, with the
// state of the host at that moment.
type step struct {
	command      string
	look         string // the host's files: names, owners, sizes, times
	reads, dates int    // number of reads of settings and of the clock so far
}

// unseen are commands whose effect no file shows: on running values, on what is
// synced to disk, or on processes.
var unseen = []string{"knob_write", "sync", "fsync", "setsid"}

// differs reports whether a fault of a kind differs from one at the previous step. A kill
// or a failing write leaves the host in its state at that moment, so it differs only if the
// state or the command does. A wrong value or time matters only if something is read.
// Failed commands, lost connections and second transactions differ at every step.
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

// trace returns the steps of a phase that ran in counting mode.
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
