package declared

import (
	"path"
	"regexp"
	"strings"
)

// lineForms are the forms of files of lines.
var lineForms = map[string]string{"nix": "NixOS", "hcl": "Terraform", "toml": "Bottlerocket", "sh": "shell script", "conf": "template"}

// nixPackages pins a kernel.
var nixPackages = regexp.MustCompile(`linuxPackages_(\d+)_(\d+)`)

// readLines reads a file in which each setting stands on a line.
func readLines(name, text, lang string) []*Host {
	h := &Host{Form: lineForms[lang], Node: place(name)}
	if lang == "nix" {
		h.System = "nixos"
		if m := nixPackages.FindStringSubmatch(text); m != nil {
			h.System, h.Version = "kernel", m[1]+"."+m[2]
		}
	}
	r := lineReader{h: h, lang: lang, azure: lang == "hcl" && strings.Contains(text, "sysctl")}
	if lang == "conf" && !strings.Contains(text, "{{") && !strings.Contains(text, "{%") {
		return nil // a plain file: read as such
	}
	r.text(text)
	return []*Host{h}
}

// place is what a path tells of the hosts that it is for.
func place(name string) string {
	parts := strings.Split(path.Clean(name), "/")
	for i, p := range parts[:len(parts)-1] {
		switch p {
		case "group_vars", "host_vars", "hosts", "machines", "nodes", "roles":
			return strings.TrimSuffix(strings.TrimSuffix(parts[i+1], path.Ext(parts[i+1])), ".nix")
		}
	}
	return ""
}

// lineReader finds assignments in lines.
type lineReader struct {
	h     *Host
	lang  string
	where string // the key that holds the text
	azure bool
	list  bool // within NixOS' list of the kernel's parameters
	off   bool // within a comment of several lines
}

// text reads all lines.
func (r *lineReader) text(text string) {
	for i, raw := range strings.Split(text, "\n") {
		r.line(strings.TrimSpace(raw), i+1)
	}
}

// line reads one line.
func (r *lineReader) line(s string, at int) {
	if r.lang == "nix" && (strings.HasPrefix(s, "/*") || r.off) {
		r.off = !strings.Contains(s, "*/")
		return
	}
	if s == "" || s[0] == '#' || s[0] == ';' || strings.HasPrefix(s, "//") || strings.HasPrefix(s, "{#") || strings.HasSuffix(s, ">&2") || len(s) > 1<<14 {
		return
	}
	switch r.lang {
	case "nix":
		r.parameters(s, at)
		r.code(s, at)
	case "hcl", "toml":
		r.code(s, at)
	default:
		r.words(s, at)
	}
}

// words reads a line of sysctl.conf or of a shell.
func (r *lineReader) words(s string, at int) {
	if m := fullLine.FindStringSubmatch(s); m != nil && s[0] != '"' && s[0] != '\'' && (m[2] == "=" || r.lang == "template") {
		r.h.set(m[1], plain(m[3]), r.where, at)
		return
	}
	if m := moduleWords.FindStringSubmatch(s); m != nil {
		r.h.set(m[1], m[2]+m[3]+m[4], r.where, at)
		return
	}
	if m := echoed.FindStringSubmatch(s); m != nil {
		r.h.set(strings.ReplaceAll(m[2], "/", "."), m[1], r.where, at)
	}
	rest := quotedWord.ReplaceAllStringFunc(s, func(w string) string {
		if m := quotedWord.FindStringSubmatch(w); m[1] == m[4] {
			r.h.set(m[2], m[3], r.where, at)
			return ""
		}
		return w
	})
	for _, m := range inWords.FindAllStringSubmatch(rest, 64) {
		r.h.set(m[2], plain(m[3]), r.where, at)
	}
}

// code reads a line of Nix, HCL or TOML. In them a bare word is a variable.
func (r *lineReader) code(s string, at int) {
	found := codeSet.FindAllStringSubmatch(s, 64)
	for _, m := range found {
		value, literal := literally(m[2])
		switch {
		case value == "null" || strings.HasPrefix(value, "{") || strings.HasPrefix(value, "mkOption"):
		case literal:
			r.h.set(m[1], value, r.where, at)
		default:
			r.h.Unresolved = append(r.h.Unresolved, Unresolved{m[1], at, "its value is an expression: " + short(value)})
		}
	}
	if len(found) > 0 || !r.azure {
		return
	}
	if m := aksSet.FindStringSubmatch(s); m != nil {
		if name, ok := azure(m[1]); ok {
			r.azureSet(m[1], name, strings.TrimSpace(m[2]), at)
		}
	}
}

// azureSet reads a key of sysctl_config; optional(number) declares the type of one.
func (r *lineReader) azureSet(key, name, value string, at int) {
	value, literal := literally(value)
	switch {
	case strings.HasPrefix(value, "optional(") || value == "null" || value == "number" || value == "string":
	case strings.Contains(key, "port_range_"):
		r.h.Unresolved = append(r.h.Unresolved, Unresolved{name, at, "its two numbers stand in two keys"})
	case literal:
		r.h.set(name, value, "sysctl_config", at)
	case hclExpression.MatchString(value): // else prose about the key
		r.h.Unresolved = append(r.h.Unresolved, Unresolved{name, at, "its value is an expression: " + short(value)})
	}
}

// hclExpression begins with what Terraform looks up.
var hclExpression = regexp.MustCompile(`^(var|local|each|data|module|try|lookup|coalesce|merge|null_resource)\b`)

// parameters reads words of NixOS' boot.kernelParams.
func (r *lineReader) parameters(s string, at int) {
	if i := strings.Index(s, "kernelParams"); i >= 0 {
		r.list, s = true, s[i:]
	}
	if !r.list {
		return
	}
	words, _, ends := strings.Cut(s, "]")
	for _, m := range nixString.FindAllStringSubmatch(words, 256) {
		if !variable.MatchString(m[1]) {
			r.h.add(commandLine, m[1], "boot.kernelParams", at)
		}
	}
	r.list = !ends && !strings.HasSuffix(s, ";")
}

var nixString = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)

// commandLine is where kernel-install keeps the kernel's parameters.
const commandLine = "/etc/kernel/cmdline"

// literally is a value of a language with strings; ok is false for an expression.
func literally(s string) (value string, ok bool) {
	s = strings.TrimSpace(s)
	s = strings.TrimSpace(nixWraps.ReplaceAllString(strings.TrimPrefix(s, "("), ""))
	s = strings.TrimSpace(strings.TrimSuffix(s, ")"))
	switch {
	case len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"':
		return s[1 : len(s)-1], true
	case s == "true":
		return "1", true
	case s == "false":
		return "0", true
	}
	return s, number.MatchString(s)
}

// plain is a value of a shell or of sysctl.conf without quotes.
func plain(s string) string {
	s = strings.TrimSpace(s)
	if n := len(s); n > 1 && (s[0] == '"' || s[0] == '\'') {
		if i := strings.IndexByte(s[1:], s[0]); i >= 0 {
			return s[1 : i+1]
		}
	}
	return strings.Trim(s, `"'`)
}
