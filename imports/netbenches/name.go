package netbenches

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"linerate/internal/lazy"
	"linerate/internal/list"
)

// Role is the kind of a file in the tree.
type Role string

// The roles; files of the last two are not parsed.
const (
	RoleReceiver Role = "receiver"
	RoleSender   Role = "sender"
	RoleRaw      Role = "raw"  // bench….N without suffix: determined by content
	RoleInfo     Role = "info" // .info
	RoleValues   Role = "values"
	RoleGnuplot  Role = "gnuplot"
	RoleReadme   Role = "readme"
	RoleConfig   Role = "config"
	RoleSecret   Role = "secret"  // may hold keys: neither read nor hashed
	RoleProfile  Role = "profile" // pmc logs, graphs, stacks, flame graphs, hooks: not read
	RoleOther    Role = "other"
)

// RawName is the parsed name of a log file. The parts between "bench" and the
// iteration may contain dots, so they are kept as one key until the .info
// file shows how to split it.
type RawName struct {
	Key       string // those present of IMAGE.CFG.PKTGEN, "" if none
	Iteration int
	Suffix    string // receiver, sender, sender_2, sender_gen2 …; "" if none
}

// rawName matches bench[.KEY].ITER[.SUFFIX].
var rawName = lazy.Regexp(`^bench\.(?:(.*)\.)?(\d{1,4})(?:\.((?:receiver|sender)(?:_[^.]*)?))?$`)

// ParseRawName parses bench[.KEY].ITER[.SUFFIX].
func ParseRawName(base string) (n RawName, ok bool) {
	m := rawName().FindStringSubmatch(base)
	if m == nil {
		return n, false
	}
	n.Key, n.Suffix = m[1], m[3]
	n.Iteration, _ = strconv.Atoi(m[2])
	return n, true
}

// InfoKey returns the key of bench[.KEY].info.
func InfoKey(base string) string {
	return strings.TrimPrefix(strings.TrimPrefix(strings.TrimSuffix(base, ".info"), "bench"), ".")
}

// secretName matches names of files that may hold keys, in lower case.
var secretName = lazy.Regexp(`\.(?:key|priv|pem|p12|pfx)$|^ssh_host_|id_rsa|^psk\.txt$`)

type roleName struct {
	name *regexp.Regexp
	role Role
}

// roleNames maps names of other files, in lower case, to their roles.
var roleNames = []roleName{
	{regexp.MustCompile(`^readme`), RoleReadme},
	{regexp.MustCompile(`\.info$`), RoleInfo},
	{regexp.MustCompile(`^gnuplot\.data(?:\.max)?$`), RoleGnuplot},
	{regexp.MustCompile(`\.pmc|\.folded|\.(?:before|during|after|graph|stack|svg|png|plt|out|jpg|gz|bz2|xz|zst|pdf|log)$`), RoleProfile},
	{regexp.MustCompile(``), RoleValues}, // until the content shows otherwise
}

// roleOf returns the role of a file, from its path in the tree only.
func roleOf(rel string) Role {
	base := path.Base(rel)
	low := strings.ToLower(base)
	n, raw := ParseRawName(base)
	switch {
	case secretName().MatchString(low):
		return RoleSecret
	case inConfigs(rel):
		return RoleConfig
	case strings.HasPrefix(n.Suffix, "receiver"):
		return RoleReceiver
	case strings.HasPrefix(n.Suffix, "sender"):
		return RoleSender
	case raw:
		return RoleRaw
	}
	of, _ := list.Find(roleNames, func(r roleName) bool { return r.name.MatchString(low) })
	return of.role
}

// inConfigs reports whether a file belongs to a configuration set: it is
// below a folder named configs or config, which is not below results.
func inConfigs(rel string) bool {
	for _, part := range strings.Split(path.Dir(rel), "/") {
		switch part {
		case "configs", "config":
			return true
		case "results", "result":
			return false
		}
	}
	return false
}

// Place is the position of a result folder in the archive's layout:
// <CPU>_<n>Cores/<NIC>/<topic>/results/<label>.
type Place struct {
	Hardware string // name of the CPU folder
	CPU      string // model
	Cores    int
	NIC      string
	Topic    string
	Label    string
}

// Canonical returns a name of the place that does not depend on the location of the archive.
func (p Place) Canonical() string { return path.Join(p.Hardware, p.NIC, p.Topic, p.Label) }

// placePath matches the last folder of results, with up to three folders above it and those below.
var placePath = lazy.Regexp(`^(?:(?:(?:(?:.*/)?([^/]+)/)?([^/]+)/)?([^/]+)/)?results?(?:/(.*))?$`)

// ParsePlace parses the path of a result folder, ignoring what is above the
// layout. It returns an empty place without a "results" folder.
func ParsePlace(dir string) (p Place) {
	m := placePath().FindStringSubmatch(path.Clean(strings.Trim(dir, "/")))
	if m == nil {
		return p
	}
	p.Hardware, p.NIC, p.Topic, p.Label = m[1], strings.ReplaceAll(m[2], "_", " "), m[3], m[4]
	p.CPU, p.Cores = parseHardware(p.Hardware)
	return p
}

// hardware matches names such as AMD_GX-412TC_4Cores.
var hardware = lazy.Regexp(`(?i)^(.*)_([^_]*?)x*cores$`)

func parseHardware(s string) (cpu string, cores int) {
	if m := hardware().FindStringSubmatch(s); m != nil {
		s = m[1]
		cores, _ = strconv.Atoi(m[2])
	}
	return strings.ReplaceAll(s, "_", " "), cores
}

func cutLast(s, sep string) (head, tail string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// rawQualifier splits the path of a raw folder: "RAW" is the only one of its
// study, "RAW.8rx" is its series "8rx".
func rawQualifier(dir string) (study, qualifier string) {
	base := path.Base(dir)
	if base == "RAW" || base == "raw" {
		return path.Dir(dir), ""
	}
	if q, ok := strings.CutPrefix(base, "RAW."); ok {
		return path.Dir(dir), q
	}
	return dir, ""
}
