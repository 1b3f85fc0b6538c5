package freebsd

import (
	"fmt"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/lazy"
)

// sysctlFiles are applied by rc.d/sysctl, in this order.
var sysctlFiles = []string{"/etc/sysctl.conf", "/etc/sysctl.conf.local"}

// kldSysctlDir holds files that rc.subr applies when it loads a module.
const kldSysctlDir = "/etc/sysctl.kld.d"

// stdioBuffer is BUFSIZ: sysctl(8) reads lines in pieces of at most BUFSIZ-1 bytes, and treats each
// piece as a line.
const stdioBuffer = 1024

// ReadSysctlConf reads /etc/sysctl.conf and sysctl.conf.local as applied by rc.d/sysctl, and the
// files for modules.
func ReadSysctlConf(files fact.Files) Config {
	var c Config
	for path, text := range fact.Texts(files, sysctlFiles...) {
		c.sysctlFile(path, text, "")
	}
	names, _ := files.List(kldSysctlDir)
	for _, n := range names {
		module, ok := strings.CutSuffix(n, ".conf")
		if !ok || len(c.Lines) > fact.MaxLines {
			continue
		}
		for path, text := range fact.Texts(files, kldSysctlDir+"/"+n) {
			c.sysctlFile(path, text, "applied only when rc loads module "+module)
		}
	}
	c.ignoredSysctl(files)
	return c
}

func (c *Config) ignoredSysctl(files fact.Files) {
	names, _ := files.List("/etc") // none if missing
	for _, n := range names {
		if strings.HasPrefix(n, "sysctl.conf") && n != "sysctl.conf" && n != "sysctl.conf.local" || n == "sysctl.d" {
			c.Ignored = append(c.Ignored, fact.Source{Name: "/etc/" + n, Status: fact.StatusIgnored,
				Reason: "rc.d/sysctl reads only sysctl.conf and sysctl.conf.local"})
		}
	}
}

// sysctlFile parses one file like `sysctl -f` (sbin/sysctl/sysctl.c, parsefile and parse).
func (c *Config) sysctlFile(path, text, note string) {
	for i, raw := range fact.Lines(text) {
		s := strings.TrimSpace(cutSysctlComment(raw))
		if s == "" {
			continue
		}
		name, value, assigned := cutSysctl(s)
		problem := func(format string, args ...any) {
			c.Problems = append(c.Problems, fact.Problem{File: path, Line: i + 1, Text: raw,
				Kind: fact.ProblemSyntax, Message: fmt.Sprintf(format, args...)})
		}
		switch {
		case len(raw) >= stdioBuffer:
			problem("longer than %d bytes: sysctl reads it in pieces", stdioBuffer-1)
		case strings.Contains(name, redact.Mark):
			problem("sysctl: unknown oid at line %d", i+1)
		case !sysctlName().MatchString(name):
			problem("sysctl: unknown oid '%s' at line %d", clip(name, 60), i+1)
		case !assigned:
			problem("no '=': the line only shows %s and sets nothing", name)
		default:
			c.add(fact.Line{File: path, Number: i + 1, Text: raw, Name: name, Value: value,
				Stage: fact.Sysctl, Effective: true, Note: note})
		}
	}
}

// cutSysctlComment ends a line at its first '#', unless a backslash escapes it or a quote precedes
// it; everything after a quoted text is dropped.
func cutSysctlComment(s string) string {
	single, double := strings.IndexByte(s, '\''), strings.IndexByte(s, '"')
	for at := 0; ; at++ {
		i := strings.IndexByte(s[at:], '#')
		if i < 0 {
			return s
		}
		at += i
		if single >= 0 && at > single {
			return cutAfter(s, single, '\'')
		}
		if double >= 0 && at > double {
			return cutAfter(s, double, '"')
		}
		if at == 0 || s[at-1] != '\\' {
			return s[:at]
		}
	}
}

// cutAfter returns s up to the quote that closes the one at open.
func cutAfter(s string, open int, quote byte) string {
	if end := strings.IndexByte(s[open+1:], quote); end >= 0 {
		return s[:open+1+end+1]
	}
	return s
}

// cutSysctl splits name and value at the first '=' or ':', trims spaces around it and strips one
// pair of quotes.
func cutSysctl(s string) (name, value string, assigned bool) {
	i := strings.IndexAny(s, "=:")
	if i < 0 {
		return s, "", false
	}
	name, value = strings.TrimSpace(s[:i]), strings.TrimLeft(s[i+1:], " \t\r\v\f")
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		quote := value[0]
		if len(value) > 1 && value[len(value)-1] == quote {
			value = value[:len(value)-1]
		}
		value = value[1:]
	}
	return name, value, true
}

// sysctlName matches what can be the name of a sysctl.
var sysctlName = lazy.Regexp(`^[A-Za-z0-9_][A-Za-z0-9._%/+-]*$`)
