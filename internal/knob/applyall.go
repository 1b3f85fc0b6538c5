//go:build linux || freebsd

package knob

import (
	"context"
	"fmt"
	"time"

	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// unavailable builds the error for what this machine cannot do.
func unavailable(s setting.Setting, format string, args ...any) error {
	return &testbed.ErrUnavailable{Setting: s.String(), Reason: fmt.Sprintf(format, args...)}
}

// ApplyAll applies settings in their order until one fails or ctx ends, and
// returns what Apply has to say of them, and how long it took.
func (t *Target) ApplyAll(ctx context.Context, settings []setting.Setting) (a testbed.Applied, err error) {
	start := time.Now()
	for _, s := range settings {
		if err := ctx.Err(); err != nil {
			return a, err
		}
		note, err := t.Apply(ctx, s)
		if err != nil {
			return a, err
		}
		if note != "" {
			a.Notes = append(a.Notes, note)
		}
	}
	a.Seconds = time.Since(start).Seconds()
	return a, nil
}
