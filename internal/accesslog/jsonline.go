package accesslog

import "strings"

// jsonFields say under which names a JSON line holds the fields, and in what
// unit its latency is. Names of nested objects are joined by dots.
type jsonFields struct {
	names map[string]Field
	units map[string]Unit // of latencies, by name
}

// jsonNames are the names that servers and common configurations use: NGINX
// with escape=json, Caddy, Traefik, Envoy, HAProxy.
var jsonNames = map[Field][]string{
	Time:   {"time_iso8601", "time_local", "time", "ts", "timestamp", "@timestamp", "msec", "start_time", "StartUTC"},
	Status: {"status", "status_code", "response_code", "http_status", "resp_status", "DownstreamStatus", "response.status"},
	Path:   {"request_uri", "uri", "path", "request.uri", "RequestPath", "url"},
}

// jsonLatencies are the names of latencies with the unit they are written in.
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

// jsonFormat reads JSON lines by the usual names.
func jsonFormat() *Format {
	j := &jsonFields{names: map[string]Field{}, units: map[string]Unit{}}
	for field, names := range jsonNames {
		for _, n := range names {
			j.names[n] = field
		}
	}
	for _, l := range jsonLatencies {
		j.names[l.name], j.units[l.name] = Latency, l.unit
	}
	return &Format{Name: "json", json: j, unit: Seconds}
}

// withLatency makes name the only latency of a JSON format.
func (f *Format) withLatency(name string, unit Unit) {
	for n, field := range f.json.names {
		if field == Latency {
			delete(f.json.names, n)
		}
	}
	f.json.names[name], f.json.units[name] = Latency, unit
}

// maxNesting of objects in a line.
const maxNesting = 6

// jsonScanner walks one JSON object for the needed fields, without building
// anything: values that are not needed are skipped.
type jsonScanner struct {
	fields *jsonFields
	need   fields
	line   []byte
	pos    int
	unit   Unit // of the latency found
	got    fields
}

// run finds the needed fields; false means that line is no JSON object.
func (s *jsonScanner) run(line []byte, at *spans) bool {
	s.line, s.pos, s.got = line, 0, 0
	for i := range at {
		at[i] = span{}
	}
	return s.object("", 0, at)
}

func (s *jsonScanner) object(path string, depth int, at *spans) bool {
	if depth > maxNesting || s.next() != '{' {
		return false
	}
	s.pos++
	for first := true; ; first = false {
		switch c := s.next(); {
		case c == '}':
			s.pos++
			return true
		case !first && c == ',':
			s.pos++
		case !first:
			return false
		}
		if s.next() != '"' {
			return false
		}
		key, ok := s.str()
		if !ok || s.next() != ':' {
			return false
		}
		s.pos++
		if !s.member(path, s.line[key.from:key.to], depth, at) {
			return false
		}
	}
}

// member reads one value and keeps it if its name is wanted.
func (s *jsonScanner) member(path string, key []byte, depth int, at *spans) bool {
	if s.next() == '{' {
		name := string(key)
		if path != "" {
			name = path + "." + name
		}
		return s.object(name, depth+1, at)
	}
	v, ok := s.value()
	if !ok {
		return false
	}
	field, known := s.fields.names[string(key)]
	if path != "" {
		field, known = s.fields.names[path+"."+string(key)]
	}
	if !known || !s.need.has(field) || s.got.has(field) {
		return true
	}
	s.got = s.got.with(field)
	at[field] = v
	if field == Latency {
		s.unit = s.fields.units[strings.TrimPrefix(path+"."+string(key), ".")]
	}
	return true
}

// next skips white space and returns the byte there, 0 at the end.
func (s *jsonScanner) next() byte {
	for s.pos < len(s.line) {
		switch c := s.line[s.pos]; c {
		case ' ', '\t', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// str reads a string; the span is its inside, escapes as they are.
func (s *jsonScanner) str() (span, bool) {
	from := s.pos + 1
	for i := from; i < len(s.line); i++ {
		switch s.line[i] {
		case '\\':
			i++
		case '"':
			s.pos = i + 1
			return span{from, i}, true
		}
	}
	return span{}, false
}

// value reads a string, number, literal or array.
func (s *jsonScanner) value() (span, bool) {
	switch c := s.next(); c {
	case '"':
		return s.str()
	case '[', '{':
		return s.skipNested()
	case 0:
		return span{}, false
	}
	from := s.pos
	for s.pos < len(s.line) {
		switch s.line[s.pos] {
		case ',', '}', ']', ' ', '\t', '\r':
			return span{from, s.pos}, s.pos > from
		}
		s.pos++
	}
	return span{from, s.pos}, false
}

// skipNested steps over an array or an object inside one.
func (s *jsonScanner) skipNested() (span, bool) {
	from, depth := s.pos, 0
	for s.pos < len(s.line) {
		switch s.line[s.pos] {
		case '"':
			if _, ok := s.str(); !ok {
				return span{}, false
			}
			continue
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				s.pos++
				return span{from, s.pos}, true
			}
		}
		s.pos++
	}
	return span{}, false
}
