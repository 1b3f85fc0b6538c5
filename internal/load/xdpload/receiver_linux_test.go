package xdpload

import (
	"errors"
	"testing"

	"github.com/cilium/ebpf/ringbuf"
)

// TestABrokenReaderIsNotReadAgain: a persistent error does not keep a CPU busy, and is in the account; a
// closed reader is not an error.
func TestABrokenReaderIsNotReadAgain(t *testing.T) {
	broken := errors.New("it is broken")
	for _, c := range []struct{ err, want error }{{broken, broken}, {ringbuf.ErrClosed, nil}} {
		var r Receiver
		reads := 0
		r.reading.Add(1)
		r.readEnds(func(rec *ringbuf.Record) error {
			rec.RawSample = nil
			if reads++; reads == 3 {
				return c.err
			}
			return nil
		})
		if reads != 3 || !errors.Is(r.broken, c.want) {
			t.Errorf("after %v: read %d times, %v", c.err, reads, r.broken)
		}
	}
}
