package profile

import (
	"slices"
	"strconv"
	"strings"
)

// parseDtrace reads the aggregation of dtrace's stack(): frames from the
// innermost on, a line each, and the count beneath them. Other lines, of which
// dtrace prints a few, are passed over.
func parseDtrace(text string) ([]*Profile, error) {
	b := NewBuilder("", "samples", "dtrace stacks")
	var frames []Frame
	err := lines(text, func(_ int, line string, _ bool) error {
		if n, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64); err == nil {
			slices.Reverse(frames)
			err = b.Add(frames, n)
			frames = frames[:0]
			return err
		}
		switch {
		case dtraceFrame.MatchString(line):
			if len(frames) <= maxDepth {
				frames = append(frames, frameOf(strings.TrimSpace(line)))
			}
		default:
			frames = frames[:0]
		}
		return nil
	})
	if len(frames) > 0 {
		b.Note("The file ends within a stack, which is left out.")
	}
	return []*Profile{b.Profile()}, err
}
