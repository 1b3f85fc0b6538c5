package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"linerate/internal/queue"
	"linerate/internal/store"
)

// jobs returns a queue whose jobs table is filled by the test.
func jobs(t *testing.T) *db {
	t.Helper()
	q, err := OpenQueue(t.Context(), filepath.Join(t.TempDir(), "below", "queue.db"), Owner{UID: -1, GID: -1}, queue.DefaultPatience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return q.(*db)
}

func (q *db) do(t *testing.T, f func(x store.Tx) error) {
	t.Helper()
	if err := q.file.Do(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

func (q *db) put(t *testing.T, label, study string, block int) (job int64) {
	t.Helper()
	q.do(t, func(x store.Tx) (err error) {
		job, err = q.Put(t.Context(), x, label, store.Ticket{Study: study, Block: block})
		return err
	})
	return job
}

// TestTake: jobs of a label are taken oldest first, each once, and a delayed one not before its time.
func TestTake(t *testing.T) {
	q := jobs(t)
	first, other, second := q.put(t, "a", "s1", 1), q.put(t, "b", "s2", 1), q.put(t, "a", "s1", 0)
	waits := q.put(t, "a", "s3", 7)
	q.do(t, func(x store.Tx) error {
		_, err := x.Exec(t.Context(), "UPDATE queue_jobs SET after = "+q.Dialect.Now+" + 3600000 WHERE id = ?", waits)
		return err
	})
	var got []store.Ticket
	for range 4 {
		if x, ok, err := q.take(t.Context(), "a"); err != nil {
			t.Fatal(err)
		} else if ok {
			got = append(got, x)
		}
	}
	if want := []store.Ticket{{Study: "s1", Block: 1, Job: first}, {Study: "s1", Block: 0, Job: second}}; !slices.Equal(got, want) {
		t.Errorf("took %+v, want %+v", got, want)
	}
	if x, ok, err := q.take(t.Context(), "b"); err != nil || !ok || x.Job != other {
		t.Errorf("%+v, %v, %v", x, ok, err)
	}
	q.do(t, func(x store.Tx) error {
		_, err := x.Exec(t.Context(), "UPDATE queue_jobs SET after = "+q.Dialect.Now+" - 1 WHERE id = ?", waits)
		return err
	})
	if x, ok, err := q.take(t.Context(), "a"); err != nil || !ok || x.Job != waits {
		t.Errorf("when its time has come: %+v, %v, %v", x, ok, err)
	}
}

// TestDead: a job is dead if it was taken long ago and not begun, or does not exist; one that waits, was
// just taken, or whose block runs is not.
func TestDead(t *testing.T) {
	q := jobs(t)
	blocks := map[string]int64{}
	for i, name := range []string{"waits", "taken", "long ago", "gone", "runs"} {
		job := q.put(t, "a", name, 1)
		blocks[name] = job
		state := "open"
		if name == "runs" {
			state = "running"
		}
		q.do(t, func(x store.Tx) error {
			_, err := x.Exec(t.Context(), "INSERT INTO queue_blocks (study, block, part, blocks, job, state, testbed, epoch, tries) VALUES (?, 1, 'p', '[1]', ?, ?, '', 0, 0)", name, job, state)
			return err
		})
		taken := []string{"0", q.Dialect.Now, q.Dialect.Now + " - 61000", "0", q.Dialect.Now + " - 61000"}[i]
		q.do(t, func(x store.Tx) error {
			_, err := x.Exec(t.Context(), "UPDATE queue_jobs SET taken = "+taken+" WHERE id = ?", job)
			if name == "gone" {
				err = errors.Join(err, q.Withdraw(t.Context(), x, job))
			}
			return err
		})
	}
	var dead []int64
	q.do(t, func(x store.Tx) (err error) {
		dead, err = q.Dead(t.Context(), x, time.Minute.Milliseconds())
		return err
	})
	slices.Sort(dead)
	if want := []int64{blocks["long ago"], blocks["gone"]}; !slices.Equal(dead, want) {
		t.Errorf("dead are %v of %v", dead, blocks)
	}
}

// TestDoIsWhole: a failed transaction leaves nothing, and errors that a retry cannot fix are distinguished
// from a busy database.
func TestDoIsWhole(t *testing.T) {
	q := jobs(t)
	mine := errors.New("mine")
	err := q.file.Do(t.Context(), func(x store.Tx) error {
		if _, err := q.Put(t.Context(), x, "a", store.Ticket{Study: "s"}); err != nil {
			return err
		}
		return mine
	})
	if !errors.Is(err, mine) || hopeless(err) {
		t.Errorf("%v", err)
	}
	if x, ok, err := q.take(t.Context(), "a"); ok || err != nil {
		t.Errorf("a job of a transaction that failed: %+v, %v", x, err)
	}
	err = q.file.Do(t.Context(), func(x store.Tx) error {
		_, err := x.Exec(t.Context(), "INSERT INTO queue_settings (name, value) VALUES ('brake', 'twice')")
		return err
	})
	if !hopeless(err) {
		t.Errorf("a constraint violation counts as retryable: %v", err)
	}
	if hopeless(nil) || code(errors.New("x")) != 0 {
		t.Error("a nil error counts as one of the database's")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.file.Do(ended, func(store.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait without waiting jobs: %v", err)
	}
}

// TestOpenedAgain: the file and its directory are created, readable by their owner only, and another kind of
// file is refused.
func TestOpenedAgain(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "a b?c", "queue.db") // a path must not be parsed as a URI
	owner := Owner{UID: os.Getuid(), GID: os.Getgid()}
	for i := range 2 {
		q, err := OpenQueue(t.Context(), at, owner, queue.DefaultPatience)
		if err != nil {
			t.Fatal(err)
		}
		if why, err := q.Braked(t.Context()); err != nil || why != []string{"", "kept"}[i] {
			t.Errorf("opened %d times: %q, %v", i+1, why, err)
		}
		if err := errors.Join(q.Brake(t.Context(), "kept"), q.Close()); err != nil {
			t.Error(err)
		}
		if q.Place() != at {
			t.Errorf("it is at %s", q.Place())
		}
	}
	if info, err := os.Stat(filepath.Dir(at)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if info, err := os.Stat(at); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others read the queue: %v, %v", info, err)
	}
	other := filepath.Join(dir, "text")
	if err := os.WriteFile(other, []byte("no database, but a long enough text to be none, and one more line of it\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if q, err := OpenQueue(t.Context(), other, owner, queue.DefaultPatience); err == nil {
		t.Error("a text file was opened as a queue", q.Close())
	}
	if text, _ := os.ReadFile(other); len(text) < 60 {
		t.Errorf("the text file is now %q", text)
	}
	if _, err := OpenQueue(t.Context(), filepath.Join(other, "below"), owner, queue.DefaultPatience); err == nil {
		t.Error("a queue was opened below a file")
	}
}
