package netbenches

import (
	"fmt"
	"path"
	"strings"
	"time"

	"linerate/internal/lazy"
)

// Info holds the content of a .info file, which describes a series of trials.
type Info struct {
	Early    bool   // 2015 to spring 2016: keys and values instead of shell
	Image    string // firmware image: a path in early files
	Config   string // configuration set, last component of its path
	Workload string // pkt-gen configuration; not in early files
	Uname    string // uname -a of the DUT
	Start    string // time as written, early files only
}

// ParseInfo parses both generations of .info files. The later one is a shell
// fragment, which is parsed as text and never sourced. A line other than NAME="plain
// value" is an error, because guessing at shell syntax could give wrong values.
func ParseInfo(data []byte) (Info, error) {
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	if strings.TrimSpace(text) == "" {
		return Info{}, fmt.Errorf("empty")
	}
	if strings.HasPrefix(text, "Image:") {
		return parseEarly(text), nil
	}
	var in Info
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := assignmentLine().FindStringSubmatch(line)
		if m == nil {
			return Info{}, fmt.Errorf("line %d: not NAME=value without shell syntax", i+1)
		}
		in.set(m[1], m[2]+m[3]+m[4])
	}
	return in, nil
}

// assignmentLine matches NAME="value", NAME='value' or NAME=value without
// expansions, substitutions, escapes or anything after the value.
var assignmentLine = lazy.Regexp("^([A-Za-z_][A-Za-z0-9_]*)=(?:\"([^\"$`\\\\]*)\"|'([^'$`\\\\]*)'|([^\\s;&|<>()\"'$`\\\\]*))\\s*(?:#.*)?$")

func (in *Info) set(name, value string) {
	switch name {
	case "IMAGE", "Image":
		in.Image = noneIsEmpty(value)
	case "CFG":
		in.Config = baseOf(value)
	case "PKTGEN":
		in.Workload = baseOf(value)
	case "UNAME":
		in.Uname = value
	case "Start time":
		in.Start = value
	}
}

func parseEarly(text string) Info {
	in := Info{Early: true}
	for _, line := range strings.Split(text, "\n") {
		key, value, ok := strings.Cut(line, ": ")
		switch {
		case ok && (key == "Image" || key == "CFG" || key == "Start time"):
			in.set(key, value)
		case in.Uname == "" && strings.Contains(line, "BSD ") && key != "End time":
			in.Uname = strings.TrimSpace(line)
		}
	}
	return in
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

// ImageLabel returns the short name of a firmware image: in early files, the
// second dash-separated part of its file name, as in the archive's script.
func (in Info) ImageLabel() string {
	if in.Image == "" {
		return ""
	}
	base := path.Base(in.Image)
	if f := strings.Split(base, "-"); in.Early && len(f) > 1 {
		return f[1]
	}
	return base
}

// zones are the UTC offsets in hours of time zone abbreviations in the
// archive; time.Parse only knows UTC and those of the local zone.
var zones = map[string]int{"CEST": 2, "CET": 1}

// Started parses the start time of the series, as date(1) prints it in the C locale or
// a US one. ok is false if the file has none, as is the case for all later files.
func (in Info) Started() (t time.Time, ok bool) {
	s := strings.Join(strings.Fields(in.Start), " ")
	for _, layout := range []string{"Mon Jan 2 15:04:05 MST 2006", "Jan 2, 2006 at 03:04:05 PM MST", "Mon 2 Jan 2006 15:04:05 MST"} {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		if name, offset := t.Zone(); offset == 0 {
			t = t.Add(-time.Duration(zones[name]) * time.Hour)
		}
		return t.UTC(), true
	}
	return time.Time{}, false
}

// Uname holds the parts of FreeBSD's uname -a that are used.
type Uname struct {
	OS, Release, Revision, Arch string
}

var revision = lazy.Regexp(`^(?:[\w/.]+-)?([rn][0-9]{5,7}(?:-[0-9a-f]{7,12})?)M?:?$`)

// ParseUname parses uname -a. The revision is the source revision in the kernel
// version: r332390 (Subversion), n311215 or n302145-e69573bc2be (git).
func ParseUname(s string) Uname {
	f := strings.Fields(s)
	if len(f) < 3 {
		return Uname{}
	}
	u := Uname{OS: f[0], Release: f[2], Arch: f[len(f)-1]}
	for _, w := range f[3:] {
		if m := revision().FindStringSubmatch(w); m != nil {
			u.Revision = m[1]
			break
		}
	}
	return u
}

var (
	labelRevision = lazy.Regexp(`(?:^|[.-])([rn][0-9]{5,7})(?:[.D-]|$)`)
	labelRelease  = lazy.Regexp(`^(?:fbsd|FreeBSD-?)?([0-9]+(?:\.[0-9]+)?)(?:[.-](head|stable|current|routing|CURRENT|STABLE))?`)
)

// RevisionOf returns the source revision in the label of a result folder, as
// in fbsd16-n311215.D58513, or "" if there is none.
func RevisionOf(label string) string {
	if m := labelRevision().FindStringSubmatch(label); m != nil {
		return m[1]
	}
	return ""
}

// releaseOf returns the release in the label of a result folder, for series
// without .info: fbsd11.1-yandex is 11.1, fbsd12-head.r332390 is 12-head.
func releaseOf(label string) string {
	m := labelRelease().FindStringSubmatch(label)
	if m == nil {
		return ""
	}
	return strings.TrimSuffix(m[1]+"-"+m[2], "-")
}
