package plan

import (
	"fmt"

	"linerate/internal/pack"
)

// Pack writes a library for a fast start: reading its YAML and compiling every
// expression of both systems took most of a plan's time.
func (l *Library) Pack() ([]byte, error) {
	b, err := pack.Marshal(l.content)
	if err != nil {
		return nil, fmt.Errorf("advice: %w", err)
	}
	return b, nil
}

// Unpack reads what Pack wrote; ok is false when that was for advice of another
// shape, or nothing. What Load checks was checked when it was packed.
func Unpack(b []byte) (*Library, bool) {
	c, ok := pack.Open[content](b)
	return &Library{content: c}, ok
}
