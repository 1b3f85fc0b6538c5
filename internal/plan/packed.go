package plan

import (
	"errors"
	"fmt"

	"linerate/internal/pack"
)

// Pack encodes a library for a fast start: parsing its YAML and compiling every expression of both
// systems took most of the time to make a plan.
func Pack(l *Library) ([]byte, error) {
	b, err := pack.Marshal(l.content)
	if err != nil {
		return nil, fmt.Errorf("advice: %w", err)
	}
	return b, nil
}

// Unpack decodes the output of Pack. It returns an error if the format differs or the data is
// empty, and does not repeat the checks of Load.
func Unpack(b []byte) (*Library, error) {
	c, ok := pack.Open[content](b)
	if !ok {
		return nil, errors.New("the packed advice has a format that this program does not read")
	}
	return &Library{content: c}, nil
}
