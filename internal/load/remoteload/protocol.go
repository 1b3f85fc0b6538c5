// Package remoteload provides traffic engines on other machines (load.Engine).
// Engine runs this program there and controls it over a pipe, with one JSON
// document per line in each direction; the far program ends with the pipe, so no
// traffic outlives its client. PktGen runs netmap's pkt-gen there, and derives the
// results from its output and from the interfaces' counters.
package remoteload

import (
	"errors"
	"time"

	"linerate/internal/hint"
	"linerate/internal/load"
)

// Protocol is the version of the pipe's protocol.
const Protocol = 1

// maxLine bounds a message: normal ones have some kilobytes.
const maxLine = 4 << 20

// The operations of a request.
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
	opCancel    = "cancel" // cancels the request given by Handle
)

// request is a request to the far side.
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

// response is the response to the request with the same ID.
type response struct {
	ID       uint64         `json:"id"`
	Error    *farError      `json:"error,omitempty"`
	Handle   uint64         `json:"handle,omitempty"`
	Hello    *Hello         `json:"hello,omitempty"`
	Sent     *load.Sent     `json:"sent,omitempty"`
	Received *load.Received `json:"received,omitempty"`
	// Delays are those of Received, which its JSON omits.
	Delays load.Histogram `json:"delays,omitzero"`
}

// Hello describes the far side.
type Hello struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // of linerate
	OS       string `json:"os"`      // GOOS
	Engine   string `json:"engine"`  // the fastest that works on the far side
	// Boot identifies the machine's boot: two equal ones share a clock.
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
