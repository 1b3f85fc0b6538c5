package declared

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"linerate/internal/lazy"
)

// lineForms maps languages of line-based files to their forms.
var lineForms = map[string]string{"nix": "NixOS", "hcl": "Terraform", "toml": "Bottlerocket", "sh": "shell script", "conf": "template", "puppet": "puppet", "list": "sysctls"}

// nixPackages matches a pinned kernel.
var nixPackages = lazy.Regexp(`linuxPackages_(\d+)_(\d+)`)

// readLines reads a file with one setting per line.
func readLines(name, text, lang string) []*Host {
	h := &Host{Form: lineForms[lang], Node: place(name)}
	if lang == "nix" {
		h.System = "nixos"
		if m := nixPackages().FindStringSubmatch(text); m != nil {
			h.System, h.Version = "kernel", m[1]+"."+m[2]
		}
	}
	r := lineReader{h: h, lang: lang}
	if lang == "conf" {
		r.of = path.Base(name) // loader.conf.j2 is the loader's
	}
	if lang == "conf" && !directive().MatchString(text) && !templates().MatchString(name) || lang == "sh" && strings.Contains(text, "/etc/rc.subr") {
		return nil // a plain file is read elsewhere; what a script of rc.d does depends on rc.conf
	}
	r.text(text)
	return r.hosts()
}

// place returns what a path says about the target hosts.
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
	where string // key that contains the text
	list  string // unfinished list of NixOS: kernel parameters or modules
	off   bool   // inside a multi-line comment
	name  string // Puppet resource whose value follows
	box   *Host  // container that a line starts
	here  string // word that ends a here-document, "" outside
	of    string // line that began it
}

// hosts returns the host, and the container that its lines start.
func (r *lineReader) hosts() []*Host {
	if r.box == nil {
		return []*Host{r.h}
	}
	return []*Host{r.h, r.box}
}

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
	switch {
	case r.lang == "nix" && !strings.Contains(s, "/proc/sys/"):
		r.parameters(s, at)
		r.code(strings.TrimPrefix(nixSysctl().ReplaceAllString(s, ""), "{"), at)
	case r.lang == "puppet":
		r.resource(s, at)
		r.code(s, at)
	case r.lang == "hcl" && !shellWord().MatchString(s), r.lang == "toml":
		r.code(s, at)
	default:
		r.words(s, at)
	}
}

var (
	// nixSysctl matches the beginning of a set of sysctls, with the first one on the line.
	nixSysctl = lazy.Regexp(`^.*\bkernel\.sysctl\s*=\s*`)
	// shellWord matches a command in a text that another program runs.
	shellWord = lazy.Regexp(`\b(?:sysctl\s|echo|tee|printf)\b`)
	// hereText matches the beginning of a here-document, toldText one that is only printed.
	hereText = lazy.Regexp(`<<-?\s*["']?(\w+)`)
	toldText = lazy.Regexp(`^cat\s*<<[^>|]*$`)
	// boxed matches a command that starts a container with a sysctl: docker run, podman's quadlets.
	boxed = lazy.Regexp(`-{2}sysctl[= ]|^Sysctl=`)
	// puppetName and puppetValue match a resource of a sysctl type.
	puppetName  = lazy.Regexp(`["'](` + sysctlName + `)["']\s*:`)
	puppetValue = lazy.Regexp(`\bval(?:ue)?\s*=>\s*("[^"]*"|'[^']*'|\[[^\]]*\]|[^,}\s]+)`)
)

// resource reads a Puppet resource, whose title is the name of a sysctl.
func (r *lineReader) resource(s string, at int) {
	if m := puppetName().FindStringSubmatch(s); m != nil {
		r.name = m[1]
	}
	if m := puppetValue().FindStringSubmatch(s); m != nil && r.name != "" {
		r.assign(r.name, m[1], at)
	} else if !strings.HasSuffix(s, "}") {
		return
	}
	r.name = ""
}

// words reads a line of sysctl.conf or of a shell script.
func (r *lineReader) words(s string, at int) {
	if boxed().MatchString(s) {
		if r.box == nil {
			box := *r.h
			box.Container, box.Files, box.Unresolved, box.settings = Docker, nil, nil, 0
			r.box = &box
		}
		in := lineReader{h: r.box, where: r.where}
		in.words(boxed().ReplaceAllString(s, " "), at)
		return
	}
	if told().MatchString(s) {
		return
	}
	if m := hereText().FindStringSubmatch(s); m != nil {
		r.here, r.of = m[1], s
	} else if s == r.here {
		r.here, r.of = "", ""
	}
	if toldText().MatchString(r.of) {
		return
	}
	r.h.loader = strings.Contains(r.of+s, "loader")
	s = strings.TrimSpace(strings.TrimSuffix(asked().ReplaceAllString(s, ""), `\`))
	if r.lang == "sh" && r.here == "" && bsdName().MatchString(s) {
		return // a multi-line text: its destination is unknown
	}
	if m := fullLine().FindStringSubmatch(s); m != nil && s[0] != '"' && s[0] != '\'' && (m[2] == "=" || r.lang == "template") {
		r.h.set(m[1], plain(m[3]), r.where, at)
		return
	}
	if m := moduleWords().FindStringSubmatch(s); m != nil {
		r.h.set(m[1], m[2]+m[3]+m[4], r.where, at)
		return
	}
	if m := echoed().FindStringSubmatch(s); m != nil {
		r.h.set(strings.ReplaceAll(m[2], "/", "."), m[1], r.where, at)
	}
	for _, form := range []*regexp.Regexp{echoedLine(), replaced()} {
		if m := form.FindStringSubmatch(s); m != nil {
			r.h.set(m[1], m[2], r.where, at)
		}
	}
	rest := quotedWord().ReplaceAllStringFunc(s, func(w string) string {
		if m := quotedWord().FindStringSubmatch(w); m[1] == m[4] {
			r.h.set(m[2], m[3], r.where, at)
			return ""
		}
		return w
	})
	for _, m := range inWords().FindAllStringSubmatch(rest, 64) {
		r.h.set(m[2], plain(m[3]), r.where, at)
	}
}

// code reads a line of Nix, HCL, TOML or Puppet, in which a bare word is a variable.
func (r *lineReader) code(s string, at int) {
	found := codeSet().FindAllStringSubmatch(s, 64)
	for _, m := range found {
		r.assign(m[1], m[2], at)
	}
	if len(found) > 0 || r.lang != "hcl" {
		return
	}
	if m := aksSet().FindStringSubmatch(s); m != nil {
		if name, ok := azure(m[1]); ok {
			r.azureSet(m[1], name, strings.TrimSpace(m[2]), at)
		}
	}
}

// assign sets a name to a value in language syntax.
func (r *lineReader) assign(name, text string, at int) {
	switch value, literal := literally(text); {
	case value == "null" || value == "undef" || strings.HasPrefix(value, "{") || strings.HasPrefix(value, "mkOption"):
	case literal:
		r.h.set(name, value, r.where, at)
	default:
		r.h.expression(name, value, at)
	}
}

// azureSet reads a key of sysctl_config; optional(number) declares the type of one.
func (r *lineReader) azureSet(key, name, value string, at int) {
	value, literal := literally(value)
	switch {
	case literal && !strings.ContainsAny(value, " ("): // else it is prose about the key
		r.h.azureSet(key, name, value, "sysctl_config", at)
	case hclExpression().MatchString(value):
		r.h.expression(name, value, at)
	}
}

// hclExpression matches the beginning of a Terraform reference.
var hclExpression = lazy.Regexp(`^(?:try|lookup|coalesce|merge)\(|^[a-z_]+\.[a-z_]`)

// nixLists maps lists in NixOS to the files to which they add lines.
var nixLists = map[string]string{"kernelParams": commandLine, "kernelModules": modulesFile}

// parameters reads words of NixOS' boot.kernelParams and boot.kernelModules.
func (r *lineReader) parameters(s string, at int) {
	for key := range nixLists {
		if i := strings.Index(s, key); i >= 0 {
			r.list, s = key, s[i:]
		}
	}
	if r.list == "" {
		return
	}
	words, _, ends := strings.Cut(s, "]")
	for _, m := range nixString().FindAllStringSubmatch(words, 256) {
		if !variable().MatchString(m[1]) {
			r.h.add(nixLists[r.list], m[1], "boot."+r.list, at)
		}
	}
	if ends || strings.HasSuffix(s, ";") {
		r.list = ""
	}
}

var nixString = lazy.Regexp(`"((?:[^"\\]|\\.)*)"`)

// commandLine is the file in which kernel-install keeps the kernel parameters.
const commandLine = "/etc/kernel/cmdline"

// modulesFile and modprobeFile are for declared modules and their parameters.
const modulesFile, modprobeFile = "/etc/modules-load.d/declared.conf", "/etc/modprobe.d/declared.conf"

// literally returns a literal value of a language with strings; ok is false for an expression.
func literally(s string) (value string, ok bool) {
	s = strings.TrimSpace(s)
	s = strings.TrimSpace(nixWraps().ReplaceAllString(strings.TrimPrefix(s, "("), ""))
	s = strings.TrimSpace(strings.TrimSuffix(s, ")"))
	if strings.Count(s, `"`) == 1 {
		s = strings.TrimSuffix(s, `"`) // of a word around the assignment
	}
	switch {
	case len(s) > 3 && strings.HasPrefix(s, "''") && strings.HasSuffix(s, "''"): // Nix
		return s[2 : len(s)-2], true
	case len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0]:
		return s[1 : len(s)-1], true
	case list().MatchString(s):
		return strings.Join(strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune("[], \t\"'", c) }), " "), true
	case product().MatchString(s):
		n := 1
		for f := range strings.SplitSeq(s, "*") {
			m, _ := strconv.Atoi(strings.TrimSpace(f))
			n *= m
		}
		return strconv.Itoa(n), true
	case s == "true":
		return "1", true
	case s == "false":
		return "0", true
	}
	return s, number().MatchString(s)
}

var (
	// list matches a Puppet list of numbers.
	list = lazy.Regexp(`^\[[\d\s,"'-]*\]$`)
	// product matches sizes written as products: 16 * 1024 * 1024.
	product = lazy.Regexp(`^\d{1,9}(\s*\*\s*\d{1,6}){1,2}$`)
)

// plain returns a value of a shell script or of sysctl.conf without quotes.
func plain(s string) string {
	s = strings.TrimSpace(s)
	if n := len(s); n > 1 && (s[0] == '"' || s[0] == '\'') {
		if i := strings.IndexByte(s[1:], s[0]); i >= 0 {
			return s[1 : i+1]
		}
	}
	return strings.Trim(s, `"'`)
}
