package accesslog

import (
	"bytes"
	"encoding/json"
	"strings"
)

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
