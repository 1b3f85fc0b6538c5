package linux

import (
	"path"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// tunedDirs lists the directories of TuneD profiles, the administrator's first.
var tunedDirs = []string{"/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles", "/usr/lib/tuned"}

// ReadTuned reads the sysctls of TuneD's active profiles, merged like TuneD does: first those of
// included profiles, then the profile's own options. TuneD starts after sysctl.d and then applies
// /etc/sysctl.d, /run/sysctl.d and /etc/sysctl.conf again unless reapply_sysctl=0: their values
// win, except for names in reapply_sysctl_exclude.
func ReadTuned(files fact.Files, set func(name string) bool) Config {
	var c Config
	text, err := files.Read("/etc/tuned/active_profile")
	if err != nil {
		return c
	}
	t := tuned{files: files, seen: map[string]bool{}}
	for _, profile := range strings.Fields(text) {
		t.profile(profile)
	}
	c.Lines = t.lines()
	var mine []string
	main, _ := files.Read("/etc/tuned/tuned-main.conf") // if missing there are no keys
	for _, e := range ini(main) {
		switch {
		case e.key == "reapply_sysctl" && onOff[strings.ToLower(e.value)] == "0":
			return c
		case e.key == "reapply_sysctl_exclude":
			mine = strings.FieldsFunc(e.value, func(r rune) bool { return strings.ContainsRune(",; ", r) })
		}
	}
	for i, l := range c.Lines {
		excluded := slices.ContainsFunc(mine, func(p string) bool { ok, _ := path.Match(p, l.Name); return ok })
		if set(l.Name) && !excluded {
			c.Lines[i].Effective, c.Lines[i].Note = false, "tuned applies sysctl.d again after its profile"
		}
	}
	return c
}

// tuned merges profiles.
type tuned struct {
	files fact.Files
	seen  map[string]bool
	units []*tunedUnit
	vars  []string // $name, value, … for a strings.Replacer
}

// tunedUnit is a section of a profile: an instance of a plug-in.
type tunedUnit struct {
	name, plugin string
	off          bool
	options      []tunedOption
}

type tunedOption struct {
	entry
	file, profile string
}

// maxProfiles is the maximum number of profiles included by each other.
const maxProfiles = 32

func (t *tuned) profile(name string) {
	if t.seen[name] || len(t.seen) > maxProfiles || name == "" || path.Base(name) != name {
		return
	}
	t.seen[name] = true
	p, text, _ := fact.FirstText(t.files, list.Map(tunedDirs, func(dir string) string { return dir + "/" + name + "/tuned.conf" })...)
	t.file(p, name, text)
}

// file merges a profile's text: its includes, then its own options over those of the same section.
func (t *tuned) file(p, profile, text string) {
	entries := ini(text)
	for i := range entries {
		entries[i].value = strings.TrimSpace(inlineComment().ReplaceAllString(entries[i].value, ""))
	}
	for _, e := range entries {
		if e.section == "main" && e.key == "include" {
			for _, more := range strings.FieldsFunc(e.value, func(r rune) bool { return r == ',' || r == ' ' }) {
				t.profile(strings.TrimPrefix(more, "-"))
			}
		}
	}
	fresh := map[string]bool{}
	for _, e := range entries {
		switch {
		case e.section == "main":
		case e.section == "variables":
			t.vars = append(t.vars, "${"+e.key+"}", t.expand(e.value))
		case e.key == "replace" && onOff[strings.ToLower(e.value)] == "1" && !fresh[e.section]:
			t.unit(e.section).options = nil
		default:
			t.unit(e.section).option(tunedOption{e, p, profile})
		}
		fresh[e.section] = true
	}
}

// inlineComment matches a comment after a value: TuneD's parser treats # after a blank as one.
var inlineComment = lazy.Regexp(`(^|[ \t]+)#.*$`)

// unit returns the section with a name, creating it if needed.
func (t *tuned) unit(name string) *tunedUnit {
	if u, ok := list.Find(t.units, func(u *tunedUnit) bool { return u.name == name }); ok {
		return u
	}
	u := &tunedUnit{name: name, plugin: name}
	t.units = append(t.units, u)
	return u
}

// option sets one option, overriding included profiles.
func (u *tunedUnit) option(o tunedOption) {
	switch o.key {
	case "type":
		u.plugin = o.value
		return
	case "enabled":
		u.off = onOff[strings.ToLower(o.value)] == "0"
		return
	case "drop": // options of included profiles to remove
		for _, key := range strings.FieldsFunc(o.value, func(r rune) bool { return r == ',' || r == ' ' }) {
			u.drop(key)
		}
		return
	}
	u.drop(o.key)
	if len(u.options) < fact.MaxLines {
		u.options = append(u.options, o)
	}
}

// drop removes an option.
func (u *tunedUnit) drop(key string) {
	u.options = slices.DeleteFunc(u.options, func(x tunedOption) bool { return x.key == key })
}

// expand substitutes variables in a value.
func (t *tuned) expand(value string) string {
	for range 4 { // variables may contain others
		if !strings.Contains(value, "${") {
			break
		}
		value = strings.NewReplacer(t.vars...).Replace(value)
	}
	return value
}

// tunedOptions maps plug-ins whose options set tunables to the tunables of their options; nil means
// that the option is the tunable's name.
var tunedOptions = map[string]map[string]string{
	"sysctl": nil, "sysfs": nil,
	"vm": {"transparent_hugepages": "/sys/kernel/mm/transparent_hugepage/enabled", "transparent_hugepage": "/sys/kernel/mm/transparent_hugepage/enabled"},
}

// lines returns the settings of the merged profiles. TuneD strips quotes from values, and with "=>"
// and "=<" writes them only if they are greater, or less, than the current value.
func (t *tuned) lines() []fact.Line {
	var all []fact.Line
	for _, u := range t.units {
		names, known := tunedOptions[u.plugin]
		for _, o := range u.options {
			value, name := t.expand(unquote(o.value)), o.key
			if names != nil {
				name = names[o.key]
			}
			hidden := value != o.value && strings.Contains(value, redact.Mark) // a variable's value, which may be a number
			if !known || u.off || hidden || strings.Contains(value, "${") || !validName(name) || len(all) >= fact.MaxLines {
				continue
			}
			l := fact.Line{File: o.file, Number: o.number, Text: o.text, Stage: fact.Conf, Order: len(all) + 1, Effective: true, Note: "by tuned's profile " + o.profile}
			if len(value) > 1 && (value[:1] == fact.Raise || value[:1] == fact.Lower) {
				l.Only, value = value[:1], value[1:]
			}
			l.Name, l.Value = name, strings.TrimSpace(value)
			if u.plugin == "sysctl" {
				l.Name = Name(name)
			}
			all = append(all, l)
		}
	}
	return all
}

// unquote strips one pair of quotes from a value.
func unquote(s string) string {
	if n := len(s); n > 1 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}
