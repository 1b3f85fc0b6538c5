// Package inspect collects facts from a machine with read-only access. It records
// every source and the outcome of reading it: a missing or unreadable source is
// also a fact, never a failure.
package inspect

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"linerate/internal/fact"
	"linerate/internal/fact/freebsd"
	"linerate/internal/fact/network"
	"linerate/internal/fact/redact"
	"linerate/internal/fact/release"
	"linerate/internal/fact/vocabulary"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/lazy"
	"linerate/internal/list"
)

// Options control an inspection.
type Options struct {
	// Release is the release of a tree, which may not contain it; it overrides what a host reports.
	Release release.Release
	// OS is the system of a tree's files if they do not tell.
	OS string
	// Owned means that only the owner sees the result, on a terminal: in line-based configuration
	// only apparent secrets are masked.
	Owned bool
	// CommandTimeout limits each command on a live host; 0 means 20 s.
	CommandTimeout time.Duration
}

// Host inspects one machine. It fails only if nothing can be read because the system is unknown.
func Host(ctx context.Context, r host.Reader, opts Options) (*fact.Facts, error) {
	opts.CommandTimeout = cmp.Or(opts.CommandTimeout, 20*time.Second)
	f := &fact.Facts{Version: fact.Version, From: r.Origin(), OS: system(r, opts), Release: opts.Release, LeftOut: r.LeftOut()}
	in := &inspection{ctx: ctx, r: r, f: f, opts: opts, written: map[string]string{}, shown: map[string]string{}, stands: map[string]string{}}
	switch f.OS {
	case fact.FreeBSD:
		in.freebsd()
	case fact.Linux:
		in.linux()
	default:
		return nil, hint.With(fmt.Errorf("inspect %s: neither a FreeBSD nor a Linux host is recognisable", f.From.Path),
			"%s wants the directory that holds etc/ (and, of FreeBSD, boot/)", hint.Option("root", ""))
	}
	in.machineID()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.Normalise()
	return f, nil
}

// machineID sets the machine's identifier: a capture contains it, for others it is derived from
// their files (/etc/hostid holds the value of kern.hostuuid).
func (in *inspection) machineID() {
	r := in.r
	if known, ok := r.(host.Identified); ok {
		if id := known.MachineID(); fact.IsMachineID(id) {
			in.f.MachineID = id
		}
		return
	}
	files := []string{"/etc/machine-id", "/var/lib/dbus/machine-id"}
	if in.f.OS == fact.FreeBSD {
		files = []string{"/etc/hostid"}
	}
	for _, file := range files {
		in.f.MachineID = cmp.Or(in.f.MachineID, fact.MachineIDOf(in.text(file)))
	}
}

// Identity returns only a machine's system, release (zero if unknown) and machine ID, without the
// time of a full inspection.
func Identity(ctx context.Context, r host.Reader) *fact.Facts {
	in := &inspection{ctx: ctx, r: r, f: &fact.Facts{OS: r.OS()}, opts: Options{CommandTimeout: 5 * time.Second}, written: map[string]string{}, shown: map[string]string{}}
	switch in.f.OS {
	case fact.FreeBSD:
		in.freebsdRelease(freebsd.Values{})
	case fact.Linux:
		in.linuxRelease()
	}
	in.machineID()
	return in.f
}

// system returns the OS; if the files do not tell, it follows from the major release: Linux has not
// reached FreeBSD's numbers.
func system(r host.Reader, opts Options) string {
	guess := ""
	switch major := opts.Release.Major; {
	case major >= 9:
		guess = fact.FreeBSD
	case major > 0:
		guess = fact.Linux
	}
	return cmp.Or(r.OS(), opts.OS, guess)
}

// inspection is one run.
type inspection struct {
	ctx  context.Context
	r    host.Reader
	f    *fact.Facts
	opts Options
	// missed holds sources already recorded as not read.
	missed map[fact.Source]bool
	// lines counts the lines that set something.
	lines int
	// written are files that people write, under the path that such a file has (stands, where
	// rc.conf names another); shown is what may be seen of them.
	written, shown, stands map[string]string
	listings               map[string]listing
	// network is that of rc.conf.
	network *network.Host
}

// maxLines limits the lines of a host that set something; hosts have hundreds, distributions add as
// many.
const maxLines = 20_000

// addLines adds lines of one mechanism, in reading order, and reports files of which lines were
// dropped.
func (in *inspection) addLines(lines []fact.Line) {
	lines = slices.DeleteFunc(lines, func(l fact.Line) bool { return strings.Contains(l.Name, redact.Mark) }) // a name that may not be seen is none
	room := maxLines - in.lines
	if len(lines) > room {
		cut := ""
		for _, l := range lines[room:] {
			if l.File != cut {
				cut = l.File
				in.record(cut, fmt.Errorf("%w: more than %d lines set something; those from line %d on are not judged", host.ErrTooLarge, maxLines, l.Number))
			}
		}
		lines = lines[:room]
	}
	in.lines += len(lines)
	in.f.AddLines(lines)
}

// record records the outcome of a source. Callers do not record a missing file that is optional on
// every system.
func (in *inspection) record(name string, err error) {
	status, reason := host.Status(err)
	s := fact.Source{Name: name, Status: status, Reason: reason}
	if status != fact.StatusRead {
		if in.missed[s] {
			return // several parsers read some files and directories
		}
		if in.missed == nil {
			in.missed = map[fact.Source]bool{}
		}
		in.missed[s] = true
	}
	in.f.Sources = append(in.f.Sources, s)
}

// Read implements the parsers' Files: it returns the redacted file, and records the outcome unless
// the file is missing.
func (in *inspection) Read(path string) (string, error) { return in.read(path, "") }

// Idle reports whether a script is known not to be executable.
func (in *inspection) Idle(path string) bool {
	return in.mode(path) != 0 && in.mode(path)&0o111 == 0
}

// mode returns the permissions of a file, 0 if they are not known.
func (in *inspection) mode(path string) fs.FileMode {
	if m, ok := in.r.(host.Moded); ok {
		mode, _ := m.Mode(path)
		return mode
	}
	return 0
}

// files reads files that other files name: one without a kind of its own has that of the file that
// names it.
type files struct {
	*inspection
	kind string
}

// Read implements the parsers' Files.
func (f files) Read(path string) (string, error) { return f.read(path, f.kind) }

func (in *inspection) read(path, kind string) (string, error) {
	b, err := in.r.ReadFile(in.ctx, path)
	status, _ := host.Status(err)
	if status != fact.StatusMissing {
		in.record(path, err)
	}
	if status == fact.StatusPartial {
		b, err = b[:bytes.LastIndexByte(b, '\n')+1], nil // a truncated line could have another meaning
	}
	kind = redact.KindOf(path, kind)
	text := in.plain(kind, path, string(b))
	shown := ""
	if in.opts.Owned && slices.Contains(owned, kind) {
		shown = redact.Secrets(text)
	} else {
		shown = in.kept(kind, path, text)
	}
	in.slips(path, text, shown)
	return shown, err
}

// slips records mistakes in a file's text, with redacted lines, and the values that rules compare.
// Several readers may read one file.
func (in *inspection) slips(path, text, shown string) {
	as := cmp.Or(in.stands[path], path)
	_, again := in.written[as]
	in.written[as], in.shown[path] = text, shown
	all, told := fact.SlipsIn(as, text)
	in.addSlips(path, append(all, vocabulary.Problems(as, text)...))
	for _, l := range told {
		if service, word, _ := strings.Cut(l.Name, ":"); !again {
			l.Name = word
			in.f.Services = append(in.f.Services, fact.Service{Name: service, Details: []fact.Line{l}})
		}
	}
}

// detailWord matches a word of what a check says of a line, prose one of a sentence.
var detailWord, prose = lazy.Regexp(`\S+`), lazy.Regexp(`^[a-z(),.;:-]+$`)

// addSlips records mistakes of a file, or of those that they name.
func (in *inspection) addSlips(file string, slips []fact.Problem) {
	for _, p := range slips {
		p.File = cmp.Or(file, p.File)
		if lines, raw := strings.Split(in.shown[p.File], "\n"), strings.Split(in.written[p.File], "\n"); p.Line <= min(len(lines), len(raw)) {
			p.Detail = detailWord().ReplaceAllStringFunc(p.Detail, func(w string) string {
				if plain := p.Message != "nft-refused" && p.Message != "iptables-refused" && prose().MatchString(w); plain || !strings.Contains(raw[p.Line-1], w) || strings.Contains(lines[p.Line-1], w) {
					return w // the check's own, or one that is shown
				}
				return redact.Mark
			})
			if !strings.Contains(lines[p.Line-1], p.Text) {
				p.Text, p.Message = redact.Mark, strings.TrimSuffix(p.Message, `, not "%s"`)
			}
			p.Message, p.Text = strings.Replace(p.Message, "%s", p.Text, 1), lines[p.Line-1]
		}
		in.f.Problems = list.With(in.f.Problems, p)
	}
}

// owned lists the kinds of files that people write line by line.
var owned = []string{redact.Loader, redact.RC, redact.Sysctl, redact.PF, redact.IPFW, redact.NFT, redact.IPTables, redact.BootLine, redact.Modprobe, redact.Modules, redact.Grub, redact.Systemd, redact.Udev, redact.Ifupdown, redact.Script, redact.Tuned, redact.Limits, redact.Daemon, redact.Other}

// plain returns a text as the system can read it. A byte order mark spoils the first line for all
// readers of configuration, UTF-16 every line; both come from editors on other systems.
func (in *inspection) plain(kind, path, text string) string {
	problem := func(line, message string) {
		in.f.Problems = append(in.f.Problems, fact.Problem{File: path, Line: 1, Text: line, Kind: fact.ProblemSyntax, Message: message})
	}
	switch {
	case strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/sys/") || path == bootLog || strings.HasPrefix(text, "\x7fELF"): // no configuration
	case strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") || strings.Count(text[:min(len(text), 512)], "\x00") > min(len(text), 512)/4 && text != "":
		problem("", "the file is UTF-16, not plain text: the system reads none of its lines (iconv -f UTF-16 -t UTF-8 makes it plain)")
		return ""
	case strings.HasPrefix(text, mark):
		first, rest, more := strings.Cut(strings.TrimPrefix(text, mark), "\n")
		if kind == redact.Sense { // XML may begin with one
			return strings.TrimPrefix(text, mark)
		}
		if s := strings.TrimSpace(first); s != "" && s[0] != '#' && s[0] != ';' {
			shown, _ := redact.Text(kind, first)
			problem(shown, "a byte order mark, three bytes that editors hide, precedes the first word: the system takes it for part of the name")
		}
		if more {
			return "\n" + rest
		}
		return ""
	}
	return text
}

// mark is the UTF-8 byte order mark.
const mark = "\xef\xbb\xbf"

// kept returns the redacted text: facts are printed and stored. A capture is already redacted, and
// lists what it left out.
func (in *inspection) kept(kind, name, text string) string {
	clean, left := redact.Text(kind, text)
	if left.Any() && in.f.From.Kind != fact.KindBundle {
		in.f.LeftOut = append(in.f.LeftOut, fact.LeftOut{What: name, Why: left.String()})
	}
	return clean
}

// keptValue returns the redacted content of a small file of /proc or /sys.
func keptValue(path, value string) string {
	lines := strings.Split(value, "\n")
	for i, l := range lines {
		clean, _ := redact.Text(redact.Tree, path+"\t"+l)
		_, lines[i], _ = strings.Cut(clean, "\t")
	}
	return strings.Join(lines, "\n")
}

// List implements the parsers' Files.
func (in *inspection) List(dir string) ([]string, error) { return in.list(dir, false) }

// listing is what a directory holds.
type listing struct {
	names []string
	err   error
}

// dir lists a directory, once: many patterns of files share one.
func (in *inspection) dir(name string) ([]string, error) {
	l, known := in.listings[name]
	if !known {
		l.names, l.err = in.r.ReadDir(in.ctx, name)
		if in.listings == nil {
			in.listings = map[string]listing{}
		}
		in.listings[name] = l
	}
	return slices.Clone(l.names), l.err
}

// list lists a directory, which may be a file if it was found by a pattern.
func (in *inspection) list(dir string, found bool) ([]string, error) {
	names, err := in.dir(dir)
	switch status, reason := host.Status(err); {
	case status == fact.StatusPartial:
		in.record(dir, err)
		err = nil
	case status == fact.StatusUnreadable && !(found && strings.Contains(strings.ToLower(reason), "not a directory")):
		in.record(dir, err)
	}
	return names, err
}

// output runs a query and records its outcome, except for trees, which cannot run queries. Output
// counts even if the command failed.
func (in *inspection) output(id string) (string, bool) { return in.ask(host.QueryOf(in.f.OS, id)) }

// answer parses the output of a query; it returns the zero value if there is none.
func answer[T any](in *inspection, id string, parse func(string) T) (v T) {
	if text, ok := in.output(id); ok {
		v = parse(text)
	}
	return v
}

// contents parses a file; it returns the zero value if it cannot be read.
func contents[T any](in *inspection, path string, parse func(string) T) (v T) {
	if text, err := in.Read(path); err == nil {
		v = parse(text)
	}
	return v
}

// quiet queries an interrupt's affinity without recording the source: hundreds of such lines would
// hide the others. Trees and old bundles have no answer.
func (in *inspection) quiet(irq int) string {
	ctx, cancel := context.WithTimeout(in.ctx, in.opts.CommandTimeout)
	defer cancel()
	b, err := in.r.Output(ctx, host.IRQQuery(irq))
	if err != nil {
		return ""
	}
	return string(b)
}

// slowFactor is how much longer slow commands may take.
const slowFactor = 6

// lacks reports a module that the running kernel, at the time of a capture, is known to have
// lacked.
func (in *inspection) lacks(module string) bool {
	if module == "" || !in.f.Read("kldstat") {
		return false
	}
	m, ok := in.f.Module(module)
	return !ok || !m.InKernel && (m.Loaded == nil || !*m.Loaded)
}

func (in *inspection) ask(q host.Query) (string, bool) {
	if in.f.From.Kind == fact.KindTree || in.ctx.Err() != nil {
		return "", false
	}
	lacks := in.lacks(q.Module())
	if lacks && in.f.From.Kind != fact.KindBundle {
		return "", false
	}
	patience := in.opts.CommandTimeout
	if q.Slow() {
		patience *= slowFactor
	}
	ctx, cancel := context.WithTimeout(in.ctx, patience)
	defer cancel()
	b, err := in.r.Output(ctx, q)
	if lacks && len(b) == 0 {
		return "", false // a capture may have an answer; this one rightly has none
	}
	status, reason := host.Status(err)
	if errors.Is(err, context.DeadlineExceeded) {
		reason = fmt.Sprintf("no end within %s; not known: %s", patience, q.Why())
	}
	if status == fact.StatusUnreadable && len(b) > 0 {
		status = fact.StatusPartial
	}
	in.f.Sources = append(in.f.Sources, fact.Source{Name: q.String(), Status: status, Reason: reason})
	return in.kept(redact.KindOfAnswer(q.String()), q.ID(), string(b)), err == nil || len(b) > 0
}

// newModule returns a module that files load and that is not in the list of loaded ones: it is not
// loaded, if that list was read, unless the kernel contains its driver.
func (in *inspection) newModule(name string) fact.Module {
	m := fact.Module{Name: name}
	if in.f.Read("kldstat") {
		no := false
		m.Loaded = &no
	}
	driver := strings.TrimPrefix(name, "if_")
	m.InKernel = slices.ContainsFunc(in.f.Modules, func(k fact.Module) bool { return k.InKernel && k.Name == driver })
	return m
}

// addModules merges the modules in files with the loaded ones.
func (in *inspection) addModules(lines map[string]fact.Line) {
	for name, l := range lines {
		i := slices.IndexFunc(in.f.Modules, func(m fact.Module) bool { return m.Name == name })
		if i < 0 {
			in.f.Modules = append(in.f.Modules, in.newModule(name))
			i = len(in.f.Modules) - 1
		}
		in.f.Modules[i].Lines = append(in.f.Modules[i].Lines, l)
	}
}
