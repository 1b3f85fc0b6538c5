//go:build linux || freebsd

package knob

import (
	"context"
	"time"

	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// unavailable returns the error for a setting that this machine does not support.
var unavailable = testbed.Unavailable

// ApplyAll applies settings in order until one fails or ctx is done. It
// returns Apply's notes on them, and how long it took.
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
