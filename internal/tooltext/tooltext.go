// Package tooltext reads what traffic generators and receivers other than
// linerate print of what they did: netmap's pkt-gen, and any program by a
// pattern that its user gives. It is pure; load/remoteload runs the programs.
package tooltext

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/hint"
)

// Account is what a program says of one run. What it does not say is 0.
type Account struct {
	Packets uint64
	Seconds float64
	PPS     float64 // packets per second
	// Counted: the program told Packets; else only a rate is known.
	Counted bool
}

// Bounds of what is believed: no program of these years counts further.
const (
	maxPackets = 1 << 53
	maxSeconds = 30 * 24 * 3600
	maxPPS     = 1e12
)

// Pattern finds an account in a program's output.
type Pattern struct {
	re    *regexp.Regexp
	paths map[string][]string // of JSON, by quantity
}

// Quantities are the names of what a pattern can find: those of Account.
var Quantities = []string{"packets", "seconds", "pps"}

// maxPattern bounds a pattern's text, in bytes.
const maxPattern = 4096

// Compile reads a pattern: a regular expression (RE2) with groups named after
// Quantities, of which the last match counts; or paths into one JSON document,
// `json packets=$.end.sum.packets seconds=$.end.sum.seconds`, where a list's
// element is [0]. It must find packets or pps.
func Compile(text string) (*Pattern, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("a pattern of %d bytes is longer than %d", len(text), maxPattern)
	}
	if rest, ok := strings.CutPrefix(text, "json "); ok {
		return compilePaths(rest)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("not a regular expression: %w", err)
	}
	names := slices.DeleteFunc(slices.Clone(re.SubexpNames()), func(s string) bool { return s == "" })
	if err := checkNames(names); err != nil {
		return nil, err
	}
	return &Pattern{re: re}, nil
}

func checkNames(names []string) error {
	for _, n := range names {
		if !slices.Contains(Quantities, n) {
			return hint.Unknown("quantity", n, Quantities)
		}
	}
	if !slices.Contains(names, "packets") && !slices.Contains(names, "pps") {
		return hint.With(errors.New("the expression names no group that counts"), `name what it finds: (?P<packets>\d+), (?P<seconds>[0-9.]+), (?P<pps>[0-9.]+)`)
	}
	return nil
}

// step is a member or an element of a JSON path.
var step = regexp.MustCompile(`^(?:\.([A-Za-z_][A-Za-z0-9_-]*)|\[([0-9]{1,4})\])`)

func compilePaths(text string) (*Pattern, error) {
	p := &Pattern{paths: map[string][]string{}}
	var names []string
	for _, word := range strings.Fields(text) {
		name, path, _ := strings.Cut(word, "=")
		rest, ok := strings.CutPrefix(path, "$")
		steps := []string{}
		for ok && rest != "" {
			m := step.FindStringSubmatch(rest)
			if ok = m != nil; ok {
				steps, rest = append(steps, m[1]+m[2]), rest[len(m[0]):]
			}
		}
		if !ok || len(steps) == 0 {
			return nil, hint.With(fmt.Errorf("%.60q is no path into a JSON document", word), "for instance packets=$.end.streams[0].packets")
		}
		p.paths[name] = steps
		names = append(names, name)
	}
	return p, checkNames(names)
}

// Read finds the account in what a program printed.
func (p *Pattern) Read(text string) (Account, error) {
	found := p.match
	if p.paths != nil {
		found = p.lookUp
	}
	values, err := found(text)
	if err != nil {
		return Account{}, err
	}
	var a Account
	if v, ok := values["packets"]; ok {
		if a.Packets, err = whole(v); err != nil {
			return a, err
		}
		a.Counted = true
	}
	if a.Seconds, err = number(values["seconds"], "seconds", maxSeconds); err != nil {
		return a, err
	}
	a.PPS, err = number(values["pps"], "packets per second", maxPPS)
	return a, err
}

func (p *Pattern) match(text string) (map[string]string, error) {
	all := p.re.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return nil, fmt.Errorf("the pattern finds nothing in what the program printed: %s", tail(text))
	}
	values := map[string]string{}
	for i, name := range p.re.SubexpNames() {
		if v := all[len(all)-1][i]; name != "" && v != "" {
			values[name] = v
		}
	}
	return values, nil
}

func (p *Pattern) lookUp(text string) (map[string]string, error) {
	var doc any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("the program printed no JSON document: %w: %s", err, tail(text))
	}
	values := map[string]string{}
	for name, steps := range p.paths {
		v, ok := walk(doc, steps)
		if !ok {
			return nil, fmt.Errorf("the program's document has no number at $.%s", strings.Join(steps, "."))
		}
		values[name] = v
	}
	return values, nil
}

// walk follows a path to a number.
func walk(doc any, steps []string) (string, bool) {
	for _, s := range steps {
		switch v := doc.(type) {
		case map[string]any:
			doc = v[s]
		case []any:
			i, err := strconv.Atoi(s)
			if err != nil || i >= len(v) {
				return "", false
			}
			doc = v[i]
		default:
			return "", false
		}
	}
	n, ok := doc.(json.Number)
	return n.String(), ok
}

// whole is a count: JSON may write one as 1e6.
func whole(text string) (uint64, error) {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && n <= maxPackets {
		return n, nil
	}
	v, err := number(text, "packets", maxPackets)
	if err != nil || v != math.Trunc(v) {
		return 0, fmt.Errorf("%.40q is no number of packets", text)
	}
	return uint64(v), nil
}

func number(text, what string, most float64) (float64, error) {
	if text == "" {
		return 0, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= most) { // NaN too
		return 0, fmt.Errorf("%.40q is no number of %s within 0 and %g", text, what, most)
	}
	return v, nil
}

// tail is the end of an output, for messages.
func tail(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return "it printed nothing"
	}
	lines := strings.Split(text, "\n")
	return fmt.Sprintf("its last line is %.120q", lines[len(lines)-1])
}
