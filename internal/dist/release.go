package dist

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

//go:embed files
var files embed.FS

// Release holds the contents of a release: the binaries of each platform and what accompanies them.
type Release struct {
	Version    string
	At         time.Time // time of the newest commit, used for every file
	Maintainer string
	Binaries   map[Platform][]byte
	Manual     map[string][]byte // man1/linerate.1 and so on
	Completion map[string][]byte // bash, fish, zsh
	License    []byte
	Others     []byte // licences of linked modules
	Readme     []byte
	Changes    []byte
	SourceName string
	Source     []byte // an archive with vendored modules
}

// Platform is an operating system and an architecture, in Go's terms.
type Platform struct{ OS, Arch string }

// String returns the platform as listed by the go command.
func (p Platform) String() string { return p.OS + "/" + p.Arch }

// Platforms lists the platforms of a release.
var Platforms = []Platform{{"linux", "amd64"}, {"linux", "arm64"}, {"freebsd", "amd64"}, {"freebsd", "arm64"}}

// License is linerate's: the eBPF programs are dual BSD and GPL.
const License = "BSD-2-Clause"

const (
	summary     = "tuning by evidence for FreeBSD and Linux"
	description = `linerate audits the tuning of hosts against a versioned catalogue of
tunables, proves settings in a lab with real packets through a real
kernel, and keeps what was measured in a ledger.

A nightly audit and a nightly sweep of a fleet are installed and off.`
	message = `A nightly audit is installed and off. In /etc/periodic.conf:
    daily_linerate_enable="YES"
So is a nightly sweep of a fleet: daily_linerate_sweep_enable.
The manual begins with linerate(1); "linerate demo" shows what it does.`
)

// File is a file of a release.
type File struct {
	Name string
	Data []byte
}

// layout says where packages install files, by target system.
//
//go:embed layout.txt
var layout string

// entries returns the files of a platform's package for a system of the layout.
func (r *Release) entries(p Platform, system string) (all []Entry, err error) {
	for line := range strings.Lines(layout) {
		f := strings.Fields(line)
		if len(f) != 3 || !slices.Contains(strings.Split(f[0], ","), system) {
			continue
		}
		switch at, what := f[1], f[2]; what {
		case "binary":
			all = append(all, Entry{at, 0o755, r.Binaries[p]})
		case "manual":
			for name, page := range r.Manual {
				all = append(all, Entry{at + name + ".gz", 0o644, page})
			}
		default:
			text, err := r.text(what)
			if err != nil {
				return nil, err
			}
			mode := int64(0o644)
			if bytes.HasPrefix(text, []byte("#!")) {
				mode = 0o755
			}
			all = append(all, Entry{at, mode, text})
		}
	}
	for i, e := range all {
		if !strings.HasSuffix(e.Path, ".gz") {
			continue
		}
		if all[i].Data, err = gzipped(e.Data); err != nil {
			return nil, fmt.Errorf("compress %s: %w", e.Path, err)
		}
	}
	return all, nil
}

// text returns a text of the layout.
func (r *Release) text(what string) ([]byte, error) {
	shell, completes := strings.CutPrefix(what, "completion/")
	switch {
	case completes:
		return r.Completion[shell], nil
	case what == "LICENSE":
		return append(bytes.Clone(r.License), r.Others...), nil
	case what == "CHANGELOG":
		return r.Changes, nil
	}
	return files.ReadFile("files/" + what)
}

func (r *Release) packageOf(p Platform, entries []Entry) Package {
	return Package{
		Recommends: []string{"openssh-client"}, // for ssh://HOST
		Name:       "linerate", Version: r.Version, Arch: p.Arch, Summary: summary, Description: description, Maintainer: r.Maintainer,
		License: License, At: r.At, Entries: entries,
	}
}

// Files returns all files of the release, SHA256SUMS last. It omits platforms without a binary.
func (r *Release) Files() ([]File, error) {
	var all []File
	for _, p := range Platforms {
		if r.Binaries[p] == nil {
			continue
		}
		made, err := r.platform(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		all = append(all, made...)
	}
	bill, err := Bill(r.packageOf(Platform{}, nil), r.binaries(), string(r.Others))
	if err != nil {
		return nil, err
	}
	all = append(all, File{"linerate-" + r.Version + ".cdx.json", bill})
	if r.Source != nil {
		all = append(all, File{r.SourceName, r.Source})
	}
	return append(all, File{"SHA256SUMS", sums(all)}), nil
}

// binaries returns the binaries in the order of platforms.
func (r *Release) binaries() (all [][]byte) {
	for _, p := range Platforms {
		if b := r.Binaries[p]; b != nil {
			all = append(all, b)
		}
	}
	return all
}

// platform returns a platform's archive and packages.
func (r *Release) platform(p Platform) ([]File, error) {
	name := fmt.Sprintf("linerate-%s-%s-%s", r.Version, p.OS, p.Arch)
	archive, err := r.archive(p, name)
	if err != nil {
		return nil, err
	}
	all := []File{{name, r.Binaries[p]}, {name + ".tar.gz", archive}}
	if p.OS == "freebsd" {
		entries, err := r.entries(p, "freebsd")
		if err != nil {
			return nil, err
		}
		pkg, err := FreeBSDPackage(r.packageOf(p, entries), message)
		return append(all, File{name + ".pkg", pkg}), err
	}
	entries, err := r.entries(p, "debian")
	if err != nil {
		return nil, err
	}
	deb, err := Deb(r.packageOf(p, entries))
	if err != nil {
		return nil, err
	}
	if entries, err = r.entries(p, "redhat"); err != nil {
		return nil, err
	}
	rpm, err := RPM(r.packageOf(p, entries))
	return append(all, File{fmt.Sprintf("linerate_%s_%s.deb", r.Version, DebArch(p.Arch)), deb}, File{fmt.Sprintf("linerate-%s-1.%s.rpm", r.Version, RPMArch(p.Arch)), rpm}), err
}

// archive returns a platform's files for manual installation, below one directory.
func (r *Release) archive(p Platform, name string) ([]byte, error) {
	at := "/" + name + "/"
	all := []Entry{{Path: at + "linerate", Mode: 0o755, Data: r.Binaries[p]}}
	for file, data := range map[string][]byte{"LICENSE": r.License, "LICENSES.others": r.Others, "README.md": r.Readme, "CHANGELOG.md": r.Changes} {
		all = append(all, Entry{Path: at + file, Mode: 0o644, Data: data})
	}
	for file, page := range r.Manual {
		all = append(all, Entry{Path: at + "man/" + file, Mode: 0o644, Data: page})
	}
	for shell, text := range r.Completion {
		all = append(all, Entry{Path: at + "completion/linerate." + shell, Mode: 0o644, Data: text})
	}
	return Archive(all, r.At)
}

// Archive returns entries as a tar archive compressed by gzip, with paths relative to the root.
func Archive(entries []Entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	if err := tarball(&b, at, tree("", sorted(entries))); err != nil {
		return nil, err
	}
	return gzipped(b.Bytes())
}

// sums returns the files' SHA-256 sums in the format of sha256sum(1).
func sums(all []File) []byte {
	var b strings.Builder
	for _, f := range slices.SortedFunc(slices.Values(all), func(a, b File) int { return strings.Compare(a.Name, b.Name) }) {
		fmt.Fprintf(&b, "%s  %s\n", sum(f.Data), path.Base(f.Name))
	}
	return []byte(b.String())
}
