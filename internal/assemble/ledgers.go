package assemble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"linerate/catalogue"
	"linerate/internal/evidence"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/list"
	"linerate/internal/queue"
	"linerate/internal/store/postgres"
	"linerate/internal/store/sqlite"
	"linerate/internal/tunable"
	"linerate/internal/tunable/explain"
)

// NoLedger is the place that means no ledger.
const NoLedger = "none"

func noLedger() error {
	return hint.With(hint.Usagef("this command needs a ledger"), "name one with %s", hint.Option("ledger", "PLACE"))
}

// OpenLedger opens the ledger at a place, or if place is "" at the one named by the environment or the
// state directory; it creates the ledger if needed.
func OpenLedger(ctx context.Context, place string) (ledger.Store, error) {
	if place == NoLedger {
		return nil, noLedger()
	}
	at, err := ledger.Locate(place)
	if err != nil {
		return nil, err
	}
	if at.URL != "" {
		s, err := postgres.Open(ctx, at.URL)
		return s, unreached(err)
	}
	return sqlite.Open(ctx, at.Path, sqlite.Owner{UID: at.UID, GID: at.GID})
}

// unreached adds a hint to the error of a database server.
func unreached(err error) error {
	if err == nil || hint.Of(err) != "" {
		return err
	}
	return hint.With(err, "is PostgreSQL running there, and does it let you in? psql takes the same postgres://… address")
}

// ReadOnlyLedger opens the ledger at a place without write access. It returns fs.ErrNotExist if there is
// none.
func ReadOnlyLedger(ctx context.Context, place string) (ledger.Reader, error) {
	at, err := existing(place)
	if err != nil {
		return nil, err
	}
	if at.URL != "" {
		s, err := postgres.OpenReadOnly(ctx, at.URL)
		return s, unreached(err)
	}
	return sqlite.OpenReadOnly(ctx, at.Path, sqlite.Owner{UID: at.UID, GID: at.GID})
}

// existing returns the location of a ledger; a file must exist.
func existing(place string) (ledger.Location, error) {
	at, err := ledger.Locate(place)
	if err != nil || at.URL != "" {
		return at, err
	}
	if place == NoLedger {
		return at, noLedger()
	}
	if _, err = os.Stat(at.Path); errors.Is(err, fs.ErrNotExist) {
		return at, hint.With(fmt.Errorf("no ledger at %s yet: %w", at.Path, fs.ErrNotExist), "fill one: linerate demo, or linerate import DIR")
	}
	if err != nil {
		err = fmt.Errorf("ledger: %w", err)
	}
	return at, err
}

// WithLedger opens the ledger, calls f and closes the ledger. It adds a hint to the error of a full disk.
func WithLedger(ctx context.Context, place string, f func(ledger.Store) error) error {
	s, err := OpenLedger(ctx, place)
	if err != nil {
		return err
	}
	err = errors.Join(f(s), s.Close())
	if errors.Is(err, ledger.ErrFull) {
		return hint.With(err, "what was acknowledged is kept; make room, or give another place with %s, and do it again", hint.Option("ledger", ""))
	}
	return err
}

// ChangeLedger is With for a ledger that must exist.
func ChangeLedger(ctx context.Context, place string, f func(ledger.Store) error) error {
	if _, err := existing(place); err != nil {
		return err
	}
	return WithLedger(ctx, place, f)
}

// ReadLedger is With for read access: it does not create a ledger.
func ReadLedger(ctx context.Context, place string, f func(ledger.Reader) error) error {
	s, err := ReadOnlyLedger(ctx, place)
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

// ReadAnyLedger is Read, but does nothing if there is no ledger.
func ReadAnyLedger(ctx context.Context, place string, f func(ledger.Reader) error) error {
	if _, err := existing(place); place == NoLedger || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return ReadLedger(ctx, place, f)
}

// LedgerOfStudy opens the ledger for the one study that matches a name, a place or an ID prefix.
func LedgerOfStudy(ctx context.Context, place, name string, f func(ledger.Reader, *ledger.Study) error) error {
	err := hint.With(hint.Usagef("no file or directory %s, and no study of the ledger", name), "linerate ledger show lists the studies")
	read := ReadAnyLedger(ctx, place, func(s ledger.Reader) error {
		studies, failed := s.Studies(ctx, ledger.Filter{Study: name})
		switch {
		case failed != nil:
			err = failed
		case len(studies) > 1:
			places := list.Map(studies[:min(len(studies), 5)], func(st ledger.Study) string { return st.ID.Short() + " " + st.Place })
			err = hint.With(hint.Usagef("%q matches %d studies", name, len(studies)), "one of: %s", strings.Join(places, "; "))
		case len(studies) == 1:
			err = f(s, &studies[0])
		}
		return nil
	})
	return cmp.Or(read, err)
}

// OpenQueue opens the queue of the ledger at a place: River's tables in its PostgreSQL database, or
// an SQLite file next to its file. It creates the queue if needed.
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

// ReadOnlyQueue opens the queue of the ledger at a place without write access. It returns
// fs.ErrNotExist if there is none.
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

// queueFile returns the path of the queue for a ledger file: ledger-queue.db for ledger.db.
func queueFile(ledger string) string {
	ext := filepath.Ext(ledger)
	return strings.TrimSuffix(ledger, ext) + "-queue" + ext
}

// WithQueue opens the queue, calls f and closes the queue.
func WithQueue(ctx context.Context, place string, f func(queue.Queue) error) error {
	q, err := OpenQueue(ctx, place, queue.DefaultPatience)
	if err != nil {
		return err
	}
	return errors.Join(f(q), q.Close())
}

// Keeper returns a function that adds a study's complete record to the ledger at a place, and
// returns its ID there.
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
		return b.Ref, WithLedger(ctx, place, func(s ledger.Store) error {
			_, err := s.Append(ctx, b)
			return err
		})
	}
}

// own reads from the user's own ledger, if there is one. If it cannot be read, that is an error
// only if the user named it; otherwise doubt gets the error, and the evidence shipped with linerate
// suffices.
func own(ctx context.Context, place string, doubt func(error), read func(ledger.Reader) error) error {
	err := ReadAnyLedger(ctx, place, read)
	if err != nil && place == "" {
		doubt(fmt.Errorf("no evidence from your ledger: %w", err))
		return nil
	}
	return err
}

// LedgerLines returns the measurements of a name in the user's own ledger.
func LedgerLines(ctx context.Context, place, name string, doubt func(error)) (lines []ledger.Line, err error) {
	err = own(ctx, place, doubt, func(s ledger.Reader) error {
		lines, err = ledger.Lines(ctx, s, ledger.Filter{Names: []string{name}})
		return err
	})
	return lines, err
}

// LedgerEvidence returns all known measurements: the table shipped with linerate, and those in the user's
// own ledger.
func LedgerEvidence(ctx context.Context, place string, doubt func(error)) ([]evidence.Row, error) {
	rows, err := catalogue.Evidence()
	if err != nil {
		return nil, err
	}
	err = own(ctx, place, doubt, func(s ledger.Reader) error {
		known, err := KnownEvidence(ctx, s)
		rows = evidence.Merge(known, rows)
		return err
	})
	return rows, err
}

// KnownEvidence returns a ledger's verdicts about tunables of the catalogue.
func KnownEvidence(ctx context.Context, s ledger.Reader) ([]evidence.Row, error) {
	c, err := catalogue.Load()
	if err != nil {
		return nil, err
	}
	return ledger.Known(ctx, s, c)
}

// ExplainFromLedger adds evidence to a tunable's page: from the user's own ledger, of the tunable and others
// of the same concept on its system, and what ships with linerate.
func ExplainFromLedger(ctx context.Context, place string, c *tunable.Catalogue, r *tunable.Record, p *explain.Page, doubt func(error)) error {
	var mine, siblings []evidence.Row
	err := own(ctx, place, doubt, func(s ledger.Reader) (err error) {
		mine, siblings, err = ledger.About(ctx, s, c, r)
		return err
	})
	all, aerr := catalogue.Evidence()
	shipped := list.Filter(all, func(row evidence.Row) bool { return row.Tunable == r.Name && strings.EqualFold(row.OS, r.OS) })
	p.AddEvidence(mine, siblings, shipped)
	return errors.Join(err, aerr)
}
