package profile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"linerate/internal/hint"
	"linerate/internal/show"
)

// Read reads the profiles of a file, one for each event in it, in the order
// of the file: a pmcstat callgraph, stacks as dtrace prints them, what perf
// script prints, folded stacks, or pprof; each possibly compressed by gzip.
func Read(r io.Reader) ([]*Profile, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("decompress: %w", err)
		}
		if data, err = readAll(z); err != nil {
			return nil, fmt.Errorf("decompress: %w", err)
		}
	}
	return Parse(data)
}

func readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > MaxBytes:
		return nil, hint.With(hint.Usagef("larger than %s", show.Bytes(MaxBytes)), "fold the stacks first: a profile has few distinct ones")
	}
	return data, nil
}

// errNoStacks is the error for a file without a profile in it.
var errNoStacks = errors.New("no stacks in it")

// Parse is Read of bytes that are not compressed.
func Parse(data []byte) ([]*Profile, error) {
	if binary(data) {
		return parsePprof(data)
	}
	text := string(data)
	found, err := parserOf(text)(text)
	if err != nil {
		return nil, err
	}
	kept := found[:0]
	for _, p := range found {
		if len(p.Stacks) > 0 {
			kept = append(kept, p)
		}
	}
	if len(kept) == 0 {
		return nil, hint.With(errNoStacks, "%s", known)
	}
	return kept, nil
}

const known = "known are pmcstat -G, dtrace stack(), perf script, folded stacks and pprof"

// binary tells protocol buffers from text.
func binary(data []byte) bool {
	head := data[:min(len(data), 4096)]
	if bytes.IndexByte(head, 0) >= 0 {
		return true
	}
	for len(head) > 0 { // a rune may be cut at the end
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && n == 1 && len(head) >= utf8.UTFMax {
			return true
		}
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return true
		}
		head = head[n:]
	}
	return false
}

var (
	pmcHead     = regexp.MustCompile(`^@ (\S.*?) \[(\d+) samples\]$`)
	perfHead    = regexp.MustCompile(`^\s*(\S.*?)\s+-?\d+(?:/-?\d+)?\s+(?:\[\d+\]\s+)?(?:\S+\s+)?\d+\.\d+:\s+(?:(\d+)\s+)?(\S+):(?:\s+(.*))?$`)
	dtraceFrame = regexp.MustCompile("^\\s+(?:\\S+`\\S.*|0x[0-9a-f]+)$")
)

// parserOf tells a text's format by its first lines.
func parserOf(text string) func(string) ([]*Profile, error) {
	for range 200 {
		line, rest, more := strings.Cut(text, "\n")
		line = strings.TrimRight(line, "\r")
		switch {
		case pmcHead.MatchString(line):
			return parsePmcGraph
		case strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "":
		case perfHead.MatchString(line):
			return parsePerfScript
		case dtraceFrame.MatchString(line):
			return parseDtrace
		case foldedLine(line):
			return parseFolded
		}
		if !more {
			break
		}
		text = rest
	}
	return func(string) ([]*Profile, error) {
		return nil, hint.With(errors.New("not a profile of a known format"), "%s", known)
	}
}

// foldedLine tells whether a line is a stack and a number.
func foldedLine(line string) bool {
	stack, _, err := cutCount(line)
	return err == nil && stack != "" && line[0] != ' ' && line[0] != '\t'
}

// lines calls f with each line of a text and its number, from 1; whole is
// false for a last line without an end.
func lines(text string, f func(n int, line string, whole bool) error) error {
	for n := 1; text != ""; n++ {
		line, rest, whole := strings.Cut(text, "\n")
		if err := f(n, strings.TrimRight(line, "\r"), whole); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		text = rest
	}
	return nil
}

// ReadEvent reads the profile of one event, or the first of a file with several, which
// is noted.
func ReadEvent(r io.Reader, event string) (*Profile, error) {
	found, err := Read(r)
	if err != nil {
		return nil, err
	}
	events := make([]string, len(found))
	for i, p := range found {
		if event != "" && p.Event == event {
			return p, nil
		}
		events[i] = show.Clean(p.Event)
	}
	if event != "" {
		return nil, hint.Unknown("event", event, events)
	}
	if len(found) > 1 {
		found[0].Notes = append(found[0].Notes, fmt.Sprintf("The file has %d events, this is the first: %s.", len(found), show.List(events)))
	}
	return found[0], nil
}
