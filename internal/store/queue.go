package store

import (
	"context"

	"linerate/internal/queue"
)

// Engine hands out jobs.
type Engine interface {
	// Put creates a job for a study's unit, for any worker with a testbed of the label.
	Put(ctx context.Context, tx Tx, label string, t Ticket) (job int64, err error)
	// Withdraw removes a job, and ends it if it is running.
	Withdraw(ctx context.Context, tx Tx, job int64) error
	// Dead returns the jobs of blocks that have not begun and never will: handed out longer than
	// lost milliseconds ago, or ended.
	Dead(ctx context.Context, tx Tx, lost int64) ([]int64, error)
}

// Ticket identifies a job's work.
type Ticket struct {
	Study string `json:"study"`
	Block int    `json:"block"` // the first of the unit; 0 finishes the study
	Job   int64  `json:"-"`     // the engine's number
}

// Book is the queue in a database, except for handing out, which the engine does: jobs begin and
// end in the book's transactions.
type Book struct {
	DB       Database
	Engine   Engine
	Dialect  Dialect
	Patience queue.Patience
	// Hopeless reports database errors that a retry cannot fix, such as a trial that is already
	// recorded; nil means none.
	Hopeless func(error) bool
}

// Make creates the tables if there are none. The caller excludes others.
func (b *Book) Make(ctx context.Context) error {
	return b.DB.Do(ctx, func(tx Tx) error { return queueTables.make(ctx, tx, &b.Dialect) })
}

// Current checks that the tables exist and have this version, without writing.
func (b *Book) Current(ctx context.Context) error { return queueTables.current(ctx, b.DB) }

// Place returns the location of the queue.
func (b *Book) Place() string { return b.Dialect.Place }

// Close closes the database.
func (b *Book) Close() error { return b.DB.Close() }

// now returns the database's time in milliseconds.
func (b *Book) now(w *work) int64 { return value[int64](w, "SELECT "+b.Dialect.Now) }
