package freebsd

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/lazy"
)

// The settings of /boot/defaults/loader.conf, if a tree lacks it (stand/defaults/loader.conf).
const (
	loaderDefaults  = "/boot/defaults/loader.conf"
	stdLoaderFiles  = "/boot/device.hints /boot/loader.conf"
	stdLoaderLocal  = "/boot/loader.conf.local"
	stdLoaderDirs   = "/boot/loader.conf.d"
	stdNextbootConf = "/boot/nextboot.conf"
)

// ReadLoader reads the loader's configuration in the loader's own order: the defaults; each file of
// their loader_conf_files, followed immediately by those that it names itself in loader_conf_files;
// then *.conf of loader_conf_dirs; then local_loader_conf_files, if the defaults have it; then
// nextboot.conf if enabled (stand/lua/config.lua; FreeBSD 11 and the Forth loader:
// stand/forth/support.4th).
func ReadLoader(files fact.Files, rel release.Release) Config {
	l := &loader{files: files, forth: rel.Major > 0 && rel.Major < 12, env: map[string]string{}, seen: map[string]bool{}, values: loaderValue(`(.*)`)}
	switch {
	case l.forth:
		l.values = loaderValue(`((?:\\.|[^"\\])*)`)
	case rel.Major == 12:
		l.values = loaderValue(`([^"]*)`)
	}
	hasDefaults := l.file(loaderDefaults)
	if !hasDefaults {
		l.standard(rel)
		l.included(loaderDefaults, 0)
	}
	l.dirs()
	for _, path := range strings.Fields(l.env["local_loader_conf_files"]) {
		l.file(path)
	}
	l.nextboot()
	l.ignored()
	return l.Config
}

// standard sets the defaults of a release. Since 14.1 loader.conf.local is read after loader.conf.d
// (14.0's own defaults lack local_loader_conf_files, later 14 trees have it); before, it was read
// first.
func (l *loader) standard(rel release.Release) {
	l.env["loader_conf_files"] = stdLoaderFiles
	if rel.IsZero() || rel.AtLeast(14, 1) {
		l.env["local_loader_conf_files"] = stdLoaderLocal
	} else {
		l.env["loader_conf_files"] += " " + stdLoaderLocal
	}
	if !l.forth {
		l.env["loader_conf_dirs"] = stdLoaderDirs
	}
	l.env["nextboot_conf"] = stdNextbootConf
}

// loader is the state of reading the configuration.
type loader struct {
	Config
	files fact.Files
	forth bool // the loader of FreeBSD 11
	// values matches a value. Since 13 the last quote on the line ends it, before that the first;
	// Forth supports backslashes.
	values *regexp.Regexp
	env    map[string]string
	seen   map[string]bool
	depth  int
}

// file reads one file and then those it names; it returns false if it does not exist.
func (l *loader) file(path string) bool {
	if l.seen[path] || len(l.seen) >= maxFiles || l.depth >= maxDepth {
		return true
	}
	l.seen[path] = true
	text, err := l.files.Read(path)
	if err != nil {
		return false
	}
	delete(l.env, "loader_conf_files") // config.readConf clears it before each file
	if strings.HasSuffix(path, ".lua") {
		l.Problems = append(l.Problems, fact.Problem{File: path, Line: 1, Kind: fact.ProblemUnreadable,
			Text: firstLine(text), Message: "a Lua file: what it sets is known to the loader only"})
		return true
	}
	l.parse(path, text)
	l.included(path, l.depth+1)
	return true
}

// included reads the files in loader_conf_files after a file was read.
func (l *loader) included(path string, depth int) {
	names, ok := l.env["loader_conf_files"]
	if !ok {
		return
	}
	was := l.depth
	optional := strings.Fields(stdLoaderFiles + " " + stdLoaderLocal)
	l.depth = depth
	for _, name := range strings.Fields(names) {
		if !l.file(name) && !slices.Contains(optional, name) && path != loaderDefaults {
			l.Problems = append(l.Problems, fact.Problem{File: path, Kind: fact.ProblemInclude,
				Text: "loader_conf_files=\"" + names + "\"", Message: name + " is not there"})
		}
	}
	l.depth = was
}

// dirs reads *.conf of each directory. The loader reads them in directory order, which no tool
// shows; name order is the best guess.
func (l *loader) dirs() {
	if l.forth {
		return
	}
	for _, dir := range strings.Fields(l.env["loader_conf_dirs"]) {
		names, _ := l.files.List(dir) // none if missing
		for _, n := range names {
			if strings.HasSuffix(n, ".conf") {
				l.file(strings.TrimSuffix(dir, "/") + "/" + n)
			}
		}
	}
}

// nextboot reads the one-shot file if it is enabled.
func (l *loader) nextboot() {
	path := l.env["nextboot_conf"]
	if path == "" {
		return
	}
	text, err := l.files.Read(path)
	if err != nil || strings.HasPrefix(text, `nextboot_enable="NO"`) {
		return
	}
	l.parse(path, text)
}

// ignored reports files next to loader.conf that the loader never opens.
func (l *loader) ignored() {
	l.Ignored = append(l.Ignored, neighbours(l.files, "/boot", "loader.conf", l.seen, "the loader does not read it: no loader_conf_files names it")...)
	for _, dir := range strings.Fields(l.env["loader_conf_dirs"]) {
		for _, o := range neighbours(l.files, strings.TrimSuffix(dir, "/"), "", l.seen, "the loader reads *.conf of this directory only: rename the file") {
			// Another suffix, or capitals, mean that the file was disabled on purpose.
			if text, err := l.files.Read(o.Name); err == nil && strings.Contains(text, `="`) && unended().MatchString(o.Name) {
				l.Problems = append(l.Problems, fact.Problem{File: o.Name, Line: 1, Text: firstLine(text), Kind: fact.ProblemSyntax, Message: o.Reason})
			}
		}
	}
}

// unended matches a file name without a suffix.
var unended = lazy.Regexp(`/[a-z0-9_-]+$`)

// neighbours returns files of a directory whose names begin like a configuration file's but which
// are not read.
func neighbours(files fact.Files, dir, name string, read map[string]bool, reason string) (out []fact.Source) {
	names, _ := files.List(dir) // none if missing
	for _, n := range names {
		p := dir + "/" + n
		if strings.HasPrefix(n, name) && n != name+".d" && !read[p] {
			out = append(out, fact.Source{Name: p, Status: fact.StatusIgnored, Reason: reason})
		}
	}
	return out
}

// parse applies one file's lines.
func (l *loader) parse(path, text string) {
	dead := false
	for i, raw := range fact.Lines(text) {
		name, value, err := l.line(raw)
		if err != nil {
			p := fact.Problem{File: path, Line: i + 1, Text: raw, Kind: fact.ProblemSyntax, Message: err.Error()}
			if l.forth && !dead {
				dead = true
				p.Message += "; this loader reads no further in this file"
			}
			if !errors.Is(err, errExec) && strings.ContainsAny(text, "=_") { // systemd-boot's file of this name has none
				l.Problems = append(l.Problems, p)
			}
			continue
		}
		if name == "" {
			continue
		}
		line := fact.Line{File: path, Number: i + 1, Text: raw, Name: name, Value: value, Stage: fact.Loader,
			Effective: !dead, Default: strings.HasPrefix(path, "/boot/defaults/")}
		if strings.HasSuffix(path, "device.hints") {
			line.Stage = fact.Hints
		}
		line.Adds = refersTo(raw, name)
		if dead {
			line.Note = "after a syntax error, where this loader stops reading the file"
		}
		l.add(line)
		if !dead {
			l.env[name] = value
		}
	}
}

// refersTo reports whether the value in a loader line refers to the old value of its own name.
func refersTo(raw, name string) bool {
	if _, set := strings.CutPrefix(strings.TrimSpace(raw), name); !set || hasModuleSuffix(name) {
		return false
	}
	return slices.ContainsFunc(dollar().FindAllStringSubmatch(raw, -1), func(m []string) bool { return m[1]+m[2] == name })
}

// moduleSuffixes lists suffixes of names that are properties of a module; the loader does not
// expand variables in their values.
var moduleSuffixes = []string{"_load", "_name", "_type", "_flags", "_before", "_after", "_error"}

// errExec marks a command of the loader: neither a setting nor an error.
var errExec = errors.New("a command of the loader")

// line parses one line into a name, "" for a comment, and a value, or returns the loader's error.
func (l *loader) line(raw string) (name, value string, err error) {
	s := strings.TrimLeft(raw, " \t\r\v\f")
	if strings.TrimSpace(s) == "" || s[0] == '#' {
		return "", "", nil
	}
	named := loaderName().FindStringSubmatch(s)
	if named == nil || strings.ContainsAny(s[:1], "-_.") && !hasModuleSuffix(named[1]) {
		return "", "", errors.New("malformed line: want name=\"value\"")
	}
	name, s = named[1], s[len(named[0]):]
	valued := l.values.FindStringSubmatch(s)
	if valued == nil {
		return "", "", errors.New("malformed line: the value wants double quotes")
	}
	value = valued[1] + valued[2]
	if rest := strings.TrimSpace(s[len(valued[0]):]); rest != "" && rest[0] != '#' {
		return "", "", fmt.Errorf("malformed line: %q after the value", clip(rest, 40))
	}
	switch {
	case name == "exec" && s[0] == '"':
		return "", "", errExec
	case hasModuleSuffix(name):
		if strings.HasSuffix(name, "_load") {
			value = strings.ToUpper(value)
		}
		if strings.Contains(value, `"`) {
			return "", "", errors.New("a second quoted text on the line (its comment?) becomes part of the value")
		}
		return name, value, nil
	case l.forth:
		return name, strings.ReplaceAll(value, `\`, ""), nil
	}
	value, err = l.expand(value)
	if err != nil {
		return "", "", fmt.Errorf("the loader fails to parse variable '%s': %w", name, err)
	}
	return name, value, nil
}

func hasModuleSuffix(name string) bool {
	return slices.ContainsFunc(moduleSuffixes, func(s string) bool { return len(name) > len(s) && strings.HasSuffix(name, s) })
}

// loaderName matches a name and the equals sign, which may have spaces around it.
var loaderName = lazy.Regexp(`^([A-Za-z0-9_.-]+)[ \t]*=[ \t]*`)

// loaderValue returns an expression for a quoted value or a single word.
func loaderValue(quoted string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:"` + quoted + `"|([A-Za-z0-9-][A-Za-z0-9_.-]*))`)
}

// dollar matches $name and ${name}.
var dollar = lazy.Regexp(`\$(?:\{([^}]+)\}|([A-Za-z0-9][A-Za-z0-9_.-]*))`)

// expand replaces $name, ${name} and backslashes (config.lua, processEnvVar).
func (l *loader) expand(v string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '\\':
			if i++; i == len(v) {
				return "", errors.New("stray escape at end of line")
			}
			out.WriteByte(v[i])
		case '"':
			return "", fmt.Errorf("stray quote at position '%d'; a comment on the same line must hold no quotes", i+1)
		case '$':
			m := dollar().FindStringSubmatchIndex(v[i:])
			if m == nil || m[0] > 0 {
				return "", fmt.Errorf("malformed variable expression at position '%d'", i+1)
			}
			out.WriteString(l.env[strings.Trim(v[i:i+m[1]], "${}")])
			i += m[1] - 1
		default:
			out.WriteByte(v[i])
		}
		if out.Len() > maxValue {
			return "", errors.New("value too long")
		}
	}
	return out.String(), nil
}

// LoadedByLoader returns the modules that loader.conf loads, by the name that the loader uses, with
// the line.
func LoadedByLoader(lines []fact.Line) map[string]fact.Line {
	loaded := map[string]fact.Line{}
	names := map[string]string{}
	for _, l := range lines {
		if !l.Effective {
			continue
		}
		if key, ok := strings.CutSuffix(l.Name, "_name"); ok {
			names[key] = l.Value
		}
		if key, ok := strings.CutSuffix(l.Name, "_load"); ok {
			delete(loaded, key)
			if strings.EqualFold(l.Value, "yes") {
				loaded[key] = l
			}
		}
	}
	byName := make(map[string]fact.Line, len(loaded))
	for key, l := range loaded {
		if n := names[key]; n != "" {
			key = n
		}
		byName[key] = l
	}
	return byName
}
