package hosts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/export"
	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/host/filehost"
	"linerate/internal/lazy"
	"linerate/internal/show"
)

// Stdin is the name that stands for standard input.
const Stdin = "-"

// AreFiles reports whether all names are configuration files: not hosts over SSH, and not bundles,
// which are compressed or tar archives.
func AreFiles(args []string) bool {
	return len(args) > 0 && !slices.ContainsFunc(args, func(a string) bool { return a != Stdin && (IsRemote(a) || !plain(a)) })
}

// plain reports a regular file that does not begin like an archive. A missing file counts, because
// its error is better than a bundle's.
func plain(name string) bool {
	info, err := os.Stat(name)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	if !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 265)
	n, _ := io.ReadFull(f, head)
	head = head[:n]
	return !bytes.HasPrefix(head, []byte("\x1f\x8b")) && !(n > 262 && string(head[257:262]) == "ustar")
}

// IsConfiguration reports a file with lines that is recognised as configuration by its name or its
// lines; one that cannot be read counts.
func IsConfiguration(name, system string) bool {
	if name == Stdin {
		return true
	}
	text, err := readFile(name, nil)
	if err != nil {
		return true
	}
	if OwnExport(text) {
		return true
	}
	_, ok := filehost.Recognise(name, string(text), system)
	return ok && len(bytes.TrimSpace(text)) > 0
}

// OwnExport reports a text written by linerate's own plan show --format.
func OwnExport(text []byte) bool {
	_, _, own := export.Read(string(text))
	return own
}

// files reads configuration files as a host. given maps their paths on that host to the names that
// the user gave.
func (s *Source) files(args []string) (r host.Reader, given map[string]string, err error) {
	stdin := io.Reader(os.Stdin)
	if s.Stdin != nil {
		stdin = s.Stdin()
	}
	texts := map[string][]byte{}
	given = map[string]string{}
	system := s.OS
	for _, name := range args {
		text, err := readFile(name, stdin)
		if err != nil {
			return nil, nil, err
		}
		if len(bytes.TrimSpace(text)) == 0 {
			return nil, nil, hint.Usagef("%s is empty: there is nothing to read", name)
		}
		if own, os, ok := export.Read(string(text)); ok {
			for at, content := range own {
				texts[at], given[at] = []byte(content), name
			}
			system = os
			continue
		}
		place, ok := filehost.Recognise(name, string(text), system)
		if _, either := filehost.Recognise(name, string(text), fact.Linux); !ok && either && system == "" {
			return nil, nil, hint.With(hint.Usagef("%s does not show which system it belongs to", name), "add %s or %s", hint.Option("os", "linux"), hint.Option("os", "freebsd"))
		}
		if !ok || bytes.IndexByte(text, 0) >= 0 && !bytes.HasPrefix(text, []byte("SQLite format 3")) {
			return nil, nil, unknown(name, text)
		}
		if err := nonsense(name, place.Path, string(text)); err != nil {
			return nil, nil, err
		}
		if _, twice := texts[place.Path]; twice {
			return nil, nil, hint.With(hint.Usagef("%s and %s are both a host's %s", given[place.Path], name, place.Path), "read them one by one, or as a directory with %s", hint.Option("root", ""))
		}
		if system = place.OS; s.OS != "" {
			system = s.OS
		}
		texts[place.Path], given[place.Path] = text, name
		if place.Path == "/etc/tuned/this/tuned.conf" {
			texts["/etc/tuned/active_profile"] = []byte("this\n")
		}
	}
	return filehost.New(texts, system), given, nil
}

// readFile reads one file, or standard input, up to the limit.
func readFile(name string, stdin io.Reader) ([]byte, error) {
	in := stdin
	if name != Stdin {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, 4*host.MaxFile))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return text, nil
}

// archive opens an archive: a capture's bundle, or a product's own backup of its settings
// (OpenWrt's sysupgrade -b, TrueNAS' with its database).
func (s *Source) archive(name string) (host.Reader, error) {
	bundle, notBundle := filehost.OpenBundle(name)
	if notBundle == nil {
		return bundle, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, notBundle
	}
	defer f.Close()
	texts := map[string][]byte{}
	system := s.OS
	err = host.Untar(f, true, func(entry string, data []byte) error {
		top, _, below := strings.Cut(entry, "/")
		place, known := filehost.Recognise(entry, string(data), s.OS)
		switch {
		case below && slices.Contains(rootDirs, top):
			texts["/"+entry] = data
		case known && !below:
			texts[place.Path] = data
		default:
			return nil
		}
		if known && system == "" {
			system = place.OS
		}
		return nil
	})
	if err != nil || system == "" {
		return nil, notBundle
	}
	return filehost.New(texts, system).From(name), nil
}

// rootDirs lists root directories of a host found in backups of settings.
var rootDirs = []string{"boot", "cf", "conf", "config", "data", "etc"}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// sealed is the first line of a backup encrypted by OPNsense or pfSense.
const sealed = "---- BEGIN config.xml ----"

// unknown returns the error for a file that is not recognised as configuration.
func unknown(name string, text []byte) error {
	err := hint.Usagef("%s is not a configuration that linerate knows", name)
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(text), []byte(sealed)):
		return hint.With(hint.Usagef("%s is an encrypted backup", name), "download it without encryption (System ▸ Configuration ▸ Backups, Diagnostics ▸ Backup & Restore), or give the host itself")
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		return hint.With(err, "it is UTF-16; iconv -f UTF-16 -t UTF-8 makes it plain")
	}
	return hint.With(err, "sysctl.conf, loader.conf, rc.conf, pf.conf, tuned.conf, config.xml, config.boot, UCI files, a kernel's command line, modprobe.d, GRUB's file, udev's rules … are; %s says which system's it is", hint.Option("os", ""))
}

// lineOf maps a kind of file to a pattern of its lines.
var lineOf = map[string]*regexp.Regexp{
	redact.Loader: assigns(), redact.Sysctl: assigns(), redact.Grub: assigns(),
	redact.RC: regexp.MustCompile(`(?m)^[ \t]*([A-Za-z_]\w*\+?=|\w+_\w+[ \t]+=|export |\. )`), // the file manager ranger also has an rc.conf, with "map = chmod"
	redact.PF: regexp.MustCompile(`(?m)^[ \t]*((set|table|pass|block|match|scrub|nat|rdr|binat|no|load|antispoof|altq|queue|ether|include|([a-z]+-)?anchor)\b|\w+[ \t]*=)`),
}

// assigns matches a line that assigns a value to a name, or includes another file.
var assigns = lazy.Regexp(`(?m)^[ \t]*(-?[A-Za-z_*][\w./*?:-]*[ \t]*\+?=|-?[a-z]+[./]\w[\w./-]* +[\w-]+$|export |\. |include )`)

// speaks matches a line other than a comment.
var speaks = lazy.Regexp(`(?m)^[ \t]*[^#;! \t\r\n]`)

// entity matches an XML entity reference.
var entity = lazy.Regexp(`&[A-Za-z][\w.-]*;`)

// nonsense returns an error if a text is not what its file name says.
func nonsense(name, place, text string) error {
	kind := redact.KindOf(place, "")
	lines := len(speaks().FindAllString(text, -1))
	foreign := slices.ContainsFunc(entity().FindAllString(text, -1), func(e string) bool {
		return !slices.Contains([]string{"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"}, e)
	})
	switch line := lineOf[kind]; {
	case kind == redact.Sense && strings.Contains(text, "<!DOCTYPE"):
		return hint.With(hint.Usagef("%s has a document type, which no product writes", name), "export the configuration again")
	case kind == redact.Sense && foreign && !strings.Contains(text, "<![CDATA["):
		return hint.With(hint.Usagef("%s uses entities that it does not define: the product cannot read it", name), "export the configuration again")
	case line != nil && lines > 0 && !line.MatchString(text):
		return hint.With(hint.Usagef("%s does not look like a %s: none of its %s belongs in one", name, path.Base(place), show.Plural(lines, "line")), "give the file that the host has")
	case strings.HasPrefix(text, "SQLite format 3") && len(text) < 512:
		return hint.Usagef("%s begins like a database but is cut off", name)
	}
	return nil
}
