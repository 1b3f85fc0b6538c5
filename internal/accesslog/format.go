package accesslog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/lazy"
)

// Format is the format of log lines: variables separated by literal text, or JSON.
type Format struct {
	Name   string // name in messages
	tokens []token
	unit   Unit   // of the latency field
	key    string // the latency is the value of key=VALUE at the end of the line
	json   bool
	took   string // the only name of the latency in JSON; "": the usual names
}

// token is a variable and the literal after it. The first token of a format
// has only a literal: the text before the first variable.
type token struct {
	field   Field
	literal string
	word    bool // at the end of a line, only the last word is the variable
}

// The servers' default formats. They lack the request time, so users append it.
const (
	nginxCombined  = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`
	apacheCombined = `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`
	apacheCommon   = `%h %l %u %t "%r" %>s %b`
)

// ParseFormat parses a format: a name (combined, common, json, or json:NAME with
// the name of the latency), an NGINX log_format string, or an Apache LogFormat
// string.
func ParseFormat(s string) (*Format, error) {
	if name, ok := strings.CutPrefix(s, "json:"); ok || s == "json" {
		return &Format{Name: s, json: true, unit: Seconds, took: strings.TrimPrefix(name, "json")}, nil
	}
	f := &Format{Name: s, unit: Seconds, tokens: []token{{}}}
	var err error
	switch {
	case s == "combined":
		return ParseFormat(nginxCombined)
	case s == "common":
		return ParseFormat(apacheCommon)
	case strings.Contains(s, "$"):
		err = f.parse(s, "$", f.nginx)
	case strings.Contains(s, "%"):
		f.unit = Microseconds
		err = f.parse(s, "%", f.apache)
	default:
		return nil, hint.Unknown("log format", s, []string{"combined", "common", "json"})
	}
	if err != nil {
		return nil, fmt.Errorf("log format %q: %w", s, err)
	}
	for i, t := range f.tokens[:len(f.tokens)-1] {
		if i > 0 && t.literal == "" {
			return nil, hint.With(fmt.Errorf("log format %q: two variables touch, so nothing says where the first ends", f.Name),
				"put a separator between them in the server's configuration")
		}
	}
	return f, nil
}

// parse parses a format string: mark begins each variable, which one parses.
func (f *Format) parse(s, mark string, one func(string) (rest string, err error)) error {
	// Configuration files escape characters with backslashes, which the server removes.
	rest := strings.NewReplacer(`\"`, `"`, `\'`, `'`, `\\`, `\`, `\t`, "\t").Replace(s)
	for {
		literal, after, found := strings.Cut(rest, mark)
		f.last().literal += literal
		if !found {
			return nil
		}
		var err error
		if rest, err = one(after); err != nil {
			return err
		}
	}
}

func (f *Format) last() *token { return &f.tokens[len(f.tokens)-1] }

// Has reports whether lines of this format contain a field.
func (f *Format) Has(field Field) bool {
	for _, t := range f.tokens {
		if t.field == field || t.field == Request && field == Path {
			return true
		}
	}
	return f.json
}

// add appends a variable; a second one of the same field is ignored in lines.
func (f *Format) add(field Field) {
	for _, t := range f.tokens {
		if t.field == field {
			field = None
		}
	}
	f.tokens = append(f.tokens, token{field: field, word: field == Latency})
}

// nginxFields are the NGINX variables that a tally can use; all others are skipped.
var nginxFields = map[string]Field{
	"time_local": Time, "time_iso8601": Time, "msec": Time,
	"request_time": Latency, "upstream_response_time": Latency,
	"status": Status, "request_uri": Path, "uri": Path, "request": Request,
}

// nginxVariable matches a variable after its $.
var nginxVariable = lazy.Regexp(`^(?:\{([^}]+)\}|(\w+))`)

// nginx parses the variable after a $ and returns the rest.
func (f *Format) nginx(s string) (rest string, err error) {
	m := nginxVariable().FindStringSubmatch(s)
	if m == nil {
		return "", errors.New("a $ without a variable's name")
	}
	name := m[1] + m[2]
	field := nginxFields[name]
	if name == "upstream_response_time" && strings.Contains(f.Name, "$request_time") {
		field = None // the time that the client waited takes precedence
	}
	f.add(field)
	f.last().word = name == "request_time" // a list of upstreams' times may be several words
	return s[len(m[0]):], nil
}

// apacheFields are the mod_log_config directives that a tally can use.
var apacheFields = map[string]Field{"t": Time, "D": Latency, "T": Latency, "s": Status, "U": Path, "r": Request}

// apacheDirective matches what follows a %: conditions (400,501), < or >, an argument in
// braces, and the letter; %^FB is the time to the first byte.
var apacheDirective = lazy.Regexp(`^[!0-9,<>]*(?:\{([^}]*)\})?(\^..|[^{!0-9,<>])`)

// apache parses what follows a % and returns the rest.
func (f *Format) apache(s string) (rest string, err error) {
	if rest, ok := strings.CutPrefix(s, "%"); ok {
		f.last().literal += "%"
		return rest, nil
	}
	m := apacheDirective().FindStringSubmatch(s)
	if m == nil {
		return "", errors.New("a % without its letter, or a %{ without its }")
	}
	arg, letter, rest := m[1], m[2], s[len(m[0]):]
	field := apacheFields[letter]
	switch {
	case letter == "T":
		units := map[string]Unit{"": Seconds, "s": Seconds, "ms": Milliseconds, "us": Microseconds}
		unit, ok := units[arg]
		if !ok {
			return "", fmt.Errorf("%%{%s}T: Apache knows the units s, ms and us only", arg)
		}
		if !f.Has(Latency) {
			f.unit = unit
		}
	case letter == "D" && !f.Has(Latency):
		f.unit = Microseconds
	case letter == "q" && *f.last() == (token{field: Path}):
		return rest, nil // %U%q together are the path with its query
	case letter == "t" && arg == "": // Apache writes the brackets itself
		f.last().literal += "["
		f.add(Time)
		f.last().literal = "]"
		return rest, nil
	case arg != "":
		field = None // a header, cookie or formatted time
	}
	f.add(field)
	return rest, nil
}

// split splits a line into its fields; false means that it does not match the format.
func (f *Format) split(line []byte, at *parts) (Unit, bool) {
	if f.json {
		return f.splitJSON(line, at)
	}
	first := []byte(f.tokens[0].literal)
	if !bytes.HasPrefix(line, first) {
		return 0, false
	}
	line = line[len(first):]
	for i, t := range f.tokens[1:] {
		end := len(line)
		if t.literal != "" {
			// Servers escape quotes within quoted text.
			quoted := strings.HasSuffix(f.tokens[i].literal, `"`) && strings.HasPrefix(t.literal, `"`)
			if end = find(line, t.literal, quoted); end < 0 {
				return 0, false
			}
		}
		at[t.field] = line[:end]
		if t.literal == "" && t.word && f.key == "" {
			at[t.field] = line[bytes.LastIndexByte(line, ' ')+1:]
		}
		line = line[end+len(t.literal):]
	}
	if f.key != "" {
		at[Latency] = keyed(at[Latency], f.key)
	}
	if len(at[Request]) > 0 {
		at[Path] = pathOf(at[Request])
	}
	return f.unit, true
}

// find returns the index of a literal in b, or −1; within quotes, escaped occurrences do not count.
func find(b []byte, literal string, quoted bool) int {
	for off := 0; ; {
		i := bytes.Index(b[off:], []byte(literal))
		if i < 0 {
			return -1
		}
		i += off
		before := len(b[:i]) - len(bytes.TrimRight(b[:i], `\`))
		if !quoted || before%2 == 0 {
			return i
		}
		off = i + 1
	}
}

// keyed returns the value of key=VALUE or key="VALUE" in a list of pairs.
func keyed(pairs []byte, key string) []byte {
	key += "="
	for i := 0; ; i++ {
		k := bytes.Index(pairs[i:], []byte(key))
		if k < 0 {
			return nil
		}
		if i += k; i == 0 || pairs[i-1] == ' ' {
			v := bytes.TrimPrefix(pairs[i+len(key):], []byte(`"`))
			if end := bytes.IndexAny(v, `" `); end >= 0 {
				v = v[:end]
			}
			return v
		}
	}
}

// pathOf returns the path of a request line ("GET /x HTTP/1.1").
func pathOf(request []byte) []byte {
	i, end := bytes.IndexByte(request, ' '), bytes.LastIndexByte(request, ' ')
	switch {
	case i <= 0: // not a request line
		return nil
	case end == i: // HTTP/0.9, without a protocol
		return request[i+1:]
	}
	return request[i+1 : end]
}

// jsonNames are the field names of common servers and configurations: NGINX with escape=json,
// Caddy, Traefik, Envoy, HAProxy. A dot separates the names of nested objects.
var jsonNames = map[Field][]string{
	Time:   {"time_iso8601", "time_local", "time", "ts", "timestamp", "@timestamp", "msec", "start_time", "StartUTC"},
	Status: {"status", "status_code", "response_code", "http_status", "resp_status", "DownstreamStatus", "response.status"},
	Path:   {"request_uri", "uri", "path", "request.uri", "RequestPath", "url"},
}

// jsonLatencies are the usual names of latencies, and the unit of each.
var jsonLatencies = []struct {
	name string
	unit Unit
}{
	{"request_time", Seconds}, {"duration", Seconds}, {"latency", Seconds}, {"response_time", Seconds},
	{"elapsed", Seconds}, {"upstream_response_time", Seconds}, {"time_taken", Seconds},
	{"request_time_ms", Milliseconds}, {"duration_ms", Milliseconds}, {"latency_ms", Milliseconds},
	{"response_time_ms", Milliseconds}, {"elapsed_ms", Milliseconds},
	{"duration_us", Microseconds}, {"latency_us", Microseconds},
	{"Duration", Nanoseconds}, {"duration_ns", Nanoseconds}, {"latency_ns", Nanoseconds},
}

// splitJSON finds each field of an object by the first of its names that is present.
func (f *Format) splitJSON(line []byte, at *parts) (unit Unit, ok bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(line, &members) != nil {
		return 0, false
	}
	for field, names := range jsonNames {
		for _, name := range names {
			if at[field] = member(members, name); at[field] != nil {
				break
			}
		}
	}
	if f.took != "" {
		at[Latency] = member(members, f.took)
		return f.unit, true
	}
	for _, l := range jsonLatencies {
		if at[Latency] = member(members, l.name); at[Latency] != nil {
			return l.unit, true
		}
	}
	return f.unit, true
}

// member returns a scalar member of an object or a nested object, without quotes, or nil
// if it is missing.
func member(members map[string]json.RawMessage, name string) []byte {
	v, ok := members[name]
	if !ok {
		outer, inner, nested := strings.Cut(name, ".")
		var object map[string]json.RawMessage
		if !nested || json.Unmarshal(members[outer], &object) != nil {
			return nil
		}
		return member(object, inner)
	}
	if len(v) > 0 && (v[0] == '{' || v[0] == '[') {
		return nil
	}
	return bytes.Trim(v, `"`)
}
