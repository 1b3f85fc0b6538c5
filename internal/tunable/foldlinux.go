package tunable

import (
	"regexp"
	"slices"
	"strings"
)

// deviceTrees lists the directories of /proc/sys/net whose children are devices.
var deviceTrees = []string{"net/ipv4/conf/", "net/ipv6/conf/", "net/ipv4/neigh/", "net/ipv6/neigh/", "net/mpls/conf/"}

// foldLinux returns the catalogue's spellings of a Linux name: dots for slashes as in sysctl(8), IF
// for a device, N for a number in a path below /sys.
func foldLinux(name string) []string {
	if strings.HasPrefix(name, "/sys/") || strings.HasPrefix(name, "/proc/irq/") {
		if f := foldPath(name); f != name {
			return []string{f}
		}
		return nil
	}
	path := sysctlPath(name)
	if path == "" {
		return nil
	}
	names := []string{dotted(path)}
	for _, tree := range deviceTrees {
		rest, ok := strings.CutPrefix(path, tree)
		if i := strings.LastIndexByte(rest, '/'); ok && i > 0 {
			names = append(names, dotted(tree)+"IF."+rest[i+1:])
		}
	}
	return slices.DeleteFunc(names, func(s string) bool { return s == name })
}

func dotted(path string) string { return strings.ReplaceAll(path, "/", ".") }

// sysctlPath returns a sysctl's name as a path below /proc/sys, whatever its separator; "" if it is
// not in the network's tree and has no slash. As in sysctl(8), the first separator determines which
// one divides: in net.ipv4.conf.eth0/100.rp_filter the slash stands for a dot of the device.
func sysctlPath(name string) string {
	name = strings.TrimPrefix(name, "/proc/sys/")
	i := strings.IndexAny(name, "./")
	switch {
	case i <= 0 || strings.ContainsAny(name, " =") || strings.Contains(name, "//"):
		return ""
	case name[i] == '/':
		return name
	case !strings.HasPrefix(name, "net."):
		return ""
	}
	return deviceDots(strings.Map(func(r rune) rune {
		switch r {
		case '.':
			return '/'
		case '/':
			return '.'
		}
		return r
	}, name))
}

// deviceDots corrects a path in which a dot of the device was taken for a separator:
// net.ipv4.conf.eth0.100.rp_filter, as people write it.
func deviceDots(path string) string {
	for _, tree := range deviceTrees {
		rest, ok := strings.CutPrefix(path, tree)
		if i := strings.LastIndexByte(rest, '/'); ok && i > 0 {
			return tree + strings.ReplaceAll(rest[:i], "/", ".") + rest[i:]
		}
	}
	return path
}

// numbered matches numbered components of paths below /sys, with the catalogue's spelling.
var numbered = []struct {
	form *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`^/sys/class/net/[^/]+/bridge/`), "/sys/class/net/BR/bridge/"},
	{regexp.MustCompile(`^/sys/class/net/[^/]+/`), "/sys/class/net/IF/"},
	{regexp.MustCompile(`/(rx|tx)-[0-9]+/`), "/$1-N/"},
	{regexp.MustCompile(`/(cpu|policy|node)[0-9]+/`), "/${1}N/"},
	{regexp.MustCompile(`/state[0-9]+/`), "/stateM/"},
	{regexp.MustCompile(`^/proc/irq/[0-9]+/`), "/proc/irq/N/"},
}

func foldPath(path string) string {
	for _, n := range numbered {
		if n.with == "/sys/class/net/IF/" && strings.HasPrefix(path, "/sys/class/net/BR/") {
			continue
		}
		path = n.form.ReplaceAllString(path, n.with)
	}
	return path
}
