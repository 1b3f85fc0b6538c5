package profile

import (
	"errors"
	"strconv"
	"strings"

	"linerate/internal/hint"
)

var errNoCount = hint.With(errors.New("no count at the end of the line"), "a folded stack is a;b;c and a number")

// cutCount splits "a;b;c 12" into the stack and its number.
func cutCount(line string) (stack string, n int64, err error) {
	line = strings.TrimRight(line, " \t")
	i := strings.LastIndexAny(line, " \t")
	if i < 0 {
		return "", 0, errNoCount
	}
	n, err = strconv.ParseInt(line[i+1:], 10, 64)
	if err != nil {
		return "", 0, errNoCount
	}
	return strings.TrimRight(line[:i], " \t"), n, nil
}

// parseFolded reads stacks as Gregg's stackcollapse programs write them: a
// line each, frames from the outermost caller on, divided by semicolons, and a
// count.
func parseFolded(text string) ([]*Profile, error) {
	b := NewBuilder("", "samples", "folded stacks")
	var frames []Frame
	err := lines(text, func(_ int, line string, _ bool) error {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			return nil
		}
		stack, n, err := cutCount(line)
		if err != nil {
			return err
		}
		frames = frames[:0]
		for name := range strings.SplitSeq(stack, ";") {
			if name != "" && len(frames) <= maxDepth {
				frames = append(frames, frameOf(name))
			}
		}
		return b.Add(frames, n)
	})
	return []*Profile{b.Profile()}, err
}
