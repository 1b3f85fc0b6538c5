package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"linerate/internal/hint"
)

// TestConclude: an interrupt is told in a word, but for what it left of others'.
func TestConclude(t *testing.T) {
	left := hint.Left(hint.With(errors.New("ssh://dut could not be put back from here"), "its switch does so within 5m"))
	for _, c := range []struct {
		err  error
		want string
		code int
	}{
		{context.Canceled, "linerate: interrupted\n", ExitInterrupted},
		{fmt.Errorf("reach dut: %w", context.Canceled), "linerate: interrupted\n", ExitInterrupted},
		{errors.Join(context.Canceled, fmt.Errorf("close: %w", left)), "linerate: interrupted\nlinerate: ssh://dut could not be put back from here\nhint: its switch does so within 5m\n", ExitInterrupted},
		{left, "linerate: ssh://dut could not be put back from here\nhint: its switch does so within 5m\n", ExitFailed},
		{hint.Usagef("no"), "linerate: no\n", ExitUsage},
		{nil, "", ExitOK},
	} {
		var said strings.Builder
		if code := conclude("linerate", c.err, false, &said); code != c.code || said.String() != c.want {
			t.Errorf("%v: %d, %q; want %d, %q", c.err, code, said.String(), c.code, c.want)
		}
	}
}
