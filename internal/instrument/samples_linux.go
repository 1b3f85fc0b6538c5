package instrument

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/list"
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

// symbols is the list of kernel functions, sorted by address.
type symbols []symbol

type symbol struct {
	address uint64
	frame   profile.Frame
}

// mostSymbols limits what is read of kallsyms; kernels have about 200,000 symbols.
const mostSymbols = 4 << 20

// readSymbols parses /proc/kallsyms: address, type, name and optional
// [module]. It skips data symbols.
func readSymbols(r io.Reader) (symbols, error) {
	var all symbols
	hidden := true
	lines := bufio.NewScanner(r)
	for lines.Scan() && len(all) < mostSymbols {
		f := strings.Fields(lines.Text())
		if len(f) < 3 || len(f[1]) != 1 || strings.IndexByte("tTwW", f[1][0]) < 0 {
			continue
		}
		address, err := strconv.ParseUint(f[0], 16, 64)
		if err != nil {
			return nil, fmt.Errorf("kallsyms: %q is not an address", f[0])
		}
		hidden = hidden && address == 0
		module := "kernel"
		if len(f) > 3 {
			module = strings.Trim(f[3], "[]")
		}
		all = append(all, symbol{address, profile.Frame{Name: f[2], Module: module}})
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if hidden {
		return nil, hint.With(errors.New("the kernel hides its addresses from this user"), "run as root, or with CAP_SYSLOG and kernel.kptr_restrict at 0 or 1")
	}
	list.Sort(all, func(a, b symbol) int { return cmp.Compare(a.address, b.address) })
	return all, nil
}

// at returns the function that contains an address.
func (s symbols) at(address uint64) profile.Frame {
	i, exact := slices.BinarySearchFunc(s, address, func(x symbol, a uint64) int { return cmp.Compare(x.address, a) })
	if !exact {
		i--
	}
	if i < 0 || address-s[i].address > largestFunction {
		return profile.Frame{Name: fmt.Sprintf("0x%x", address)}
	}
	return s[i].frame
}

// largestFunction is the largest offset of an address from the symbol that contains it.
const largestFunction = 1 << 20
