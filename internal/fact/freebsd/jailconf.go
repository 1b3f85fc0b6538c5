package freebsd

import (
	"cmp"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/network"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// jailWords matches comments, strings, marks and words of jail.conf(5).
var jailWords = lazy.Regexp(`(?s)/\*.*?\*/|(?:#|//)[^\n]*|"(?:\\.|[^"\\])*"|'[^']*'|\+=|[{};,=\n]|(?:\$\{[\w.]+\}|[^\s{};,="'#+])+|\+`)

// jail is a block of jail.conf, "" for what stands outside: parameters by name, their values joined by commas.
type jail struct {
	fact.Line
	set map[string]fact.Line
}

// readJails parses a file, whose jails begin with the shared parameters; "*" adds to them.
func readJails(file, text string, shared map[string]fact.Line) []jail {
	jails, in, words, line := []jail{{set: shared}}, 0, []string{}, 1
	for _, w := range jailWords().FindAllString(text, -1) {
		switch {
		case w[0] == '\n' || w[0] == '#' || strings.HasPrefix(w, "//") || strings.HasPrefix(w, "/*"):
		case w == "{":
			if name := strings.Join(words, ""); name != "*" {
				in, jails = len(jails), append(jails, jail{fact.Line{Name: name, File: file, Number: line}, maps.Clone(shared)})
			}
			words = nil
		case w != ";" && w != "}":
			words = append(words, strings.Trim(w, `"'`))
		default:
			if len(words) > 0 {
				p := fact.Line{File: file, Number: line, Value: cmp.Or(strings.Join(words[min(2, len(words)):], ""), "true")}
				if len(words) > 1 && words[1] == "+=" {
					p.Value = jails[in].set[words[0]].Value + "," + p.Value
				}
				jails[in].set[words[0]] = p
			}
			if words = nil; w == "}" {
				in = 0
			}
		}
		line += strings.Count(w, "\n")
	}
	return jails[1:]
}

// jailProblems judges each jail with what the host has: a text with one parameter a line, by the rows of
// slips.txt for the file "jail".
func jailProblems(texts map[string]string) (all []fact.Problem) {
	const main = "/etc/jail.conf"
	var jails []jail
	shared, host := map[string]fact.Line{}, "\n"+texts["host"]+texts["/etc/sysctl.conf"]+"\n"+texts["/etc/rc.conf"]+"\n"+texts["/etc/devfs.rules"]
	add := func(file string) {
		for _, j := range readJails(file, texts[file], shared) {
			if file != main && path.Base(file) != j.Name+".conf" && !strings.Contains(texts[main], "include") {
				j.set["elsewhere"] = j.Line
			}
			jails, host = append(jails, j), "\nhost jail "+j.Name+host
		}
	}
	add(main)
	common := shared
	for _, file := range slices.Sorted(maps.Keys(texts)) {
		if shared = map[string]fact.Line{}; strings.Contains(texts[main], "include") {
			shared = maps.Clone(common)
		}
		if strings.HasPrefix(file, main+".d/") {
			add(file)
		}
	}
	for _, j := range jails {
		lines := j.lines()
		found, _ := fact.SlipsIn("jail", strings.Join(list.Map(lines, func(l fact.Line) string { return l.Name + "=" + l.Value }), "\n")+host)
		for _, p := range found {
			at := lines[min(p.Line, len(lines))-1]
			all = append(all, fact.Problem{File: at.File, Line: at.Number, Kind: p.Kind, Message: p.Message, Detail: j.Name})
		}
	}
	return all
}

// jailVariable matches a use of a variable.
var jailVariable = lazy.Regexp(`\$\w+|\$\{[\w.]+\}`)

// lines returns a jail's parameters, a line for each value, and at last its own.
func (j jail) lines() (lines []fact.Line) {
	filled := func(text string) string {
		return jailVariable().ReplaceAllStringFunc(text, func(v string) string {
			name := strings.Trim(v, "${}")
			return cmp.Or(map[string]string{"name": j.Name}[name], j.set["$"+name].Value, v)
		})
	}
	for _, name := range slices.Sorted(maps.Keys(j.set)) {
		l := j.set[name]
		for v := range strings.SplitSeq(filled(filled(l.Value)), ",") {
			l.Name, l.Value = name, strings.TrimSpace(strings.ReplaceAll(v, "\n", " "))
			if a, err := netip.ParseAddr(strings.Split(l.Value, "/")[0]); err == nil {
				l.Value = a.String()
			}
			lines = append(lines, l)
		}
	}
	return append(lines, j.Line)
}

// hostText has the host's interfaces, addresses and CARP groups, one a line; an empty one means that it
// may have others.
func hostText(h *network.Host) (text string) {
	for _, i := range h.Interfaces {
		for _, name := range []string{i.Name, strings.ReplaceAll(i.Name, "_", ".")} {
			text += "host interface " + name + "\n"
			for _, a := range i.Addresses {
				text += "host address " + a.Addr().String() + "\n"
				if a.Group != "" {
					text += "host group " + a.Group + "@" + name + "\n"
				}
			}
		}
	}
	for _, of := range []string{"interface", "address", "group"} {
		if !strings.Contains(text, "host "+of) || of == "address" && (h.Open[true] || h.Open[false]) {
			text += "host " + of + " \n"
		}
	}
	return text
}
