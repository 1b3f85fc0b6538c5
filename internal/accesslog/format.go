package accesslog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/hint"
)

// Format is how a server writes a line: literals with variables between.
type Format struct {
	Name   string // what to call it in messages
	tokens []token
	unit   Unit // of the latency field
	layout timeLayout
	json   *jsonFields // JSON lines instead of tokens
}

// token is a variable and the literal after it. The first token of a format
// has no variable: its literal begins the line.
type token struct {
	field   Field
	literal string
	plain   bool // the variable is the last word of the line
}

// quoted reports whether the variable stands in double quotes, in which
// servers escape what would end it.
func quoted(before, after string) bool {
	return strings.HasSuffix(before, `"`) && strings.HasPrefix(after, `"`)
}

// timeLayout is how a line's time is written.
type timeLayout uint8

const (
	layoutCLF   timeLayout = iota // 10/Oct/2000:13:55:36 -0700
	layoutISO                     // 2000-10-10T13:55:36-07:00
	layoutEpoch                   // 971211336.123
)

// The formats that servers ship with. They lack the request time, so users append it.
const (
	nginxCombined  = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`
	apacheCombined = `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`
	apacheCommon   = `%h %l %u %t "%r" %>s %b`
)

// ParseFormat reads what a user gives as a format: a name (combined, common,
// json), an NGINX log_format string, or an Apache LogFormat string.
func ParseFormat(s string) (*Format, error) {
	switch s {
	case "combined":
		return ParseFormat(nginxCombined)
	case "common":
		return ParseFormat(apacheCommon)
	case "json":
		return jsonFormat(), nil
	}
	var (
		f   *Format
		err error
	)
	switch {
	case strings.Contains(s, "$"):
		f, err = parseNGINX(s)
	case strings.Contains(s, "%"):
		f, err = parseApache(s)
	default:
		return nil, hint.Unknown("log format", s, []string{"combined", "common", "json"})
	}
	if err != nil {
		return nil, fmt.Errorf("log format %q: %w", s, err)
	}
	f.Name = s
	return f, f.check()
}

// Has reports whether a line of this format holds the field.
func (f *Format) Has(field Field) bool {
	return f.json != nil || f.holds(field) || field == Path && f.holds(Request)
}

func (f *Format) holds(field Field) bool {
	return slices.ContainsFunc(f.tokens, func(t token) bool { return t.field == field })
}

// check refuses formats whose lines cannot be taken apart.
func (f *Format) check() error {
	for i, t := range f.tokens[:len(f.tokens)-1] {
		if i > 0 && t.literal == "" {
			return hint.With(fmt.Errorf("log format %q: two variables touch, so nothing says where the first ends", f.Name),
				"put a separator between them in the server's configuration")
		}
	}
	return nil
}

// nginxFields are the variables of ngx_http_log_module and the core that a
// tally can use; every other variable is skipped.
var nginxFields = map[string]Field{
	"time_local": Time, "time_iso8601": Time, "msec": Time,
	"request_time": Latency, "upstream_response_time": Latency,
	"status": Status, "request_uri": Path, "uri": Path, "request": Request,
}

// parseNGINX reads a log_format string. Several latencies: $request_time wins.
func parseNGINX(s string) (*Format, error) {
	f := &Format{unit: Seconds, tokens: []token{{}}}
	client := strings.Contains(s, "$request_time")
	for rest := unquoteConfig(s); rest != ""; {
		lit, after, found := strings.Cut(rest, "$")
		f.tokens[len(f.tokens)-1].literal += lit
		if !found {
			break
		}
		name, tail := nginxName(after)
		if name == "" {
			return nil, errors.New("a $ without a variable's name")
		}
		field := nginxFields[name]
		if name == "upstream_response_time" && client {
			field = None
		}
		f.addVariable(field, name)
		f.tokens[len(f.tokens)-1].plain = name == "request_time"
		rest = tail
	}
	return f, nil
}

// addVariable appends a variable; the second of a kind is skipped over.
func (f *Format) addVariable(field Field, name string) {
	for _, t := range f.tokens {
		if t.field == field {
			field = None
		}
	}
	if field == Time {
		switch name {
		case "time_iso8601":
			f.layout = layoutISO
		case "msec":
			f.layout = layoutEpoch
		}
	}
	f.tokens = append(f.tokens, token{field: field})
}

// nginxName splits a variable's name, $name or ${name}, from what follows.
func nginxName(s string) (name, rest string) {
	if braced, ok := strings.CutPrefix(s, "{"); ok {
		name, rest, ok = strings.Cut(braced, "}")
		if !ok {
			return "", ""
		}
		return name, rest
	}
	n := 0
	for n < len(s) && (s[n] == '_' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' || s[n] >= '0' && s[n] <= '9') {
		n++
	}
	return s[:n], s[n:]
}

// unquoteConfig undoes the backslashes that a configuration file needs.
func unquoteConfig(s string) string {
	return strings.NewReplacer(`\"`, `"`, `\'`, `'`, `\\`, `\`, `\t`, "\t").Replace(s)
}

// apacheFields are the directives of mod_log_config that a tally can use.
var apacheFields = map[byte]Field{
	't': Time, 'D': Latency, 'T': Latency, 's': Status, 'U': Path, 'r': Request,
}

// parseApache reads a LogFormat string.
func parseApache(s string) (*Format, error) {
	f := &Format{unit: Microseconds, tokens: []token{{}}}
	for rest := unquoteConfig(s); rest != ""; {
		lit, after, found := strings.Cut(rest, "%")
		f.tokens[len(f.tokens)-1].literal += lit
		if !found {
			break
		}
		if tail, ok := strings.CutPrefix(after, "%"); ok {
			f.tokens[len(f.tokens)-1].literal += "%"
			rest = tail
			continue
		}
		tail, err := f.apacheDirective(after)
		if err != nil {
			return nil, err
		}
		rest = tail
	}
	return f, nil
}

// apacheDirective reads what follows a %: conditions (400,501), < or >, an
// argument in braces, and the letter.
func (f *Format) apacheDirective(s string) (rest string, err error) {
	s = strings.TrimLeft(s, "!0123456789,<>")
	arg := ""
	if braced, ok := strings.CutPrefix(s, "{"); ok {
		if arg, s, ok = strings.Cut(braced, "}"); !ok {
			return "", errors.New("a %{ without its }")
		}
	}
	if s == "" {
		return "", errors.New("a % without its letter")
	}
	letter, rest := s[0], s[1:]
	if letter == '^' && len(s) >= 3 { // %^FB: time to first byte
		letter, rest = 0, s[3:]
	}
	field := apacheFields[letter]
	switch {
	case letter == 'T' && field == Latency:
		units := map[string]Unit{"": Seconds, "s": Seconds, "ms": Milliseconds, "us": Microseconds}
		u, ok := units[arg]
		if !ok {
			return "", fmt.Errorf("%%{%s}T has no unit that Apache knows (s, ms, us)", arg)
		}
		f.setLatencyUnit(u)
	case letter == 'D':
		f.setLatencyUnit(Microseconds)
	case letter == 'q' && f.tokens[len(f.tokens)-1] == (token{field: Path}):
		return rest, nil // %U%q is one path with its query
	case letter == 't' && arg == "":
		// Apache writes the brackets itself.
		f.tokens[len(f.tokens)-1].literal += "["
		f.addVariable(Time, "")
		f.tokens[len(f.tokens)-1].literal = "]"
		return rest, nil
	case arg != "" || letter == 0:
		field = None // a header, cookie or formatted time
	}
	f.addVariable(field, "")
	f.tokens[len(f.tokens)-1].plain = field == Latency
	return rest, nil
}

// setLatencyUnit notes the unit of the first latency of a format.
func (f *Format) setLatencyUnit(u Unit) {
	if !f.Has(Latency) {
		f.unit = u
	}
}

// SetUnit overrides the unit of the latency.
func (f *Format) SetUnit(u Unit) {
	f.unit = u
	if f.json != nil {
		for n := range f.json.units {
			f.json.units[n] = u
		}
	}
}

// SetLatencyName makes one name of a JSON format the latency.
func (f *Format) SetLatencyName(name string, unit Unit) error {
	if f.json == nil {
		return hint.Usagef("a time field is for JSON lines, the format is %s", f.Name)
	}
	f.withLatency(name, unit)
	return nil
}

// ParseUnit reads s, ms, us or ns.
func ParseUnit(s string) (Unit, error) {
	units := map[string]Unit{"s": Seconds, "ms": Milliseconds, "us": Microseconds, "ns": Nanoseconds}
	u, ok := units[s]
	if !ok {
		return 0, hint.Unknown("unit", s, []string{"s", "ms", "us", "ns"})
	}
	return u, nil
}
