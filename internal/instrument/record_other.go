//go:build !linux

package instrument

import (
	"context"
	"errors"

	"linerate/internal/hint"
	"linerate/internal/profile"
)

// Record samples CPUs of Linux only.
func Record(context.Context, RecordOptions) (*profile.Profile, error) {
	return nil, hint.With(errors.New("recording a profile needs Linux"), "take one with pmcstat or dtrace, and read it from its file")
}
