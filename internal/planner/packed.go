package planner

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"

	"linerate/internal/pack"
)

// Pack writes a library for a fast start: reading its YAML and compiling every
// expression of both systems took most of a plan's time.
func (l *Library) Pack() ([]byte, error) {
	b, err := pack.Marshal(l.content)
	if err != nil {
		return nil, fmt.Errorf("advice: %w", err)
	}
	return append(adviceHeading(), b...), nil
}

// Unpack reads what Pack wrote; ok is false when that was for advice of another
// shape, or nothing. What Load checks was checked when it was packed.
func Unpack(b []byte) (l *Library, ok bool) {
	body, ok := bytes.CutPrefix(b, adviceHeading())
	if !ok {
		return nil, false
	}
	l = &Library{}
	if err := pack.Unmarshal(body, &l.content); err != nil {
		return nil, false
	}
	return l, true
}

func adviceHeading() []byte {
	return binary.LittleEndian.AppendUint64(nil, pack.Fingerprint(reflect.TypeFor[content]()))
}
