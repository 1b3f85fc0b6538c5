// Package record reads the record that linerate keeps on a host of what it applied: with
// shell functions that print it, and a parser of their output.
package record

import (
	_ "embed" // boot.sh, record.sh
	"strings"
)

// Script holds the shell functions that read a host's record. They require those of knob.Reading.
var Script = BootScript + reading

//go:embed record.sh
var reading string

// BootScript holds the shell functions that distinguish boots: since_boot and
// boot_id. They require the system's name in OS.
//
//go:embed boot.sh
var BootScript string

// Drift is a difference from the confirmed state.
type Drift struct {
	// ID is the transaction that confirmed it.
	ID        string `json:"id,omitempty"`
	What      string `json:"what"`
	Confirmed string `json:"confirmed,omitempty"`
	Now       string `json:"now,omitempty"`
	// Lines are those of a file that differ: "-" before a removed one, "+" before an added one;
	// Changed is the file's modification time.
	Lines   []string `json:"lines,omitempty"`
	Changed string   `json:"changed,omitempty"`
}

// File reports whether a file differs, not a running value.
func (d *Drift) File() bool { return strings.HasPrefix(d.What, "/") }

// Name returns the setting without its mechanism, or the file.
func (d *Drift) Name() string {
	if d.File() {
		return d.What
	}
	f := strings.SplitN(d.What, " ", 3)
	return strings.Join(f[1:], " ")
}

// Limits on what is kept of a host's answer.
const (
	maxLines = 40   // of one rewritten file
	maxDrift = 1000 // settings and files
)

// Reader collects drift from the lines of a host's answer.
type Reader struct {
	Drift []Drift
	id    string
	full  bool // the latest item was dropped
}

// Line reads one line, given as its first word and the rest. It ignores unknown words.
func (r *Reader) Line(word, rest string) {
	switch word {
	case "of":
		r.id = rest
	case "drift":
		r.add(settingOf(rest))
	case "drift-file":
		path, changed, _ := strings.Cut(rest, " ")
		d := Drift{What: path, Now: "another text", Changed: changed}
		if changed == "gone" {
			d.Now, d.Changed = "", ""
		}
		r.add(d)
	case "drift-line":
		if n := len(r.Drift); n > 0 && !r.full && len(r.Drift[n-1].Lines) < maxLines {
			r.Drift[n-1].Lines = append(r.Drift[n-1].Lines, rest)
		}
	}
}

func (r *Reader) add(d Drift) {
	if r.full = len(r.Drift) >= maxDrift; r.full {
		return
	}
	d.ID = r.id
	r.Drift = append(r.Drift, d)
}

func settingOf(rest string) Drift {
	f := strings.SplitN(rest, " ", 4)
	if len(f) < 4 {
		return Drift{What: rest}
	}
	d := Drift{What: f[0] + " " + f[2]}
	if f[1] != "-" {
		d.What = f[0] + " " + f[1] + " " + f[2]
	}
	was, now, _ := strings.Cut(f[3], " =")
	d.Confirmed, d.Now = strings.TrimPrefix(was, "="), now
	if now == "!" {
		d.Now = ""
	}
	return d
}

// Record is the state of a host's record in a capture.
type Record struct {
	// State is the transaction in force (000003-0f3c6a0d2f7c), None or, if the record could not be
	// compared with the host, one of the other constants as the reason.
	State string
	Drift []Drift
}

// The states other than a transaction.
const (
	None       = "none"
	Unreadable = "unreadable" // readable only by root
	Live       = "live"       // a live study holds the host
)

// Known reports whether the host was compared with its record.
func (r Record) Known() bool {
	switch r.State {
	case "", Unreadable, Live, "pending", "confirming", "reverting":
		return false
	}
	return true
}

// Parse parses the record in a capture. If the text is malformed, the result is not Known.
func Parse(text string) Record {
	var r Reader
	state := ""
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if word == "record" && len(rest) <= maxState && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" {
			state = rest
			continue
		}
		r.Line(word, rest)
	}
	return Record{state, r.Drift}
}

const maxState = 32
