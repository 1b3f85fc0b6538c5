package declared

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// bsdFile is where FreeBSD's settings of a form stand that writes no file by itself.
const bsdFile = "/etc/sysctl.conf"

// bySystem parts hosts' settings by the system that has their names. Those of FreeBSD count
// where the file speaks of it, or where the repository does and the file of no other:
// OpenBSD and macOS have some of the names.
func bySystem(hosts []*Host, name string, text []byte, vars *Variables) []*Host {
	said := append([]byte(name+"\n"), text...)
	counts := bsdText.Match(said) || vars != nil && vars.freeBSD && !otherBSD.Match(said)
	for _, h := range hosts {
		bsd := bsdName.MatchString
		if counts && !h.names(linuxName) && h.names(bsdName) {
			bsd = bsdOrVM.MatchString
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

// names reports a setting of the host's with such a name.
func (h *Host) names(such *regexp.Regexp) bool {
	for _, lines := range h.Files {
		if slices.ContainsFunc(lines, func(l Line) bool { return such.MatchString(l.Text) }) {
			return true
		}
	}
	return slices.ContainsFunc(h.Unresolved, func(u Unresolved) bool { return such.MatchString(u.Name) })
}

// parted are what is not so, and what is.
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
