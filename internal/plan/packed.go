package plan

import (
	"errors"
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

// Unpack reads what Pack wrote; an error says that it is of another shape, or nothing.
// What Load checks was checked when it was packed.
func Unpack(b []byte) (*Library, error) {
	c, ok := pack.Open[content](b)
	if !ok {
		return nil, errors.New("the packed advice has another shape than this program's")
	}
	return &Library{content: c}, nil
}
