package instrument

import (
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/labtest"
)

// TestRecord samples this machine while the test keeps a CPU busy.
func TestRecord(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for t.Context().Err() == nil { // busy on purpose
			select {
			case <-stop:
				return
			case <-time.After(0):
			}
		}
	}()
	p, err := Record(t.Context(), RecordOptions{Time: 300 * time.Millisecond, Hertz: 997})
	if err != nil {
		labtest.Lacking(t, "no sampling here: %v (%s)", err, hint.Of(err))
	}
	if p.Samples == 0 || p.Total() == 0 {
		t.Errorf("%d samples that weigh %d", p.Samples, p.Total())
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []RecordOptions{{Time: time.Second}, {Hertz: 99}, {Hertz: 99, Time: 1000 * time.Hour}} {
		if _, err := Record(t.Context(), o); !hint.IsUsage(err) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
