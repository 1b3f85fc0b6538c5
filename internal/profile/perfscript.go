package profile

import (
	"slices"
	"strconv"
	"strings"
)

// sample is one of perf script's while it is read.
type sample struct {
	b      *Builder // nil between samples
	comm   string
	weight int64
	frames []Frame // innermost first
}

// parsePerfScript reads what perf script prints: a line for each sample, then
// its frames from the innermost on. The task's name becomes the outermost
// frame. A sample weighs its period where perf prints one, else 1.
func parsePerfScript(text string) ([]*Profile, error) {
	var order []*Builder
	byEvent := map[string]*Builder{}
	var s sample
	err := lines(text, func(_ int, line string, whole bool) error {
		switch {
		case strings.HasPrefix(line, "#"):
			return nil
		case strings.TrimSpace(line) == "":
			return s.end()
		}
		if f, ok := perfFrame(line); ok && s.b != nil {
			if len(s.frames) <= maxDepth {
				s.frames = append(s.frames, f)
			}
			return nil
		}
		m := perfHead.FindStringSubmatch(line)
		if m == nil {
			return nil
		}
		if err := s.end(); err != nil {
			return err
		}
		event, unit, weight := m[3], "samples", int64(1)
		if n, err := strconv.ParseInt(m[2], 10, 64); err == nil && n > 0 {
			unit, weight = unitOf(event), n
		}
		b := byEvent[event]
		if b == nil {
			b = NewBuilder(strings.TrimRight(event, ":"), unit, "perf script")
			byEvent[event] = b
			order = append(order, b)
		}
		s.b, s.comm, s.weight = b, m[1], weight
		if f, ok := perfFrame(m[4]); ok {
			s.frames = append(s.frames, f)
		}
		return nil
	})
	if err == nil {
		err = s.end()
	}
	found := make([]*Profile, 0, len(order))
	for _, b := range order {
		found = append(found, b.Profile())
	}
	return found, err
}

// end counts the sample, if there is one.
func (s *sample) end() error {
	if s.b == nil {
		return nil
	}
	s.frames = append(s.frames, Frame{Name: s.comm})
	slices.Reverse(s.frames)
	err := s.b.Add(s.frames, s.weight)
	s.b.Sampled(1)
	s.b, s.frames = nil, s.frames[:0]
	return err
}

// unitOf is what an event's period counts.
func unitOf(event string) string {
	name, _, _ := strings.Cut(event, ":")
	switch name {
	case "cpu-clock", "task-clock":
		return "nanoseconds"
	}
	return name
}

// perfFrame reads "ffffffff8120e0e0 tcp_v4_rcv+0x1c ([kernel.kallsyms])".
func perfFrame(line string) (Frame, bool) {
	address, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if !hexOnly(address) || rest == "" {
		return Frame{}, false
	}
	name, module := rest, ""
	if i := strings.LastIndex(rest, " ("); i >= 0 && strings.HasSuffix(rest, ")") {
		name, module = rest[:i], rest[i+2:len(rest)-1]
	} else if strings.HasPrefix(rest, "(") {
		return Frame{}, false
	}
	name = withoutOffset(strings.TrimSpace(name))
	if name == "" || name == "[unknown]" {
		name = "[unknown]"
	}
	return Frame{name, moduleName(module)}, true
}
