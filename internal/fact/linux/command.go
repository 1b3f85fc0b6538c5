package linux

import (
	"path"
	"strings"

	"linerate/internal/fact"
)

// assignment is one setting that a command makes.
type assignment struct{ name, value string }

// Commands reads the settings that a line of a script makes with sysctl,
// echo, ethtool, ip link and ifconfig. It runs nothing: what needs a shell to
// be understood (variables, loops) is passed over.
func commands(line string) []assignment {
	var all []assignment
	for _, part := range strings.FieldsFunc(strings.NewReplacer("&&", ";", "||", ";").Replace(line), func(r rune) bool { return r == ';' }) {
		w := words(part)
		for len(w) > 0 && (w[0] == "sudo" || w[0] == "then" || w[0] == "do" || w[0] == "-" || w[0] == "exec") {
			w = w[1:]
		}
		if len(w) < 2 || strings.Contains(part, "$") {
			continue
		}
		switch path.Base(w[0]) {
		case "sysctl":
			all = append(all, sysctlCommand(w[1:])...)
		case "echo", "printf":
			all = append(all, echoCommand(w[1:])...)
		case "ethtool":
			all = append(all, ethtoolCommand(w[1:])...)
		case "ip", "ifconfig":
			all = append(all, linkCommand(w)...)
		}
	}
	return all
}

// words splits a command at blanks, quotes holding words together.
func words(s string) []string {
	var all []string
	var b strings.Builder
	quote, open := rune(0), false
	flush := func() {
		if open {
			all = append(all, b.String())
			b.Reset()
			open = false
		}
	}
	for _, r := range strings.ReplaceAll(s, ">", " > ") {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, open = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '[' || r == ']' || r == ','):
			flush()
		case quote == 0 && r == '#' && !open:
			flush()
			return all
		default:
			b.WriteRune(r)
			open = true
		}
	}
	flush()
	return all
}

func sysctlCommand(w []string) []assignment {
	var all []assignment
	for _, arg := range w {
		name, value, ok := strings.Cut(arg, "=")
		if ok && !strings.HasPrefix(arg, "-") && validName(name) {
			all = append(all, assignment{Name(name), value})
		}
	}
	return all
}

// echoCommand reads "echo 1 > /proc/sys/net/ipv4/ip_forward".
func echoCommand(w []string) []assignment {
	for i, x := range w {
		to := ""
		if x == ">" && i+1 < len(w) {
			to = w[i+1]
		}
		if name := settingOf(to); name != "" && i > 0 {
			return []assignment{{name, strings.Join(w[:i], " ")}}
		}
	}
	return nil
}

// settingOf names the setting of a file below /proc/sys or /sys.
func settingOf(p string) string {
	if rest, ok := strings.CutPrefix(p, "/proc/sys/"); ok && validName(rest) {
		return FromPath(rest)
	}
	if rest, ok := strings.CutPrefix(p, "/sys/class/net/"); ok {
		if link, attribute, ok := strings.Cut(rest, "/"); ok && !strings.Contains(attribute, "/") {
			return "link." + link + "." + attribute
		}
	}
	if (strings.HasPrefix(p, "/sys/") || strings.HasPrefix(p, "/proc/irq/")) && validName(p) {
		return p
	}
	return ""
}

// ethtoolCommand reads "ethtool -K eth0 gro off tso off" as one setting for
// each pair of words.
func ethtoolCommand(w []string) []assignment {
	if len(w) < 4 || !strings.HasPrefix(w[0], "-") || !validName(w[1]) {
		return nil
	}
	var all []assignment
	for i := 2; i+1 < len(w); i += 2 {
		all = append(all, assignment{"ethtool " + w[0] + " " + w[1] + " " + w[i], w[i+1]})
	}
	return all
}

// linkCommand reads "ip link set dev eth0 mtu 9000" and "ifconfig eth0
// txqueuelen 1000".
func linkCommand(w []string) []assignment {
	link := ""
	var all []assignment
	for i := 1; i < len(w); i++ {
		next := ""
		if i+1 < len(w) {
			next = w[i+1]
		}
		switch w[i] {
		case "link", "set", "dev":
			continue
		case "mtu":
			all = append(all, assignment{"link." + link + ".mtu", next})
			i++
		case "txqueuelen", "txqlen":
			all = append(all, assignment{"link." + link + ".tx_queue_len", next})
			i++
		default:
			if link == "" {
				link = w[i]
			}
		}
	}
	if link == "" || !validName(link) {
		return nil
	}
	return all
}

// add files assignments as lines of a file.
func (c *Config) add(p string, number int, text string, m fact.Stage, note string, made ...assignment) {
	for _, x := range made {
		if len(c.Lines) >= maxLines {
			return
		}
		c.Lines = append(c.Lines, fact.Line{File: p, Number: number, Text: text, Name: x.name, Value: x.value, Stage: m,
			Order: len(c.Lines) + 1, Effective: true, Default: shipped(p), Note: note})
		c.offload(c.Lines[len(c.Lines)-1])
	}
}

// shipped reports files that belong to the distribution, not to the host's
// owner.
func shipped(p string) bool {
	return strings.HasPrefix(p, "/usr/lib/") || strings.HasPrefix(p, "/lib/")
}

// dropIns lists files of one kind in directories of descending rank: a file
// hides those of its name in later directories, and all are read in the order
// of their names.
func dropIns(files Files, suffix string, dirs ...string) []string {
	byName := map[string]string{}
	var order []string
	for _, dir := range dirs {
		list, err := files.List(dir)
		if err != nil {
			continue
		}
		for _, n := range list {
			if _, hidden := byName[n]; strings.HasSuffix(n, suffix) && !hidden {
				byName[n] = dir + "/" + n
				order = append(order, n)
			}
		}
	}
	return sortedPaths(order, byName)
}
