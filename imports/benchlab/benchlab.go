// Package benchlab reads what the netbenches archive's bench-lab.sh is
// configured by, and says it as a testbed and a study: pure data. The
// configuration is shell, and is never run: only assignments are read.
package benchlab

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/hint"
)

// maxConfig bounds a configuration; real ones have four kilobytes.
const maxConfig = 1 << 20

// Config is a bench-lab configuration.
type Config struct {
	Vars map[string]string
	// Notes say what of it has no counterpart.
	Notes []string
}

// assignment matches NAME=VALUE and : ${NAME:="VALUE"}.
var (
	assignment = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)=(.*)$`)
	defaulted  = regexp.MustCompile(`^: \$\{([A-Za-z_][A-Za-z0-9_]*):?=(.*)\}$`)
	reference  = regexp.MustCompile(`\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?`)
)

// ParseConfig reads a configuration's assignments. Commands in it are not run;
// other lines are noted.
func ParseConfig(file string, data []byte) (Config, error) {
	if len(data) > maxConfig {
		return Config{}, hint.Usagef("%s: %d bytes are no bench-lab configuration", file, len(data))
	}
	c := Config{Vars: map[string]string{}}
	text := strings.ReplaceAll(string(data), "\\\n", " ")
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if m := defaulted.FindStringSubmatch(line); m != nil {
			if c.Vars[m[1]] == "" {
				c.Vars[m[1]] = c.expand(m[2])
			}
			continue
		}
		m := assignment.FindStringSubmatch(line)
		if m == nil || strings.Contains(m[2], "$(") || strings.Contains(m[2], "`") {
			c.Notes = append(c.Notes, fmt.Sprintf("%s:%d is not an assignment and was left out: %.60s", file, n+1, line))
			continue
		}
		c.Vars[m[1]] = c.expand(m[2])
	}
	for _, need := range []string{"DUT_ADMIN", "SENDER_ADMIN", "SENDER_START_CMD"} {
		if c.Vars[need] == "" {
			return c, hint.With(hint.Usagef("%s sets no %s", file, need), "give bench-lab.sh's own configuration: the file of its option -f")
		}
	}
	return c, nil
}

// expand removes quotes and puts values for names that are known.
func (c Config) expand(v string) string {
	v = strings.TrimSpace(v)
	if len(v) > 0 && (v[0] == '"' || v[0] == '\'') {
		if i := strings.IndexByte(v[1:], v[0]); i >= 0 {
			v = v[1 : i+1]
		}
	} else {
		v, _, _ = strings.Cut(v, " ")
	}
	v = reference.ReplaceAllStringFunc(v, func(r string) string { return c.Vars[reference.FindStringSubmatch(r)[1]] })
	return strings.Join(strings.Fields(v), " ")
}

// Set is a configuration set: files by their path on the DUT.
type Set struct {
	Name  string
	Files map[string]string
}

// Offer is what a pkt-gen command of the configuration offers.
type Offer struct {
	Interface            string
	IPv6                 bool
	Size                 int // with FCS
	Sources, Destination Range
	PPS                  int // 0: as fast as it can
	Packets              int
}

// Range is pkt-gen's ADDRESS[:PORT][-ADDRESS[:PORT]].
type Range struct {
	First, Last         netip.Addr
	FirstPort, LastPort int
}

// Addresses is how many there are.
func (r Range) Addresses() int {
	n := 1
	for a := r.First; a.IsValid() && a != r.Last && n < 1<<20; a = a.Next() {
		n++
	}
	return n
}

// Sends reads the sender's command; ok is false when it is not pkt-gen's.
func (c Config) Sends() (o Offer, ok bool) {
	words := strings.Fields(c.Vars["SENDER_START_CMD"])
	if !slices.Contains(words, "pkt-gen") {
		return o, false
	}
	o.Size = 64
	for i, w := range words {
		o.IPv6 = o.IPv6 || w == "-6"
		if i+1 == len(words) {
			break
		}
		next := words[i+1]
		switch w {
		case "-i":
			o.Interface = next
		case "-l":
			if n, err := strconv.Atoi(next); err == nil {
				o.Size = n + 4 // pkt-gen's lengths have no FCS
			}
		case "-n":
			o.Packets, _ = strconv.Atoi(next)
		case "-R":
			o.PPS, _ = strconv.Atoi(next)
		case "-s":
			o.Sources = parseRange(next)
		case "-d":
			o.Destination = parseRange(next)
		}
	}
	return o, true
}

// parseRange reads a range; what it cannot read is empty.
func parseRange(s string) (r Range) {
	first, last, many := strings.Cut(s, "-")
	r.First, r.FirstPort = parseEnd(first)
	r.Last, r.LastPort = r.First, r.FirstPort
	if many {
		var port int
		if r.Last, port = parseEnd(last); port > 0 {
			r.LastPort = port
		}
	}
	if !r.Last.IsValid() || r.Last.Less(r.First) {
		r.Last = r.First
	}
	return r
}

func parseEnd(s string) (netip.Addr, int) {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr(), int(ap.Port())
	}
	a, _ := netip.ParseAddr(strings.Trim(s, "[]"))
	return a, 0
}
