package sshbed

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// mute is a machine that never answers, as a connection tells it.
type mute struct{ frozen }

func (m mute) Run(ctx context.Context, _ string, _ []string, _ []byte) ([]byte, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("linerate's agent on %s: %w", m.Where(), context.Cause(ctx))
}

// TestSilence: a DUT that is too busy to tell its counters is named once, and so is
// how long they were waited for.
func TestSilence(t *testing.T) {
	b := &Bed{o: Options{DUT: mute{}, silence: 10 * time.Millisecond}}
	_, err := b.counters()
	if want := "linerate's agent on ssh://frozen: its counters did not come in 10ms"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
