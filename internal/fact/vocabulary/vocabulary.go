// Package vocabulary knows the words of configuration files: the sections of a format, their keys, and
// the values that each takes. A format is a file of this directory; types.txt has kinds of values.
package vocabulary

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/fact/texts"
	"linerate/internal/hint"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// format is one format of files. Its keys are in lower case if the program ignores case.
type format struct {
	name      string
	files     []string
	form      string            // how statements are written: a name of forms
	flags     map[string]string // what the lines with @ say
	free      *regexp.Regexp    // "SECTION KEY" of what other programs or versions may know
	section   map[string]map[string]entry
	order     []string // sections as they come in the format
	relations []relation
}

// entry is a key as the manual writes it, with its values: see Accepts.
type entry struct{ name, values string }

// kinds are the named kinds of values, each with its pattern and its description.
var kinds = sync.OnceValue(func() map[string]kind {
	all := map[string]kind{}
	for _, row := range list.Rows(texts.Read("vocabulary/types.txt")) {
		all["<"+row[0]+">"] = kind{regexp.MustCompile(`^(?:` + row[1] + `)$`), row[2]}
	}
	return all
})

type kind struct {
	pattern *regexp.Regexp
	means   string
}

var formats = sync.OnceValue(func() (all []format) {
	for _, n := range texts.Below("vocabulary") {
		for _, one := range strings.Split(texts.Read(n), "\n@format ")[1:] {
			all = append(all, read(one, all))
		}
	}
	return all
})

// read parses a format. Below a line [SECTION …], of which "." is the main part of a file, each line has KEYs, and
// after a tab their values. A format may have the sections of one before it.
func read(text string, before []format) format {
	name, _, _ := strings.Cut(text, "\n")
	f := format{name: name, flags: map[string]string{}, section: map[string]map[string]entry{}}
	var in []string
	for _, line := range strings.Split(text, "\n")[1:] {
		keys, values, _ := strings.Cut(line, "\t")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '@':
			name, rest, _ := strings.Cut(line[1:], " ")
			f.flags[name] = rest
			if name == "relation" {
				f.relations = append(f.relations, relationOf(rest))
			}
		case line[0] == '[':
			in = strings.Fields(strings.Trim(line, "[]"))
			for _, s := range in {
				if f.section[s] == nil {
					f.section[s], f.order = map[string]entry{}, append(f.order, s)
				}
			}
		default:
			for _, k := range strings.Fields(keys) {
				for _, s := range in {
					f.section[s][f.folded(k)] = entry{k, values}
				}
			}
		}
	}
	if i := slices.IndexFunc(before, func(b format) bool { return b.name == f.flags["like"] }); i >= 0 {
		f.section, f.order = before[i].section, before[i].order
	}
	f.files, f.form = strings.Fields(f.flags["files"]), f.flags["form"]
	f.free = regexp.MustCompile(`^(?:` + f.flags["free"] + `)$`)
	return f
}

// own returns the words that a file itself declares.
func (f format) own(text string) map[string]bool {
	words := map[string]bool{}
	if pattern, ok := f.flags["own"]; ok {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			words[strings.Join(m[1:], "")] = true
		}
	}
	return words
}

func (f format) folded(word string) string {
	if _, fold := f.flags["fold"]; fold {
		return strings.ToLower(word)
	}
	return word
}

// Files returns the patterns of the files whose words are known.
func Files() (all []string) {
	for _, f := range formats() {
		all = append(all, f.files...)
	}
	return all
}

// unfinished matches a template's holes, and what a capture masks.
var unfinished = lazy.Regexp(`\{\{|\{%|@@|<%|` + regexp.QuoteMeta(redact.Mark))

// most is how many mistakes of a file are reported: one with more is of another format.
const most = 12

// Problems returns the words of a text (not of ciphertext) that its program does not know, with the word as text. Its place in
// the message may contain a secret, so it is "%s".
func Problems(file, text string) (all []fact.Problem) {
	for _, f := range formats() {
		if strings.Contains(text, "\x00") || f.form == "blocks" && (strings.Contains(text, "{{") || strings.Contains(text, "{%")) || !slices.ContainsFunc(f.files, func(p string) bool { return list.Globs(p, file) }) {
			continue
		}
		said, own := forms[f.form](f, text), f.own(text)
		all = append(all, f.related(file, said)...)
		for _, s := range said {
			kind := fact.ProblemRefused
			if _, refuses := f.flags["refuses"]; !refuses || f.passesOver(s) {
				kind = fact.ProblemIgnored
			}
			if word, message := f.judge(s); message != "" && len(all) < most && !slices.ContainsFunc(strings.Fields(s.key+" "+s.value), func(w string) bool { return own[w] }) {
				all = append(all, fact.Problem{File: file, Line: s.line, Kind: kind, Text: word, Message: message})
			}
		}
	}
	return all
}

// Lacking returns what statements lack or contradict: of each file together with its drop-ins, and of netplan's files together.
func Lacking(texts map[string]string) (all []fact.Problem) {
	for _, f := range formats() {
		said, unknown := map[string][]fact.Said{}, map[string]bool{}
		for _, file := range slices.Sorted(maps.Keys(texts)) {
			whole := strings.TrimSuffix(path.Dir(file), ".d")
			if whole == path.Dir(file) && whole != "/etc/netplan" {
				whole = file
			}
			if _, asks := f.flags["needs"]; !asks || !slices.ContainsFunc(f.files, func(p string) bool { return list.Globs(p, file) }) {
				continue
			}
			unknown[whole] = unknown[whole] || unfinished().MatchString(texts[file])
			said[whole] = append(said[whole], f.said(file, forms[f.form](f, texts[file]))...)
		}
		for _, whole := range slices.Sorted(maps.Keys(said)) {
			if !unknown[whole] {
				all = append(all, fact.Needs(f.name, said[whole])...)
			}
		}
	}
	return all
}

// said returns statements as rows of needs.txt see them. A mapping of YAML may be continued in another file.
func (f format) said(file string, all []statement) (said []fact.Said) {
	for _, s := range all {
		block := file + strconv.Itoa(s.block)
		if f.form == "yaml" && s.block >= 0 && all[s.block].key != "" {
			block = s.section
		}
		if text := strings.TrimPrefix(s.section+"."+s.key+"="+s.value, ".."); s.key != "" || s.section != "" {
			said = append(said, fact.Said{File: file, Line: s.line, Text: text, Block: block})
		}
	}
	return said
}

// judge returns what a program does not know of a statement, and why; "" if nothing.
func (f format) judge(s statement) (word, message string) {
	s.section = f.like(s.section)
	keys, known := f.section[s.section]
	if unfinished().MatchString(s.section + s.key + s.value) {
		return "", ""
	}
	if s.key == "" && s.value != "" {
		return s.value, map[string]string{"{": "a block is not closed: a { has no }", "}": "this } closes a block that no { opened"}[s.value]
	}
	if s.key == "" { // begins a section
		if known || f.form != "ini" || f.free.MatchString(s.section+" ") {
			return "", ""
		}
		return s.section, "[%s] is not a section of this file" + nearest(s.section, slices.Clone(f.order), "[", "]")
	}
	e, ok := keys[f.folded(s.key)]
	if _, any := keys["*"]; !known || any && !ok || !ok && f.free.MatchString(s.section+" "+s.key) {
		return "", ""
	}
	if _, near := f.flags["near"]; !ok && (!near || strings.Contains(f.stray(s), "did you mean")) { // else another program's
		return s.key, f.stray(s)
	}
	if !Accepts(e.values, s.value) && !(s.value == "" && f.form == "ini") {
		return s.value, fmt.Sprintf(`%s takes %s, not "%%s"`, e.name, means(e.values))
	}
	return "", ""
}

// like returns the section of the format that a file's section is, by its name or a pattern, or the name.
func (f format) like(section string) string {
	if _, ok := f.section[section]; !ok {
		for p := range f.section {
			if ok, _ := path.Match(p, section); ok {
				return p
			}
		}
	}
	return section
}

// passesOver reports whether the program only warns of a key that it knows elsewhere: where both sections are lenient.
func (f format) passesOver(s statement) bool {
	lenient := strings.Fields(f.flags["lenient"])
	_, here := f.section[s.section][f.folded(s.key)]
	return !here && slices.Contains(lenient, s.section) && slices.ContainsFunc(lenient, func(l string) bool { _, ok := f.section[l][f.folded(s.key)]; return ok })
}

// stray says where an unknown key belongs.
func (f format) stray(s statement) string {
	where, name, homes, names := f.place(s.section), "", []string{}, []string{}
	for _, section := range f.order {
		if e, ok := f.section[section][f.folded(s.key)]; ok && section != s.section && section[0] != '~' {
			name, homes = e.name, append(homes, f.place(section))
		}
	}
	for _, e := range f.section[s.section] {
		names = append(names, e.name)
	}
	if len(homes) == 0 {
		return "%s is not known in " + where + nearest(s.key, names, "", "")
	}
	return name + " does not belong in " + where + " but in " + strings.Join(homes[:min(len(homes), 3)], " or ")
}

// place names a section.
func (f format) place(section string) string {
	switch {
	case section == "." || section[0] == '~':
		return "the main part of the file"
	case f.form == "ini":
		return "[" + section + "]"
	}
	return section
}

func nearest(word string, known []string, before, after string) string {
	slices.Sort(known)
	if near := hint.Nearest(word, known, 1); len(near) > 0 {
		return ": did you mean " + before + near[0] + after + "?"
	}
	return ""
}

// Accepts reports whether a value is one of the alternatives of "A|B|<KIND>|1..9". After "+" each word of the value is
// judged, after "^" only the first.
func Accepts(values, value string) bool {
	words := []string{value}
	switch {
	case values == "" || values == "gone" || value == "" && values[0] == '^':
		return true
	case values[0] == '+':
		words, values = strings.Fields(value), values[1:]
	case values[0] == '^':
		words, values = strings.Fields(value + " x")[:1], values[1:]
	}
	return !slices.ContainsFunc(words, func(w string) bool {
		return !specifier().MatchString(w) && !slices.ContainsFunc(strings.Split(values, "|"), func(a string) bool { return alternative(a, w) })
	})
}

// specifier matches what a program replaces before it reads a value: $VARIABLE, %i.
var specifier = lazy.Regexp(`\$|%[a-zA-Z%]`)

func alternative(a, word string) bool {
	if k, ok := kinds()[a]; ok {
		return k.pattern.MatchString(word)
	}
	low, high, isRange := strings.Cut(a, "..")
	if n, err := strconv.ParseInt(word, 0, 64); isRange && err == nil {
		least, _ := strconv.ParseInt(low, 0, 64)
		greatest, _ := strconv.ParseInt(high, 0, 64)
		return n >= least && n <= greatest
	}
	return strings.EqualFold(a, word)
}

// means describes values for people.
func means(values string) string {
	all := list.Map(strings.Split(strings.TrimLeft(values, "+^"), "|"), func(a string) string {
		if k, ok := kinds()[a]; ok {
			return k.means
		}
		low, high, isRange := strings.Cut(a, "..")
		if isRange {
			return low + " to " + high
		}
		return a
	})
	if len(all) > 12 {
		all = append(all[:12], "…")
	}
	if n := len(all); n > 1 {
		return strings.Join(all[:n-1], ", ") + " or " + all[n-1]
	}
	return all[0]
}
