package filehost

import (
	_ "embed" // kinds.txt
	"path"
	"regexp"
	"strings"
	"sync"

	"linerate/internal/appliance"
	"linerate/internal/fact"
	"linerate/internal/list"
)

// Place is the location of a file on a host.
type Place struct {
	// Path is the path on the host; * stands for the file's own name.
	Path string
	// OS is the system that reads it, "" if several do.
	OS string
}

// kind is one kind of file, recognised by characteristic names, and by its lines.
type kind struct {
	Place
	ext          string // extension of the name there
	names, lines *regexp.Regexp
}

// kindsText defines how files and trees are recognised.
//
//go:embed kinds.txt
var kindsText string

// kinds lists what an audit reads, most specific first.
var kinds = sync.OnceValue(func() []kind {
	pattern := func(s string) *regexp.Regexp {
		if s == "-" {
			return nil
		}
		return regexp.MustCompile(s)
	}
	return list.Map(list.Table(kindsText, "file"), func(row []string) kind {
		return kind{Place{row[1], row[0]}, strings.TrimPrefix(row[2], "-"), pattern(row[3]), pattern(row[4])}
	})
})

// Recognise returns where a host would have a file, from its name or its lines. os, if known,
// excludes files of other systems.
func Recognise(name, text, os string) (Place, bool) {
	if p, at, ok := appliance.Recognise(name, text, os); ok {
		return Place{at, p.OS}, true
	}
	parts := strings.Split(path.Clean(name), "/")
	base := parts[len(parts)-1]
	long := base
	if len(parts) > 1 {
		long = parts[len(parts)-2] + "/" + base
	}
	for _, k := range kinds() {
		if k.names != nil && (k.names.MatchString(base) || k.names.MatchString(long)) && (os == "" || os == k.OS) {
			return k.at(base), k.Path != "-"
		}
	}
	if base == "sysctl.conf" && os == fact.FreeBSD {
		return Place{"/etc/sysctl.conf", os}, true // a stock one has only comments
	}
	best, most := kind{}, 0
	for _, k := range kinds() {
		if n := k.score(text); n > most && (os == "" || os == k.OS) {
			best, most = k, n
		}
	}
	if most == 0 && os != "" && base == "sysctl.conf" { // every system has one, and these lines fit several
		best, _ = list.Find(kinds(), func(k kind) bool { return k.OS == os && strings.HasPrefix(k.Path, "/etc/sysctl.") })
		most = 1
	}
	if most == 0 {
		return Place{}, false
	}
	return best.at(base), true
}

// at inserts the file's own name into the place.
func (k kind) at(base string) Place {
	if strings.HasSuffix(k.Path, "/*") {
		if base == "-" || base == "" || base == "." {
			base = "input"
		}
		base = strings.TrimSuffix(base, k.ext) + k.ext
		k.Path = strings.TrimSuffix(k.Path, "*") + base
	}
	return k.Place
}

// maxJudged is how many bytes of a text are used to recognise it.
const maxJudged = 64 << 10

// score counts the lines that match the kind.
func (k kind) score(text string) int {
	n := 0
	if k.lines == nil {
		return 0 // lines do not distinguish it from another kind: only the name does
	}
	for line := range strings.Lines(text[:min(len(text), maxJudged)]) {
		if s := strings.TrimSpace(strings.TrimPrefix(line, "\xef\xbb\xbf")); s != "" && s[0] != '#' && k.lines.MatchString(s) {
			n++
		}
	}
	return n
}
