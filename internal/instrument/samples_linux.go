package instrument

import (
	"encoding/binary"
	"slices"

	"linerate/internal/profile"
)

// Types of perf records, and markers in call chains.
const (
	recordLost   = 2
	recordSample = 9
	contextMark  = ^uint64(4094) // PERF_CONTEXT_MAX: values from here on are markers, not addresses
	contextUser  = ^uint64(511)  // PERF_CONTEXT_USER
)

// sample is a record of PID, TID, period and call chain.
type sample struct {
	tid    uint32
	period uint64
	chain  []uint64 // innermost first, with markers
}

// parseSample parses the body of a record. It checks bounds even though the
// kernel wrote it.
func parseSample(b []byte) (s sample, ok bool) {
	if len(b) < 24 {
		return s, false
	}
	s.tid = binary.NativeEndian.Uint32(b[4:])
	s.period = binary.NativeEndian.Uint64(b[8:])
	n := binary.NativeEndian.Uint64(b[16:])
	b = b[24:]
	if n > uint64(len(b)/8) {
		return s, false
	}
	s.chain = make([]uint64, n)
	for i := range s.chain {
		s.chain[i] = binary.NativeEndian.Uint64(b[8*i:])
	}
	return s, true
}

// recording collects samples into a profile.
type recording struct {
	b     *profile.Builder
	names symbols
	task  func(tid uint32) string
	lost  uint64
	event string
	rings []*ring
}

// record handles one record of a ring.
func (r *recording) record(kind uint32, body []byte) error {
	switch kind {
	case recordLost:
		if len(body) >= 16 {
			r.lost += binary.NativeEndian.Uint64(body[8:])
		}
	case recordSample:
		if s, ok := parseSample(body); ok {
			r.b.Add(r.frames(s), int64(min(s.period, 1<<32)))
		}
	}
	return nil
}

// frames returns the sample's kernel functions, below the name of its task.
func (r *recording) frames(s sample) []profile.Frame {
	var frames []profile.Frame
	user := false
	for _, a := range s.chain {
		if a >= contextMark {
			user = a == contextUser
			continue
		}
		if !user {
			frames = append(frames, r.names.at(a))
		}
	}
	if len(frames) == 0 {
		frames = append(frames, profile.Frame{Name: "[user]"})
	}
	frames = append(frames, profile.Frame{Name: r.task(s.tid)})
	slices.Reverse(frames)
	return frames
}
