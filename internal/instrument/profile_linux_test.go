package instrument

import (
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/labtest"
	"linerate/internal/profile"
)

// TestProfile samples this machine while the test keeps a CPU busy.
func TestProfile(t *testing.T) {
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
	end, err := Profile(t.Context(), nil)
	if err != nil {
		labtest.Lacking(t, "no sampling here: %v (%s)", err, hint.Of(err))
	}
	time.Sleep(300 * time.Millisecond)
	p, err := end()
	if err != nil {
		t.Fatal(err)
	}
	if profile.Total(p) == 0 { // where packets went meanwhile, samples of them alone are kept, by weight
		t.Errorf("%d stacks that weigh nothing", len(p.Sample))
	}
}
