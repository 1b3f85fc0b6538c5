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

// Trials are the lines of TrialsFile.
type Trials struct {
	Trials []study.Trial
	Lines  []int // of each, from 1
	Whole  int   // bytes that are whole lines; what follows is torn
}

// ParseTrials reads TrialsFile. A line that is no trial can only be the last,
// torn by a crash: anywhere else it is an error, for then the record was
// damaged or edited. name is what messages call the file.
func ParseTrials(name string, data []byte) (Trials, error) {
	var out Trials
	for n := 1; out.Whole < len(data); n++ {
		line, _, ended := bytes.Cut(data[out.Whole:], []byte{'\n'})
		size := len(line)
		if ended {
			size++
		}
		if len(line) > MaxLine {
			return Trials{}, fmt.Errorf("%s:%d: a line of %d bytes is no trial", name, n, len(line))
		}
		t, err := parseTrial(line)
		if err != nil && out.Whole+size == len(data) {
			return out, nil
		}
		if err != nil {
			return Trials{}, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		out.Trials, out.Lines = append(out.Trials, t), append(out.Lines, n)
		out.Whole += size
	}
	return out, nil
}

func parseTrial(line []byte) (t study.Trial, err error) {
	if err := json.Unmarshal(line, &t); err != nil {
		return t, err
	}
	if t.Part == "" || t.Variant == "" || t.Block < 0 {
		return t, errors.New("a trial names its part, variant and block")
	}
	return t, nil
}
