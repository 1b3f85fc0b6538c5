package declared

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// bsdFile is the file for FreeBSD settings of a form that does not name files.
const bsdFile = "/etc/sysctl.conf"

// bySystem splits hosts' settings by the system that their names belong to. FreeBSD names count
// only if the file mentions FreeBSD, or the repository does and the file does not mention another
// BSD: OpenBSD and macOS share some names.
func bySystem(hosts []*Host, name string, text []byte, vars *Variables) []*Host {
	said := append([]byte(name+"\n"), text...)
	counts := bsdText().Match(said) || vars != nil && vars.freeBSD && !otherBSD().Match(said)
	for _, h := range hosts {
		bsd := bsdName().MatchString
		if counts && !h.names(linuxName()) && h.names(bsdName()) {
			bsd = bsdOrVM().MatchString
		}
		theirs := *h
		theirs.FreeBSD, theirs.Files, theirs.settings = true, map[string][]Line{}, 0
		h.Unresolved, theirs.Unresolved = parted(h.Unresolved, func(u Unresolved) bool { return bsd(u.Name) })
		for _, file := range slices.Sorted(maps.Keys(h.Files)) {
			to := file
			if file == SysctlFile {
				to = bsdFile
			}
			whole := strings.HasPrefix(file, "/boot/") || strings.HasPrefix(file, "/etc/rc.conf")
			rest, those := parted(h.Files[file], func(l Line) bool { return whole || bsd(l.Text) })
			h.Files[file], theirs.Files[to] = rest, append(theirs.Files[to], those...)
			h.settings -= len(those)
			theirs.settings += len(those)
		}
		if theirs.settings+len(theirs.Unresolved) > 0 && counts {
			hosts = append(hosts, &theirs)
		}
	}
	return hosts
}

// names reports whether the host has a setting whose name matches.
func (h *Host) names(such *regexp.Regexp) bool {
	for _, lines := range h.Files {
		if slices.ContainsFunc(lines, func(l Line) bool { return such.MatchString(l.Text) }) {
			return true
		}
	}
	return slices.ContainsFunc(h.Unresolved, func(u Unresolved) bool { return such.MatchString(u.Name) })
}

// parted splits a list into elements for which so is false, and true.
func parted[T any](all []T, so func(T) bool) (rest, those []T) {
	for _, v := range all {
		if so(v) {
			those = append(those, v)
		} else {
			rest = append(rest, v)
		}
	}
	return rest, those
}
