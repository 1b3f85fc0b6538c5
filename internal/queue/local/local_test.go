package local_test

import (
	"path/filepath"
	"testing"

	"linerate/internal/queue"
	"linerate/internal/queue/local"
	"linerate/internal/queue/queuetest"
)

func TestConformance(t *testing.T) {
	queuetest.Run(t, func(t *testing.T) queuetest.Open {
		file := filepath.Join(t.TempDir(), "queue.db")
		return func(t *testing.T, p queue.Patience) queue.Queue {
			q, err := local.Open(t.Context(), file, local.Owner{UID: -1, GID: -1}, p)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { q.Close() })
			return q
		}
	})
}
