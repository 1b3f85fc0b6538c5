// Package queue spreads studies over testbeds: blocks are handed out to workers, each
// of which has leased a testbed, and every trial is recorded exactly once, whatever
// dies. The package holds the words and the interface; package store keeps it. River
// hands out the blocks in PostgreSQL, for many workers, and a table of SQLite's on one machine.
//
// A block is in one worker's hands because it was handed out once; a testbed is because
// it is leased: the lease has an epoch, which grows with every change of hands, and
// whatever is written is written in a transaction that holds the testbed's row
// and finds the epoch unchanged.
package queue

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"linerate/internal/hint"
	"linerate/internal/study"
	"linerate/internal/study/record"
)

// Errors that callers tell apart.
var (
	// ErrLost: the lease has ended; work done under it does not count.
	ErrLost = errors.New("the testbed's lease was lost")
	// ErrHeld: another worker has the testbed.
	ErrHeld = errors.New("the testbed is in another worker's hands")
	// ErrQuarantined: the testbed failed, and was not freed yet.
	ErrQuarantined = errors.New("the testbed is in quarantine")
	// ErrNotFound: no study or testbed of that name.
	ErrNotFound = errors.New("not in the queue")
)

// BedFailed is an error of a block that is the testbed's, not the study's.
type BedFailed struct{ Reason string }

// Error says why.
func (e *BedFailed) Error() string { return "the testbed failed: " + e.Reason }

// SetsFile is the file of a record that has the variants' configuration sets.
const SetsFile = "sets.json"

// State is how far a study is.
type State string

// The states of a study.
const (
	Open      State = "open"      // blocks wait or run
	Finishing State = "finishing" // all trials are recorded; it is on its way into the ledger
	Done      State = "done"      // in the ledger
	Cancelled State = "cancelled"
	Failed    State = "failed" // a block failed too often
)

// Ended reports whether nothing of the study is left to do.
func (s State) Ended() bool { return s == Done || s == Cancelled || s == Failed }

// The states of a testbed.
const (
	BedFree        = "free"
	BedLeased      = "leased"
	BedQuarantined = "quarantined"
)

// Submission is a study to be run.
type Submission struct {
	ID        string // unique, drawn by the submitter
	Name      string // of the study
	Label     string // of the testbeds that may run it
	Kind      string // of testbed that it needs, as Spec.Testbed.Kind
	Submitter string
	Spec      []byte // study.yaml, with its seed
	Sets      []byte // the variants' configuration sets (SetsFile); {} where there are none
	// Estimate is the testbed time that it will take.
	Estimate time.Duration
}

// Study is a submitted study as it stands.
type Study struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Label     string    `json:"label"`
	Kind      string    `json:"kind"`
	Submitter string    `json:"submitter"`
	Submitted time.Time `json:"submitted"`
	State     State     `json:"state"`
	Why       string    `json:"why,omitempty"` // of cancelled and failed ones
	// Blocks is how many were handed out or wait so far, Done how many are
	// recorded, Trials how many trials they have.
	Blocks  int `json:"blocks"`
	Done    int `json:"blocks_done"`
	Running int `json:"blocks_running"`
	Trials  int `json:"trials"`
	// EstimateSeconds is about what it takes on one testbed.
	EstimateSeconds float64 `json:"estimate_seconds"`
	// Ledger is the study's identifier there once it is done.
	Ledger string `json:"ledger,omitempty"`
}

// Testbed is a testbed as the queue knows it.
type Testbed struct {
	Name   string `json:"name"`
	Label  string `json:"label"`
	Kind   string `json:"kind"`
	State  string `json:"state"`
	Why    string `json:"why,omitempty"` // of a quarantine
	Holder string `json:"holder,omitempty"`
	Epoch  int64  `json:"epoch"`
	// SilentSeconds is how long ago its holder was last heard of.
	SilentSeconds float64 `json:"silent_seconds"`
	Study         string  `json:"study,omitempty"` // that it runs a block of
	Block         int     `json:"block,omitempty"`
}

// Claim is a worker's wish for a testbed.
type Claim struct {
	Testbed string
	Label   string // equal testbeds share it
	Kind    string
	Holder  string // for people: host and process
}

// Lease is a testbed in a worker's hands.
type Lease struct {
	Claim
	Epoch int64
}

// Job is a unit of a study in a worker's hands.
type Job struct {
	Study string // its ID
	// Finish asks to take the study's record into the ledger: it has no unit.
	Finish bool
	Unit   study.Unit
	Try    int // from 1
	Spec   study.Spec
	Seed   uint64
	Sets   []byte
	// Before are the trials that the unit stands on: those of other parts, and all
	// that found a variant unavailable.
	Before []study.Trial
	// Lacks is what testbeds said they cannot be had for (Environment.Unavailable).
	Lacks map[string]string
}

// File is a file of a record, or raw material of a block.
type File = record.File

// label is what testbeds and studies may share: River names a queue by it.
var label = regexp.MustCompile(`^[a-z0-9]+([_-][a-z0-9]+)*$`)

// CheckLabel refuses a label that no queue can be named by.
func CheckLabel(name string) error {
	if len(name) <= 40 && label.MatchString(name) {
		return nil
	}
	return hint.With(hint.Usagef("label %q is not valid", name), "use up to 40 lower-case letters and digits, with - or _ between")
}

// Outcome is the result of a job.
type Outcome struct {
	Trials      []study.Trial
	Files       []File
	Environment study.Environment // of the testbed, without facts
	Facts       []byte            // of the testbed's host, as facts.json has them
	Ledger      string            // of a job that finishes: the identifier there
}

// Patience is how leases are kept.
type Patience struct {
	Beat time.Duration // between signs of life
	Lost time.Duration // without one, until a testbed is free again
}

// DefaultPatience beats every ten seconds and gives up after sixty.
var DefaultPatience = Patience{Beat: 10 * time.Second, Lost: 60 * time.Second}

// MaxTries is how often a block may fail on healthy testbeds before its study does.
const MaxTries = 3

// Work does a job; ctx ends with the lease and with the study.
type Work func(ctx context.Context, j Job) (Outcome, error)

// Queue is where studies wait for testbeds. Implementations are safe for concurrent
// use; times are those of the database's clock.
type Queue interface {
	Reader
	// Submit queues a study.
	Submit(ctx context.Context, s Submission) error
	// Cancel ends a study; its recorded trials stay.
	Cancel(ctx context.Context, id, why string) error

	// Brake keeps every block that has not begun from beginning; "" lets go.
	Brake(ctx context.Context, why string) error

	// Free lets a testbed out of quarantine.
	Free(ctx context.Context, testbed string) error

	// Lease takes a testbed: one that is free, or whose holder was not heard of for
	// Patience.Lost. ErrHeld and ErrQuarantined otherwise.
	Lease(ctx context.Context, c Claim) (Lease, error)
	// Work keeps a lease, asks fit (which may be nil) whether the testbed is, and then does
	// jobs, one after the other. It returns when ctx ends (nil, and the testbed is free again), when
	// the lease is lost (ErrLost), or when the testbed is not fit or a job said
	// BedFailed (it is then in quarantine).
	Work(ctx context.Context, l Lease, fit func(context.Context) error, do Work) error
	// Quarantine takes a testbed out of use.
	Quarantine(ctx context.Context, l Lease, why string) error
}

// NotAvailable is an error of Lease with what is known.
type NotAvailable struct {
	Err    error // ErrHeld or ErrQuarantined
	Holder string
	Why    string
	// Wait is how long the holder may still be silent.
	Wait time.Duration
}

// Error tells it.
func (e *NotAvailable) Error() string {
	if e.Why != "" {
		return fmt.Sprintf("%v: %s", e.Err, e.Why)
	}
	return fmt.Sprintf("%v: %s", e.Err, e.Holder)
}

// Unwrap is the kind of error.
func (e *NotAvailable) Unwrap() error { return e.Err }
