package store

import (
	"context"

	"linerate/internal/queue"
)

// Engine hands out jobs.
type Engine interface {
	// Put makes a job of a study's unit, for any worker with a testbed of the label.
	Put(ctx context.Context, tx Tx, label string, t Ticket) (job int64, err error)
	// Withdraw takes a job back, and ends it where it runs.
	Withdraw(ctx context.Context, tx Tx, job int64) error
	// Dead are the jobs of blocks that have not begun and never will: handed out
	// longer than lost milliseconds ago, or ended.
	Dead(ctx context.Context, tx Tx, lost int64) ([]int64, error)
}

// Ticket is a job's name for what is to be done.
type Ticket struct {
	Study string `json:"study"`
	Block int    `json:"block"` // the first of the unit; 0 finishes the study
	Job   int64  `json:"-"`     // the engine's number for it
}

// Book is the queue in a database, but for handing out, which is its engine's: jobs begin and
// end in the book's transactions.
type Book struct {
	DB       Database
	Engine   Engine
	Dialect  Dialect
	Patience queue.Patience
	// Hopeless tells errors of the database that trying again cannot mend, such as a
	// trial that is recorded already; nil: none is.
	Hopeless func(error) bool
}

// Make makes the tables where there are none. The caller keeps others out.
func (b *Book) Make(ctx context.Context) error {
	return b.DB.Do(ctx, func(tx Tx) error { return queueTables.make(ctx, tx, &b.Dialect) })
}

// Current checks that the tables are there and are of this version, and writes nothing.
func (b *Book) Current(ctx context.Context) error { return queueTables.current(ctx, b.DB) }

// Place says where the queue is.
func (b *Book) Place() string { return b.Dialect.Place }

// Close closes the database.
func (b *Book) Close() error { return b.DB.Close() }

// now is the database's clock in milliseconds.
func (b *Book) now(ctx context.Context, tx Tx) (int64, error) {
	return one[int64](ctx, tx, "SELECT "+b.Dialect.Now)
}
