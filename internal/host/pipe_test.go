package host

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
)

// TestPipeSaysWhyItEnded: at the end of a program's output, reading returns the program's error, also if the
// output was closed meanwhile; other errors are returned at once.
func TestPipeSaysWhyItEnded(t *testing.T) {
	failed, broken := errors.New("exit status 7"), errors.New("broken")
	for name, c := range map[string]struct {
		out       io.Reader
		wait      error
		want      error
		stillRuns bool
	}{
		"ended well":         {out: strings.NewReader(""), want: io.EOF},
		"failed":             {out: strings.NewReader(""), wait: failed, want: failed},
		"closed":             {out: iotest.ErrReader(os.ErrClosed), want: os.ErrClosed},
		"closed, and failed": {out: iotest.ErrReader(os.ErrClosed), wait: failed, want: failed},
		"another error":      {out: iotest.ErrReader(broken), want: broken, stillRuns: true},
	} {
		p := &Pipe{Out: c.out, Wait: func() error {
			if c.stillRuns {
				select {}
			}
			return c.wait
		}}
		if _, err := p.Read(make([]byte, 1)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
