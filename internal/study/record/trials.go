package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"linerate/internal/study"
)

// MaxLine bounds a trial's line in bytes: an honest one has a few kB, one of
// a search some hundred.
const MaxLine = 1 << 20

// ParseTrials reads TrialsFile: a trial from each line that is whole, and how many bytes
// those are. name is what messages call the file.
func ParseTrials(name string, data []byte) (all []study.Trial, whole int, err error) {
	return parseLines(name, data, MaxLine, func(t study.Trial) error {
		if t.Part == "" || t.Variant == "" || t.Block < 0 {
			return errors.New("a trial names its part, variant and block")
		}
		return nil
	})
}

// parseLines reads JSON lines. One that is none can only be the last, torn by a crash:
// anywhere else it is an error, for then the record was damaged or edited.
func parseLines[T any](name string, data []byte, most int, check func(T) error) (all []T, whole int, err error) {
	for n := 1; whole < len(data); n++ {
		line, rest, _ := bytes.Cut(data[whole:], []byte{'\n'})
		if len(line) > most {
			return nil, 0, fmt.Errorf("%s:%d: a line of %d bytes is too long", name, n, len(line))
		}
		var t T
		err := json.Unmarshal(line, &t)
		if err == nil {
			err = check(t)
		}
		if err != nil && len(rest) == 0 {
			return all, whole, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		all, whole = append(all, t), len(data)-len(rest)
	}
	return all, whole, nil
}
