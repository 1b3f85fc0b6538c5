package ledgers

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"linerate/internal/ledger"
	"linerate/internal/queue"
	"linerate/internal/store/postgres"
	"linerate/internal/store/sqlite"
)

// OpenQueue opens the queue of the ledger at a place: River's tables in its PostgreSQL
// database, or an SQLite file next to its file. It creates the queue where there is none.
func OpenQueue(ctx context.Context, place string, p queue.Patience) (queue.Queue, error) {
	at, err := ledger.Locate(place)
	if err != nil {
		return nil, err
	}
	if at.URL != "" {
		q, err := postgres.OpenQueue(ctx, at.URL, p)
		return q, unreached(err)
	}
	return sqlite.OpenQueue(ctx, queueFile(at.Path), sqlite.Owner{UID: at.UID, GID: at.GID}, p)
}

// ReadOnlyQueue opens the queue of the ledger at a place so that nothing can be written to it.
// The error is that of fs.ErrNotExist where there is none.
func ReadOnlyQueue(ctx context.Context, place string) (queue.Reader, error) {
	at, err := ledger.Locate(place)
	if err != nil {
		return nil, err
	}
	if at.URL != "" {
		return postgres.OpenQueueReadOnly(ctx, at.URL)
	}
	if _, err := os.Stat(queueFile(at.Path)); err != nil {
		return nil, err
	}
	return sqlite.OpenQueueReadOnly(ctx, queueFile(at.Path), sqlite.Owner{UID: at.UID, GID: at.GID})
}

// queueFile is the path of the queue of a ledger file: ledger-queue.db for ledger.db.
func queueFile(ledger string) string {
	ext := filepath.Ext(ledger)
	return strings.TrimSuffix(ledger, ext) + "-queue" + ext
}

// WithQueue opens the queue for f and closes it.
func WithQueue(ctx context.Context, place string, f func(queue.Queue) error) error {
	q, err := OpenQueue(ctx, place, queue.DefaultPatience)
	if err != nil {
		return err
	}
	return errors.Join(f(q), q.Close())
}

// Keeper takes studies' complete records into the ledger at a place, and returns their
// names there.
func Keeper(place string) func(ctx context.Context, id string, files []queue.File) (string, error) {
	return func(ctx context.Context, id string, files []queue.File) (string, error) {
		r, err := queue.ReadRecord(files, "queue/"+id)
		if err != nil {
			return "", err
		}
		b, err := ledger.OfRecord(r, "queue/"+id)
		if err != nil {
			return "", err
		}
		return b.Ref, With(ctx, place, func(s ledger.Store) error {
			_, err := s.Append(ctx, b)
			return err
		})
	}
}
