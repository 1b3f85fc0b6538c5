package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/list"
)

// Detect finds the format of a log from its first lines. note states any
// assumption that the lines alone do not settle, and is "" if there is none.
func Detect(sample []byte) (f *Format, note string, err error) {
	lines := sampleLines(sample)
	if len(lines) == 0 {
		return nil, "", errors.New("the log is empty")
	}
	f = &Format{Name: "json", json: true, unit: Seconds}
	if _, n := f.tails(lines); n*2 > len(lines) {
		return f, "", nil
	}
	for _, base := range []struct{ name, format string }{{"combined", apacheCombined}, {"common", apacheCommon}} {
		f, err := ParseFormat(base.format)
		if err != nil {
			return nil, "", err
		}
		// A space separates the latency from what is before it.
		f.last().literal += " "
		f.tokens = append(f.tokens, token{field: Latency})
		if tails, n := f.tails(lines); n*2 > len(lines) && f.latencyIn(tails) {
			f.Name = base.name + " + " + f.Name
			if f.unit == Microseconds {
				note = "the last field is a whole number: taken as microseconds (Apache %D); the option unit says otherwise"
			}
			return f, note, nil
		}
	}
	err = hint.With(fmt.Errorf("no request time was found in lines like %q", clip(lines[0], 120)),
		"say what the lines hold: %s; combined itself has no time, append $request_time or %%D to it", hint.Option("format", "'<log_format of NGINX or LogFormat of Apache>'"))
	return nil, "", err
}

// sampleLines returns the complete lines of a sample, at most 200.
func sampleLines(sample []byte) [][]byte {
	if i := bytes.LastIndexByte(sample, '\n'); i >= 0 {
		sample = sample[:i]
	}
	var lines [][]byte
	for l := range bytes.Lines(sample) {
		if l = bytes.TrimSpace(l); len(l) > 0 {
			lines = append(lines, l)
		}
		if len(lines) == 200 {
			break
		}
	}
	return lines
}

// tails returns the text in the place of the latency, of the n lines that have some there.
func (f *Format) tails(lines [][]byte) (out [][]byte, n int) {
	for _, l := range lines {
		var at parts
		if _, ok := f.split(l, &at); ok && at[Latency] != nil {
			out, n = append(out, at[Latency]), n+1
		}
	}
	return out, n
}

// latencyKeys are the usual names of the request time in configurations.
var latencyKeys = []string{"request_time", "rt", "reqtime", "duration", "time", "upstream_response_time", "urt"}

// latencyIn finds the request time at the end of lines: the value of a key, or the last
// word: seconds if it has decimals, else microseconds.
func (f *Format) latencyIn(tails [][]byte) bool {
	most := func(is func(tail []byte) bool) bool { return list.Count(tails, is)*2 > len(tails) }
	for _, key := range latencyKeys {
		if most(func(tail []byte) bool {
			v := keyed(tail, key)
			_, ok := parseLatency(v, Seconds)
			return ok || string(v) == "-"
		}) {
			f.key, f.unit, f.Name = key, Seconds, key+"=…"
			return true
		}
	}
	lastNumber := func(decimals bool) func([]byte) bool {
		return func(tail []byte) bool {
			word := tail[bytes.LastIndexByte(tail, ' ')+1:]
			_, ok := parseDecimal(word, Seconds)
			return ok && strings.Contains(string(word), ".") == decimals
		}
	}
	f.last().word = true
	if most(lastNumber(true)) {
		f.unit, f.Name = Seconds, "request time in seconds at the end"
		return true
	}
	f.unit, f.Name = Microseconds, "time in microseconds at the end"
	return most(lastNumber(false))
}

func clip(b []byte, n int) string {
	if len(b) > n {
		return string(b[:n]) + "…"
	}
	return string(b)
}
