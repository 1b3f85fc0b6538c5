// Package remoteload holds the traffic engines on other machines (load.Engine).
// Engine runs this program there and asks it over a pipe: one JSON document a line
// each way; the pipe's end is the far program's end, so that no traffic outlives
// its client. PktGen runs netmap's pkt-gen there: what it did is read from what it
// prints, and from the counters of the interfaces.
package remoteload

import (
	"errors"
	"time"

	"linerate/internal/hint"
	"linerate/internal/load"
)

// Protocol is the version of what goes over the pipe.
const Protocol = 1

// maxLine bounds a message: an honest one has some kilobytes.
const maxLine = 4 << 20

// The operations that can be asked for.
const (
	opHello     = "hello"
	opGenerator = "generator"
	opReceiver  = "receiver"
	opProbe     = "probe"
	opRun       = "run"
	opSnapshot  = "snapshot"
	opFinish    = "finish"
	opReset     = "reset"
	opClose     = "close"
	opCancel    = "cancel" // of the request named by Handle
)

// request asks the far side for something.
type request struct {
	ID       uint64        `json:"id"`
	Op       string        `json:"op"`
	Handle   uint64        `json:"handle,omitempty"`
	Device   string        `json:"device,omitempty"`
	Spec     *load.Spec    `json:"spec,omitempty"`
	Watch    *load.Watch   `json:"watch,omitempty"`
	Offer    *load.Offer   `json:"offer,omitempty"`
	Patience time.Duration `json:"patience,omitempty"`
}

// response answers the request of the same id.
type response struct {
	ID       uint64         `json:"id"`
	Error    *farError      `json:"error,omitempty"`
	Handle   uint64         `json:"handle,omitempty"`
	Hello    *Hello         `json:"hello,omitempty"`
	Sent     *load.Sent     `json:"sent,omitempty"`
	Received *load.Received `json:"received,omitempty"`
	// Delays are Received's, which no document has.
	Delays load.Histogram `json:"delays,omitzero"`
}

// Hello is what the far side says of itself.
type Hello struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // of linerate
	OS       string `json:"os"`      // GOOS
	Engine   string `json:"engine"`  // the fastest that works there
	// Boot names the machine's boot: two that agree share a clock.
	Boot string `json:"boot"`
}

// farError carries an error over the pipe.
type farError struct {
	Text    string `json:"text"`
	Hint    string `json:"hint,omitempty"`
	NotHere bool   `json:"not_here,omitempty"`
}

func toWire(err error) *farError {
	if err == nil {
		return nil
	}
	return &farError{Text: err.Error(), Hint: hint.Of(err), NotHere: errors.Is(err, load.ErrNotHere)}
}

func (e *farError) err() error {
	if e == nil {
		return nil
	}
	err := errors.New(e.Text)
	if e.Hint != "" {
		err = hint.With(err, "%s", e.Hint)
	}
	if e.NotHere {
		err = load.NotHere(err)
	}
	return err
}
