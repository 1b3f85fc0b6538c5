package sshbed

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"linerate/internal/host/localhost"
	"linerate/internal/testbed"
)

// TestSlowBoots: a boot that took nearly as long as allowed gives a warning, before one exceeds the
// limit and is given up.
func TestSlowBoots(t *testing.T) {
	for _, c := range []struct {
		boot testbed.Boot
		told bool
	}{
		{testbed.Boot{Seconds: 50, Attempts: 1}, false},
		{testbed.Boot{Seconds: 70, Attempts: 1}, true},
		{testbed.Boot{Seconds: 170, Attempts: 2}, false}, // waited for twice, which was reported already
	} {
		said := ""
		b := &Bed{o: Options{DUT: &localhost.Runner{}, Say: func(format string, a ...any) { said += fmt.Sprintf(format, a...) + "\n" }}}
		b.tellBoot(c.boot, 100*time.Second)
		if b.slowest != c.boot.Seconds || strings.Contains(said, "that is most of the 1m40s") != c.told {
			t.Errorf("%+v: %q", c.boot, said)
		}
		if hint := b.slowBoots(100 * time.Second); !strings.Contains(hint, fmt.Sprintf("boots of this study took up to %.0f s", c.boot.Seconds)) {
			t.Error(hint)
		}
	}
}
