package netbenches

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"
)

// Info is what a .info file tells of a series of trials.
type Info struct {
	Generation int    // 1: 2015 to spring 2016, 2: since
	Image      string // firmware image: a path in generation 1
	Config     string // configuration set, last element of its path
	Workload   string // pkt-gen configuration, generation 2 only
	Uname      string // uname -a of the DUT
	Start, End string // as written, generation 1 only
}

// ParseInfo reads either generation. Generation 2 is a shell fragment: it is
// read as text, never sourced; a line that is not NAME="plain value" is an
// error, because guessing at shell syntax would be a way to be lied to.
func ParseInfo(data []byte) (Info, error) {
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	if strings.TrimSpace(text) == "" {
		return Info{}, fmt.Errorf("empty")
	}
	if strings.HasPrefix(text, "Image:") {
		return parseInfo1(text), nil
	}
	return parseInfo2(text)
}

func parseInfo1(text string) Info {
	in := Info{Generation: 1}
	for _, line := range strings.Split(text, "\n") {
		switch key, value, _ := strings.Cut(line, ": "); key {
		case "Image":
			in.Image = noneIsEmpty(value)
		case "CFG":
			in.Config = baseOf(value)
		case "Start time":
			in.Start = value
		case "End time":
			in.End = value
		default:
			if in.Uname == "" && strings.Contains(line, "BSD ") {
				in.Uname = strings.TrimSpace(line)
			}
		}
	}
	return in
}

func parseInfo2(text string) (Info, error) {
	in := Info{Generation: 2}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, err := assignment(line)
		if err != nil {
			return Info{}, fmt.Errorf("line %d: %w", i+1, err)
		}
		switch name {
		case "IMAGE":
			in.Image = noneIsEmpty(value)
		case "CFG":
			in.Config = baseOf(value)
		case "PKTGEN":
			in.Workload = baseOf(value)
		case "UNAME":
			in.Uname = value
		}
	}
	return in, nil
}

// assignment reads NAME="value", NAME='value' or NAME=value. Expansions,
// substitutions, escapes and anything after the value are refused.
func assignment(line string) (name, value string, err error) {
	name, rest, ok := strings.Cut(line, "=")
	if !ok || !isName(name) {
		return "", "", fmt.Errorf("not a NAME=value line")
	}
	if rest == "" {
		return name, "", nil
	}
	if q := rest[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(rest[1:], q)
		if end < 0 {
			return "", "", fmt.Errorf("%s: the quote is not closed", name)
		}
		value, rest = rest[1:1+end], strings.TrimSpace(rest[2+end:])
		if rest != "" && !strings.HasPrefix(rest, "#") {
			return "", "", fmt.Errorf("%s: text after the closing quote", name)
		}
	} else {
		value = rest
		if strings.ContainsAny(value, " \t;&|<>()") {
			return "", "", fmt.Errorf("%s: unquoted shell syntax", name)
		}
	}
	if strings.ContainsAny(value, "$`\\") {
		return "", "", fmt.Errorf("%s: shell expansion, which is not evaluated", name)
	}
	return name, value, nil
}

func isName(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

func noneIsEmpty(s string) string {
	if s = strings.TrimSpace(s); s == "none" {
		return ""
	}
	return s
}

func baseOf(p string) string {
	p = strings.TrimRight(noneIsEmpty(p), "/")
	if p == "" {
		return ""
	}
	return path.Base(p)
}

// ImageLabel is the short name of a firmware image: the second dash-separated
// field of its file's name, as the archive's script takes it.
func (in Info) ImageLabel() string {
	if in.Image == "" {
		return ""
	}
	base := path.Base(in.Image)
	f := strings.Split(base, "-")
	if in.Generation == 1 && len(f) > 1 {
		return f[1]
	}
	return base
}

// zones are the offsets, in hours, of the abbreviations the archive's author
// and his BSDs write; time.Parse knows only UTC and the local ones.
var zones = map[string]int{"CEST": 2, "CET": 1, "UTC": 0, "GMT": 0}

// Started returns when the series began; ok is false where the file does not
// say it (generation 2 never does).
func (in Info) Started() (t time.Time, ok bool) { return parseDate(in.Start) }

// parseDate reads date(1)'s output in the C and in a later US locale.
func parseDate(s string) (t time.Time, ok bool) {
	s = strings.Join(strings.Fields(s), " ")
	for _, layout := range []string{
		"Mon Jan 2 15:04:05 MST 2006", "Jan 2, 2006 at 03:04:05 PM MST", "Mon 2 Jan 2006 15:04:05 MST",
	} {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		name, offset := t.Zone()
		if h, known := zones[name]; known && offset == 0 {
			t = t.Add(-time.Duration(h) * time.Hour)
		}
		return t.UTC(), true
	}
	return time.Time{}, false
}

// Uname is what can be read off a FreeBSD uname -a.
type Uname struct {
	OS, Host, Release, Revision, Arch string
}

var revision = regexp.MustCompile(`^(?:[\w/.]+-)?([rn][0-9]{5,7}(?:-[0-9a-f]{7,12})?)M?:?$`)

// ParseUname splits uname -a. The revision is the source revision in the
// kernel's version: r332390 (Subversion), n311215 or n302145-e69573bc2be (git).
func ParseUname(s string) Uname {
	f := strings.Fields(s)
	var u Uname
	if len(f) < 3 {
		return u
	}
	u.OS, u.Host, u.Release, u.Arch = f[0], f[1], f[2], f[len(f)-1]
	for _, w := range f[3:] {
		if m := revision.FindStringSubmatch(w); m != nil {
			u.Revision = m[1]
			break
		}
	}
	return u
}

var labelRevision = regexp.MustCompile(`(?:^|[.-])([rn][0-9]{5,7})(?:[.D-]|$)`)

// RevisionOf reads the source revision out of a result folder's label, as in
// fbsd16-n311215.D58513; "" if it has none.
func RevisionOf(label string) string {
	if m := labelRevision.FindStringSubmatch(label); m != nil {
		return m[1]
	}
	return ""
}
