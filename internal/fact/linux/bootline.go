package linux

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// ReadCommandLine parses a kernel command line: the running one, or a file with nothing else. Names
// are cmdline.<parameter>.
func ReadCommandLine(p, text string) []fact.Line {
	var lines []fact.Line
	for i, raw := range fact.Lines(text) {
		if s := strings.TrimSpace(raw); s == "" || s[0] != '#' {
			lines = bootWords(lines, fact.Line{File: p, Number: i + 1, Text: raw}, raw)
		}
	}
	return lines
}

// maxWords is the maximum number of parameters; the kernel's command line is limited to some thousand bytes.
const maxWords = 4096

func bootWords(lines []fact.Line, at fact.Line, words string) []fact.Line {
	for _, w := range strings.Fields(words) {
		name, value, _ := strings.Cut(w, "=")
		if validName(name) && !strings.ContainsAny(name, "${}") && len(lines) < maxWords {
			l := at
			l.Name, l.Value, l.Stage, l.Order, l.Effective, l.Default = parameter(name), value, fact.CommandLine, len(lines)+1, true, slices.Contains([]string{"mitigations=auto", "selinux=1"}, w)
			lines = append(lines, l)
		}
	}
	return lines
}

// parameter returns the name of what a parameter sets: a sysctl that is set before init starts
// (sysctl.NAME=), else the parameter itself.
func parameter(word string) string {
	if name, ok := strings.CutPrefix(word, "sysctl."); ok {
		return Name(name)
	}
	return "cmdline." + word
}

// Replaced is the note for GRUB parameters that a later line overrides by assigning the variable
// again.
const Replaced = "a later line sets the variable again"

// NotDebian is the note for parameters in /etc/default/grub.d if GRUB is not Debian's.
const NotDebian = "only GRUB of Debian and its kin reads grub.d"

// grub is what /etc/default/grub and its drop-ins pass to the kernel.
type grub struct {
	words map[string][]fact.Line
	// blscfg means that menu entries are files of kernel-install.
	blscfg, found bool
}

// grubVariables lists the variables for normal boots, in the order in which 10_linux puts them on
// the command line: the kernel uses the last of duplicates.
var grubVariables = []string{"GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT"}

// grubAssignment matches NAME=value or NAME+=value in shell syntax.
var grubAssignment = lazy.Regexp(`^\s*(?:export\s+)?([A-Z_]+)(\+?)=(.*)$`)

// file reads one file like the shell, as far as possible without a shell.
func (g *grub) file(p, text string) {
	g.found = true
	for i, raw := range fact.Lines(text) {
		m := grubAssignment().FindStringSubmatch(raw)
		if m == nil {
			continue
		}
		value := strings.Join(asTheShellReads().FindStringSubmatch(m[3])[1:], "")
		switch {
		case m[1] == "GRUB_ENABLE_BLSCFG":
			g.blscfg = strings.EqualFold(value, "true")
		case slices.Contains(grubVariables, m[1]):
			g.assign(m[1], m[2] == "+" || keeps(m[1], value), fact.Line{File: p, Number: i + 1, Text: raw}, value)
		}
	}
}

// asTheShellReads matches a value as the shell reads it: up to its closing quote, or without quotes up to
// the first blank; the rest is a comment.
var asTheShellReads = lazy.Regexp(`^\s*(?:"((?:[^"\\]|\\.)*)|'([^']*)|(\S*))`)

// keeps reports whether a value contains the variable's old one.
func keeps(name, value string) bool {
	return regexp.MustCompile(`\$\{?` + name + `(?:[^_A-Z]|$)`).MatchString(value)
}

func (g *grub) assign(name string, keep bool, at fact.Line, value string) {
	words := g.words[name]
	for i := len(words) - 1; !keep && i >= 0 && words[i].Effective; i-- { // earlier ones are already marked as replaced
		words[i].Effective, words[i].Note = false, Replaced
	}
	g.words[name] = bootWords(words, at, value)
}

// ReadBootLine reads the command line of the next boot. GRUB's variables are shell variables: the
// last assignment wins, and the drop-ins of Debian's GRUB are read after the file. If the menu
// consists of kernel-install's entries (BLS), or there is no GRUB, kernel-install's own file
// decides (kernel-install(8)); else GRUB does. "sysctl.x.y=1" sets a sysctl before init starts.
func ReadBootLine(files fact.Files) Config {
	paths := []string{"/etc/default/grub"}
	dropped := dropIns(files, ".cfg", "/etc/default/grub.d")
	if likeDebian(files) {
		paths, dropped = append(paths, dropped...), nil
	}
	g, unheard := readGrub(files, paths), readGrub(files, dropped)
	menu, entries := g.menu(), installedLine(files)
	if g.found && !g.blscfg {
		menu, entries = entries, menu
	}
	newest := entryLine(files)
	lost := g.lost(newest)
	menu = slices.DeleteFunc(slices.Concat(menu, entries), func(l fact.Line) bool { // the entry repeats what it was made from
		return slices.ContainsFunc(newest, func(e fact.Line) bool { return e.Name == l.Name && e.Value == l.Value })
	})
	return Config{Lines: fact.InOrder(slices.Concat(idle(unheard.menu(), NotDebian), menu, newest)), Problems: lost}
}

// lost returns the first parameter of GRUB's variables that the entry which boots does not have; an
// entry without a root is not read whole.
func (g *grub) lost(entry []fact.Line) []fact.Problem {
	has := func(name string) bool {
		return slices.ContainsFunc(entry, func(e fact.Line) bool { return e.Name == name })
	}
	l, found := list.Find(g.menu(), func(l fact.Line) bool { return l.Effective && !l.Default && !has(l.Name) })
	if !found || !g.blscfg || !has("cmdline.root") {
		return nil
	}
	return []fact.Problem{{File: l.File, Line: l.Number, Kind: fact.ProblemSlip, Message: "grub-entry", Detail: strings.TrimPrefix(l.Name, "cmdline.")}}
}

// entryLine returns the options of the boot loader's newest entry (BLS); GRUB keeps its variable
// kernelopts in grubenv.
func entryLine(files fact.Files) []fact.Line {
	paths := slices.DeleteFunc(dropIns(files, ".conf", "/boot/loader/entries", "/efi/loader/entries", "/boot/efi/loader/entries"), func(p string) bool { return strings.Contains(p, "rescue") })
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	if len(paths) == 0 {
		return nil
	}
	var lines []fact.Line
	_, env, _ := fact.FirstText(files, "/boot/grub2/grubenv")
	_, kept, _ := strings.Cut("\n"+env, "\nkernelopts=")
	kept, _, _ = strings.Cut(kept, "\n")
	p := paths[len(paths)-1]
	text, _ := files.Read(p)
	for i, raw := range fact.Lines(text) {
		if words, ok := strings.CutPrefix(strings.TrimSpace(raw), "options"); ok {
			lines = bootWords(lines, fact.Line{File: p, Number: i + 1, Text: raw}, strings.ReplaceAll(words, "$kernelopts", kept))
		}
	}
	return lines
}

// readGrub reads the file and its drop-ins.
func readGrub(files fact.Files, paths []string) *grub {
	g := &grub{words: map[string][]fact.Line{}}
	for p, text := range fact.Texts(files, paths...) {
		g.file(p, text)
	}
	return g
}

// menu returns the parameters of normal boots.
func (g *grub) menu() []fact.Line {
	return slices.Concat(g.words[grubVariables[0]], g.words[grubVariables[1]])
}

// idle marks lines as ineffective, with the reason.
func idle(lines []fact.Line, why string) []fact.Line {
	for i := range lines {
		lines[i].Effective, lines[i].Note = false, why
	}
	return lines
}

// likeDebian reports whether a system is Debian or a derivative, or does not say.
func likeDebian(files fact.Files) bool {
	like, says := likeAny(files, "debian", "ubuntu")
	return like || !says
}

// likeAny reports whether a system is, or is like, one of the distributions, and whether it says
// what it is.
func likeAny(files fact.Files, distributions ...string) (like, says bool) {
	names, says := osRelease(files)
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(distributions, n) }), says
}

// Distribution returns the ID of os-release, "" if there is none.
func Distribution(files fact.Files) string {
	if names, _ := osRelease(files); len(names) > 0 {
		return names[0]
	}
	return ""
}

// osRelease returns what a system is, first, and what it is like.
func osRelease(files fact.Files) (names []string, says bool) {
	_, text, says := fact.FirstText(files, "/etc/os-release", "/usr/lib/os-release")
	said := assigned(strings.ToLower(text))
	if id, ok := said["id"]; ok {
		names = append(names, id)
	}
	return append(names, strings.Fields(said["id_like"])...), says
}

// assigned parses assignments of variables, as in os-release(5).
func assigned(text string) map[string]string {
	said := map[string]string{}
	for _, l := range fact.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(l), "="); ok {
			said[key] = strings.Trim(value, `"' `)
		}
	}
	return said
}

// installedLine returns the line that kernel-install writes into new entries.
func installedLine(files fact.Files) []fact.Line {
	p, text, _ := fact.FirstText(files, "/etc/kernel/cmdline", "/usr/lib/kernel/cmdline")
	return ReadCommandLine(p, text)
}
