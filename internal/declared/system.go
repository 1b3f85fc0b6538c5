package declared

import "strings"

// bsdFile is where FreeBSD's settings of a form stand that writes no file by itself.
const bsdFile = "/etc/sysctl.conf"

// bySystem parts hosts' settings by the system that has their names. Those of FreeBSD count
// where the text speaks of it: OpenBSD and macOS have some of the names.
func bySystem(hosts []*Host, name string, text []byte) []*Host {
	for _, h := range hosts {
		theirs := *h
		theirs.FreeBSD, theirs.Files, theirs.settings = true, map[string][]Line{}, 0
		h.Unresolved, theirs.Unresolved = parted(h.Unresolved, func(u Unresolved) bool { return bsdName.MatchString(u.Name) })
		for file, lines := range h.Files {
			to := file
			if file == SysctlFile {
				to = bsdFile
			}
			whole := strings.HasPrefix(file, "/boot/") || strings.HasPrefix(file, "/etc/rc.conf")
			h.Files[file], theirs.Files[to] = parted(lines, func(l Line) bool { return whole || bsdName.MatchString(l.Text) })
			h.settings -= len(theirs.Files[to])
			theirs.settings += len(theirs.Files[to])
		}
		if theirs.settings+len(theirs.Unresolved) > 0 && (bsdText.MatchString(name) || bsdText.Match(text)) {
			hosts = append(hosts, &theirs)
		}
	}
	return hosts
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
