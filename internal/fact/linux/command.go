package linux

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// assignment is one setting made by a command.
type assignment struct{ name, value string }

// commands returns the settings that a line of a script makes with sysctl, echo, ethtool, ip link
// and ifconfig. It runs nothing: it skips what only a shell can interpret (variables, loops).
func commands(line string) []assignment {
	var all []assignment
	if m := ofShell().FindStringSubmatch(line); m != nil {
		line = m[1] + m[2]
	}
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

// ofShell matches a command that a unit or a rule runs in a shell: sh -c '…'.
var ofShell = lazy.Regexp(`^[-+!@: \t]*\S*\bsh[ \t]+-\w*c[ \t]+(?:'([^']*)'|"([^"]*)")`)

// word matches a word of a command with its quoted parts, or a comment.
var word = lazy.Regexp(`#.*|(?:[^ \t"']|"[^"]*"?|'[^']*'?)+`)

// item matches the same in a YAML list.
var item = lazy.Regexp(`#.*|(?:[^ \t\[\],"']|"[^"]*"?|'[^']*'?)+`)

// quoted matches a quoted part of a word.
var quoted = lazy.Regexp(`"([^"]*)"?|'([^']*)'?`)

// words splits a command at blanks outside quotes; of a YAML list ("[ sysctl, -w, x=1 ]") it
// returns the items.
func words(s string) []string {
	s = strings.ReplaceAll(s, ">", " > ")
	by := word()
	if strings.Contains(s, "[") {
		by = item()
	}
	var all []string
	for _, w := range by.FindAllString(s, -1) {
		if w[0] == '#' {
			break
		}
		all = append(all, strings.TrimRight(quoted().ReplaceAllString(w, "$1$2"), ","))
	}
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

// echoCommand reads "echo 1 > /proc/sys/net/ipv4/ip_forward", also with >> and tee(1): appending to
// a kernel file is the same as writing.
func echoCommand(w []string) []assignment {
	for len(w) > 0 && slices.Contains([]string{"-n", "-e", "-en", "-ne"}, w[0]) {
		w = w[1:]
	}
	end := slices.IndexFunc(w, func(x string) bool { return x == ">" || x == "|" })
	if end < 1 {
		return nil
	}
	to := strings.TrimLeft(strings.Join(w[end:], " "), "> ")
	if tee, ok := strings.CutPrefix(strings.Replace(to, "| sudo ", "| ", 1), "| tee "); ok {
		to = strings.TrimPrefix(tee, "-a ")
	}
	to, _, _ = strings.Cut(to, " ")
	if name := settingOf(to); name != "" {
		return []assignment{{name, strings.TrimSuffix(strings.Join(w[:end], " "), `\n`)}}
	}
	return nil
}

// settingOf returns the setting for a file below /proc/sys or /sys.
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

// ethtoolOptions maps long options of ethtool that set something to short ones.
var ethtoolOptions = map[string]string{"--offload": "-K", "--features": "-K", "--set-ring": "-G", "--coalesce": "-C", "--set-channels": "-L", "--pause": "-A", "--change": "-s"}

// ethtoolCommand reads "ethtool -K eth0 gro off tso off" as one setting per pair of words.
func ethtoolCommand(w []string) []assignment {
	if len(w) < 4 || !strings.HasPrefix(w[0], "-") || !validName(w[1]) {
		return nil
	}
	option := cmp.Or(ethtoolOptions[w[0]], w[0])
	var all []assignment
	for i := 2; i+1 < len(w); i += 2 {
		all = append(all, assignment{"ethtool " + option + " " + w[1] + " " + w[i], w[i+1]})
	}
	return all
}

// linkCommand reads "ip link set dev eth0 mtu 9000", in any order, and "ifconfig eth0 txqueuelen
// 1000". Other objects of ip have an mtu too: a route's is not the link's.
func linkCommand(w []string) []assignment {
	if path.Base(w[0]) == "ip" {
		at := slices.Index(w, "set")
		if at < 2 || !slices.Contains([]string{"l", "li", "lin", "link"}, w[at-1]) {
			return nil
		}
		w = w[at:]
	}
	link := ""
	var all []assignment
	for i := 1; i < len(w); i++ {
		key := map[string]string{"mtu": ".mtu", "txqueuelen": ".tx_queue_len", "txqlen": ".tx_queue_len"}[w[i]]
		switch {
		case key != "" && i+1 < len(w):
			i++
			all = append(all, assignment{key, w[i]})
		case w[i] == "dev" && i+1 < len(w):
			i++
			link = w[i]
		case link == "" && w[i] != "up" && w[i] != "down":
			link = w[i]
		}
	}
	if !validName(link) {
		return nil
	}
	for i := range all {
		all[i].name = "link." + link + all[i].name
	}
	return all
}

// add adds assignments as lines of a file.
func (c *Config) add(p string, number int, text string, m fact.Stage, note string, made ...assignment) {
	for _, x := range made {
		if len(c.Lines) >= fact.MaxLines {
			return
		}
		c.Lines = append(c.Lines, fact.Line{File: p, Number: number, Text: text, Name: x.name, Value: x.value, Stage: m,
			Order: len(c.Lines) + 1, Effective: true, Default: shipped(p), Note: note})
		c.offload(c.Lines[len(c.Lines)-1])
	}
}

// shipped reports files that belong to the distribution, not to the host's owner.
func shipped(p string) bool {
	return strings.HasPrefix(p, "/usr/lib/") || strings.HasPrefix(p, "/lib/")
}

// dropIns lists files of one kind in directories of descending priority: a file hides those of the
// same name in later directories, and all are read in name order.
func dropIns(files fact.Files, suffix string, dirs ...string) []string {
	byName := map[string]string{}
	for _, dir := range dirs {
		names, _ := files.List(dir) // none if missing
		for _, n := range names {
			if _, hidden := byName[n]; strings.HasSuffix(n, suffix) && !hidden {
				byName[n] = dir + "/" + n
			}
		}
	}
	return list.Map(slices.Sorted(maps.Keys(byName)), func(n string) string { return byName[n] })
}
