package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"linerate/internal/hint"
)

// Detect finds the format of a log from its first lines. note says what was
// assumed where the lines alone do not say; it is empty when nothing was.
func Detect(sample []byte) (f *Format, note string, err error) {
	lines := sampleLines(sample)
	if len(lines) == 0 {
		return nil, "", errors.New("the log is empty")
	}
	if f := detectJSON(lines); f != nil {
		return f, "", nil
	}
	for _, base := range []struct{ name, format string }{{"combined", apacheCombined}, {"common", apacheCommon}} {
		if f, note := detectTrailer(base.name, base.format, lines); f != nil {
			return f, note, nil
		}
	}
	err = hint.With(fmt.Errorf("no request time was found in lines like %q", clip(lines[0], 120)),
		"say what the lines hold: %s; combined itself has no time, append $request_time or %%D to it", hint.Option("format", "'<log_format of NGINX or LogFormat of Apache>'"))
	return nil, "", err
}

// sampleLines are the whole lines of a sample, at most 200.
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

// detectJSON takes the log for JSON lines when most lines hold a latency.
func detectJSON(lines [][]byte) *Format {
	f := jsonFormat()
	s := jsonScanner{fields: f.json, need: fields(0).with(Latency)}
	n := 0
	var at spans
	for _, l := range lines {
		if s.run(l, &at) && s.got.has(Latency) {
			n++
		}
	}
	if n*2 <= len(lines) {
		return nil
	}
	return f
}

// detectTrailer tries a base format with what stands behind it in the lines:
// key=value pairs, or a number at the very end.
func detectTrailer(name, base string, lines [][]byte) (*Format, string) {
	f, err := ParseFormat(base)
	if err != nil {
		return nil, ""
	}
	trailer := &Format{tokens: append([]token(nil), f.tokens...)}
	// The base ends with a quoted or plain variable; what follows begins
	// with a blank.
	end := &trailer.tokens[len(trailer.tokens)-1]
	end.literal += " "
	trailer.tokens = append(trailer.tokens, token{field: Latency})
	p := trailer.compile(fields(0).with(Latency))
	var tails []string
	var at spans
	for _, l := range lines {
		if p.run(l, &at) {
			tails = append(tails, string(l[at[Latency].from:at[Latency].to]))
		}
	}
	if len(tails)*2 <= len(lines) {
		return nil, ""
	}
	return readTails(name, f, tails)
}

// latencyKeys are the names that configurations give the request time.
var latencyKeys = []string{"request_time", "rt", "reqtime", "duration", "time", "upstream_response_time", "urt"}

// readTails decides where in the lines' tails the request time is.
func readTails(name string, base *Format, tails []string) (*Format, string) {
	for _, key := range latencyKeys {
		if f := keyedFormat(name, base, tails, key); f != nil {
			return f, ""
		}
	}
	decimals, integers := 0, 0
	for _, t := range tails {
		switch lastField := t[strings.LastIndexByte(t, ' ')+1:]; {
		case strings.Contains(lastField, "."):
			if _, ok := parseDecimal([]byte(lastField), Seconds); ok {
				decimals++
			}
		default:
			if _, ok := parseDecimal([]byte(lastField), Seconds); ok {
				integers++
			}
		}
	}
	switch {
	case decimals*2 > len(tails):
		return lastNumber(name+" + request time in seconds at the end", base, tails, Seconds), ""
	case integers*2 > len(tails):
		return lastNumber(name+" + time in microseconds at the end", base, tails, Microseconds),
			"the last field is a whole number: taken as microseconds (Apache %D); the option unit says otherwise"
	}
	return nil, ""
}

// lastNumber is the base with the latency as the line's last field.
func lastNumber(name string, base *Format, tails []string, unit Unit) *Format {
	f := &Format{Name: name, unit: unit, tokens: append([]token(nil), base.tokens...)}
	f.tokens[len(f.tokens)-1].literal += " "
	if strings.Contains(tails[0], " ") {
		f.tokens = append(f.tokens, token{literal: " "})
	}
	f.tokens = append(f.tokens, token{field: Latency, plain: true})
	return f
}

// keyedFormat is the base with key=LATENCY somewhere behind it.
func keyedFormat(name string, base *Format, tails []string, key string) *Format {
	n := 0
	var lead, after string
	for _, t := range tails {
		i := strings.Index(" "+t, " "+key+"=")
		if i < 0 {
			continue
		}
		value := t[i+len(key)+1:]
		quote := ""
		if strings.HasPrefix(value, `"`) {
			quote, value = `"`, value[1:]
		}
		end := strings.IndexAny(value, `" `)
		if lead, after = key+"="+quote, quote; end < 0 {
			end = len(value)
		} else if quote == "" {
			after = " "
		}
		if _, ok := parseLatency([]byte(value[:end]), Seconds); ok || value[:end] == "-" {
			n++
		}
	}
	if n*2 <= len(tails) {
		return nil
	}
	f := &Format{Name: name + " + " + key + "=…", unit: Seconds, tokens: append([]token(nil), base.tokens...)}
	f.tokens[len(f.tokens)-1].literal += " "
	if !strings.HasPrefix(tails[0], lead) {
		f.tokens = append(f.tokens, token{literal: " " + lead})
	} else {
		f.tokens[len(f.tokens)-1].literal += lead
	}
	f.tokens = append(f.tokens, token{field: Latency, literal: after})
	if after != "" {
		f.tokens = append(f.tokens, token{})
	}
	return f
}

func clip(b []byte, n int) string {
	if len(b) > n {
		return string(b[:n]) + "…"
	}
	return string(b)
}
