//go:build linux || freebsd

package knob

import (
	"context"

	"linerate/internal/setting"
)

// ApplyAll applies settings in their order until one fails or ctx ends, and
// returns what Apply has to say of them.
func (t *Target) ApplyAll(ctx context.Context, settings []setting.Setting) (notes []string, err error) {
	for _, s := range settings {
		if err := ctx.Err(); err != nil {
			return notes, err
		}
		note, err := t.Apply(ctx, s)
		if err != nil {
			return notes, err
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	return notes, nil
}
