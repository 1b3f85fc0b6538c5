package hosts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"
)

func TestLostConnectionsAreTriedAgain(t *testing.T) {
	was := asked
	asked.Pause = time.Nanosecond
	defer func() { asked = was }()
	for _, c := range []struct {
		err   error
		tries int
	}{{fmt.Errorf("ssh: handshake failed: %w", io.EOF), 4}, {errors.New("read: connection reset by peer"), 4}, {errors.New("permission denied"), 1}, {nil, 1}} {
		n := 0
		all := Each(t.Context(), []string{"h"}, func(int) {}, func(context.Context, string) (int, error) { n++; return 0, c.err })
		if n != c.tries || !errors.Is(all[0].Err, c.err) {
			t.Errorf("%v: %d tries, %v", c.err, n, all[0].Err)
		}
	}
}
