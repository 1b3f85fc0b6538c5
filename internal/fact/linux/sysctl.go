package linux

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/lazy"
)

// sysctlDirs lists the directories of sysctl.d(5): a file hides those of the same name in later
// directories; all are read in name order.
var sysctlDirs = []string{"/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"}

// ReadSysctlConf reads sysctl.d and sysctl.conf in the order of sysctl.d(5) and `sysctl --system`.
// names are the settings of the running kernel, for patterns; nil if unknown.
func ReadSysctlConf(files fact.Files, names []string) Config {
	r := &sysctlReader{files: files, explicit: map[string]bool{}}
	linked := false
	for _, p := range dropIns(files, ".conf", sysctlDirs...) {
		linked = linked || strings.HasSuffix(p, "/99-sysctl.conf")
		r.file(p)
	}
	if !linked {
		r.sysctlConf()
	}
	r.patterns(names)
	r.strays()
	fact.InOrder(r.Lines)
	return r.Config
}

// Unread is the note for lines of /etc/sysctl.conf that no boot reads.
const Unread = "systemd-sysctl does not read this file"

// sysctlConf reads /etc/sysctl.conf, which procps' `sysctl --system` and the scripts of init
// systems before systemd read last. systemd-sysctl reads it only through a link in sysctl.d, which
// Debian had until 12 and others still have.
func (r *sysctlReader) sysctlConf() {
	first := len(r.Lines)
	r.file("/etc/sysctl.conf")
	if systemd(r.files) {
		idle(r.Lines[first:], Unread)
	}
}

// NotConf is the note for lines of a file in /etc/sysctl.d whose name does not end in .conf.
const NotConf = "only names that end in .conf are read"

// putAside lists suffixes of file names by which people and packages disable a file.
var putAside = []string{"~", ".bak", ".bk", "-bk", "-bak", "-old", "-backup", ".backup", ".license", ".md", ".old", ".orig", ".save", ".sav", ".disabled", ".off", ".swp", ".sample", ".example", ".rpmsave", ".rpmnew", ".rpmorig",
	".dpkg-old", ".dpkg-new", ".dpkg-dist", ".dpkg-bak", ".dpkg-backup", ".ucf-old", ".ucf-dist", ".ucf-new"}

// setAside reports whether a file's name marks it as disabled.
func setAside(p string) bool {
	return slices.ContainsFunc(putAside, func(s string) bool { return strings.HasSuffix(p, s) })
}

// strays reads files of /etc/sysctl.d that were probably meant to be read: every line sets
// something, but the name lacks .conf.
func (r *sysctlReader) strays() {
	names, _ := r.files.List("/etc/sysctl.d")
	for _, n := range names {
		if strings.HasSuffix(n, ".conf") || n == "" || n[0] == '.' || setAside(n) {
			continue
		}
		stray := sysctlReader{files: r.files, explicit: map[string]bool{}}
		stray.file("/etc/sysctl.d/" + n)
		if len(stray.Problems) > 0 || len(r.Lines)+len(stray.Lines) > fact.MaxLines {
			continue // text about settings, not settings
		}
		r.Lines = append(r.Lines, idle(stray.Lines, NotConf)...)
	}
}

// systemd reports whether, according to its own files, systemd is the init system.
func systemd(files fact.Files) bool {
	release, err := files.Read("/etc/os-release")
	for _, dir := range []string{"/run/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system", "/etc/systemd/system/multi-user.target.wants"} {
		if names, no := files.List(dir); err == nil && no == nil && len(names) > 0 { // without os-release, a part of a tree, which may lack the link
			return true
		}
	}
	return arch().MatchString(release) || debian().MatchString(release) && from13().MatchString(release) // these have systemd unless it was removed
}

// arch, debian and from13 match os-release of systems without the link from sysctl.d to
// sysctl.conf.
var (
	arch   = lazy.Regexp(`(?m)^ID="?(arch|archarm|manjaro|endeavouros)"?$`)
	debian = lazy.Regexp(`(?m)^ID="?debian"?$`)
	from13 = lazy.Regexp(`(?m)^VERSION_ID="?(1[3-9]|[2-9][0-9])"?$`)
)

// maxPatterns is the maximum number of patterns, each of which is matched with every setting.
const maxPatterns = 1000

type sysctlReader struct {
	Config
	files    fact.Files
	explicit map[string]bool
	// globs holds lines whose name is a pattern, excluded the names that patterns do not apply to.
	globs    []fact.Line
	excluded []string
}

func (r *sysctlReader) file(p string) {
	text, err := r.files.Read(p)
	if err != nil {
		return
	}
	known := stock(r.files, p)
	for i, raw := range fact.Lines(text) {
		s := strings.TrimSpace(raw)
		if s == "" || s[0] == '#' || s[0] == ';' {
			continue
		}
		s, quiet := strings.CutPrefix(s, "-") // failure is ignored
		name, value, ok := strings.Cut(s, "=")
		name = Name(strings.TrimSpace(name))
		switch {
		case !ok && quiet:
			if len(r.excluded) < maxPatterns {
				r.excluded = append(r.excluded, name)
			}
		case ok && len(name) >= maxName:
			r.Problems = append(r.Problems, fact.Problem{File: p, Line: i + 1, Text: raw, Kind: fact.ProblemSyntax,
				Message: fmt.Sprintf("a name of %d bytes: no sysctl's is that long", len(name))})
		case !ok || !validName(name):
			r.Problems = append(r.Problems, fact.Problem{File: p, Line: i + 1, Text: raw, Kind: fact.ProblemSyntax,
				Message: "want name = value"})
		default:
			value, note := afterNumbers(strings.TrimSpace(value))
			l := fact.Line{File: p, Number: i + 1, Text: raw, Name: name, Value: value, Stage: fact.Sysctl,
				Effective: true, Default: shipped(p) || slices.Contains(known, stockForm(name, value)), Note: note}
			if strings.ContainsAny(name, "*?[") {
				if len(r.globs) < maxPatterns {
					r.globs = append(r.globs, l)
				}
				continue
			}
			r.explicit[name] = true
			r.Lines = append(r.Lines, l)
		}
	}
}

// numbersAndMore matches a value of numbers followed by a comment, although sysctl.d(5) allows
// comments only on separate lines.
var numbersAndMore = lazy.Regexp(`^(-?[0-9][0-9a-fA-FxX]*(?:\s+-?[0-9]+)*)\s+(?:#|;|//).*$`)

// afterNumbers removes what follows numbers: the kernel uses those and ignores the rest
// (proc_dointvec).
func afterNumbers(value string) (numbers, note string) {
	if m := numbersAndMore().FindStringSubmatch(value); m != nil {
		return m[1], "the kernel ignores what follows the number"
	}
	return value, ""
}

// patterns applies lines such as net.ipv4.conf.*.rp_filter to the kernel's names that no line sets
// explicitly (sysctl.d(5)).
func (r *sysctlReader) patterns(names []string) {
	for _, g := range r.globs {
		hit := false
		for _, n := range names {
			if len(r.Lines) < fact.MaxLines && !r.explicit[n] && match(g.Name, n) && !slices.Contains(r.excluded, n) {
				l := g
				l.Name, l.Note = n, "by the pattern "+g.Name
				r.Lines = append(r.Lines, l)
				hit = true
			}
		}
		if !hit {
			r.Lines = append(r.Lines, g)
		}
	}
}

// match matches a pattern in which * does not match dots.
func match(pattern, name string) bool {
	parts := strings.NewReplacer(".", "/", "/", "\x01") // in path.Match * does not match slashes
	ok, err := path.Match(parts.Replace(pattern), parts.Replace(name))
	return err == nil && ok
}

// Name returns a setting's name in sysctl(8) form: components separated by dots; a dot within a
// component (interface eth0.100) becomes a slash. A name whose first separator is a slash is a
// path.
func Name(s string) string {
	i := strings.IndexAny(s, "./")
	if i < 0 || s[i] == '.' {
		return s
	}
	return FromPath(s)
}

// FromPath returns the setting for a path below /proc/sys.
func FromPath(p string) string {
	return strings.Map(func(c rune) rune {
		switch c {
		case '/':
			return '.'
		case '.':
			return '/'
		}
		return c
	}, p)
}

// maxName is the maximum length of a name: kernel paths are shorter.
const maxName = 1024

func validName(s string) bool {
	return s != "" && !strings.ContainsAny(s, " \t\"'") && len(s) < maxName
}

// Secret reports settings whose value is secret and is never read.
func Secret(name string) bool {
	return strings.HasSuffix(name, ".stable_secret") || strings.HasPrefix(name, "net.ipv4.tcp_fastopen_key") || strings.HasPrefix(name, "net.ipv6.tcp_fastopen_key")
}

// Volatile reports entries of /proc/sys that are not settings: they change with every read.
func Volatile(name string) bool {
	switch name {
	case "kernel.random.uuid", "kernel.random.boot_id", "kernel.random.entropy_avail", "kernel.ns_last_pid", "fs.dentry-state", "fs.inode-nr", "fs.inode-state", "fs.file-nr", "fs.aio-nr", "kernel.pty.nr":
		return true
	}
	return false
}
