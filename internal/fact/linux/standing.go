package linux

import "strings"

// movingFiles hold nothing but what the kernel counts: Facts.Counters and uptime.
var movingFiles = map[string]bool{
	"/proc/uptime": true, "/proc/net/snmp": true, "/proc/net/netstat": true, "/proc/net/snmp6": true, "/proc/net/softnet_stat": true,
	"/proc/net/stat/nf_conntrack": true, "/proc/net/stat/arp_cache": true, "/proc/net/stat/ndisc_cache": true,
}

// Moving reports a file of a host, or the answer of a query ("tc-qdisc"), in which what
// moves by itself stands: counters, rates, the time since boot. What those of them that are not
// wholly so hold beside it is what Standing says.
func Moving(source string) bool {
	return movingFiles[source] || source == "/proc/interrupts" || source == "tc-qdisc" || strings.HasPrefix(source, "ethtool-S-")
}

// standing says what of some files and answers stays; of others all does.
var standing = map[string]func(line string) string{
	"/proc/interrupts": unnumbered,
	"/proc/meminfo":    func(line string) string { return only(line, "MemTotal:", "SwapTotal:") },
	"/proc/cpuinfo": func(line string) string {
		if strings.HasPrefix(line, "cpu MHz") {
			return ""
		}
		return line
	},
	"/proc/modules": func(line string) string { name, _, _ := strings.Cut(line, " "); return name },
}

// sockets are the files of sockets, with the state of those that listen.
var sockets = map[string]string{"/proc/net/tcp": "0A", "/proc/net/tcp6": "0A", "/proc/net/udp": "07", "/proc/net/udp6": "07"}

// Standing is what of a file, or of the answer of a query, stays as it is while nobody
// changes the host and it is not booted anew. all says that it is all, and text then "".
func Standing(source string, data []byte) (text string, all bool) {
	switch {
	case movingFiles[source], source == "tc-qdisc":
		return "", false
	case strings.HasPrefix(source, "ethtool-S-"):
		return each(string(data), unnumbered), false
	case standing[source] != nil:
		return each(string(data), standing[source]), false
	case sockets[source] != "":
		return listening(string(data), sockets[source]), false
	}
	return "", true
}

// unnumbered is a line without its whole numbers.
func unnumbered(line string) string {
	w := strings.Fields(line)
	kept := w[:0]
	for _, word := range w {
		if strings.Trim(word, "0123456789") != "" {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}

// StandingValue is Standing of a line of a small file of /proc or /sys, by its path; moves
// reports one that facts about what moves are made of, as Moving does.
func StandingValue(path, value string) (stays string, moves bool) {
	if name, ok := strings.CutPrefix(path, "/proc/sys/"); ok {
		switch name = FromPath(name); {
		case Volatile(name):
			return "", false // no fact is made of it
		case name == "net.netfilter.nf_conntrack_count": // that something is tracked is a fact apart from how much
			if value != "0" {
				value = "some"
			}
			return value, true
		case name == "net.netfilter.nf_conntrack_max", name == "kernel.osrelease":
			return value, true
		}
		return value, false
	}
	if strings.HasPrefix(path, "/sys/class/net/") {
		if strings.Contains(path, "/statistics/") || strings.HasSuffix(path, "/tx_timeout") {
			return "", true
		}
		return value, true // counters are filed by interfaces
	}
	if strings.HasPrefix(path, "/sys/devices/system/node/") && strings.HasSuffix(path, "/meminfo") {
		if !strings.Contains(value, "MemTotal:") {
			return "", false
		}
	}
	return value, strings.HasPrefix(path, "/sys/bus/")
}

// each is a text with every line replaced; lines that become empty go.
func each(text string, replace func(line string) string) string {
	var b strings.Builder
	b.Grow(len(text) / 2)
	for line := range strings.Lines(text) {
		if line = replace(strings.TrimSuffix(line, "\n")); line != "" {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// only is a line that begins with one of the words, "" for others.
func only(line string, words ...string) string {
	if beginsWith(line, words...) {
		return line
	}
	return ""
}

// listening is what ParseListeners makes of sockets, without what waits in their queues:
// no finding about a host depends on that.
func listening(text, state string) string {
	seen := map[string]bool{}
	return each(text, func(line string) string {
		w := strings.Fields(line)
		if len(w) < 5 || w[3] != state || seen[w[1]] {
			return ""
		}
		seen[w[1]] = true
		return w[1]
	})
}
