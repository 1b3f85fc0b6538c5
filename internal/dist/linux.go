package dist

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/rpmpack"
)

// Package is a program's data for all package formats.
type Package struct {
	Name, Version        string
	Arch                 string // in Go's terms
	Summary, Description string
	Maintainer           string
	License              string // SPDX
	At                   time.Time
	Entries              []Entry
	Recommends           []string // Debian packages
}

// DebArch returns Debian's name of an architecture.
func DebArch(arch string) string { return arch } // amd64 and arm64 have Go's names

// Deb returns the package for dpkg(1): deb(5), an ar archive of the format version, control.tar.gz
// and data.tar.gz.
func Deb(p Package) ([]byte, error) {
	entries := sorted(p.Entries)
	var size int
	var sums strings.Builder
	for _, e := range entries {
		size += (len(e.Data) + 1023) / 1024
		digest := md5.Sum(e.Data) // checked by dpkg --verify
		fmt.Fprintf(&sums, "%s  %s\n", hex.EncodeToString(digest[:]), strings.TrimPrefix(e.Path, "/"))
	}
	control := []member{{"./", 0o755, nil}, {"./control", 0o644, []byte(debControl(p, size))}, {"./md5sums", 0o644, []byte(sums.String())}}
	var c, d bytes.Buffer
	if err := tarball(&c, p.At, control); err != nil {
		return nil, err
	}
	if err := tarball(&d, p.At, tree("./", entries)); err != nil {
		return nil, err
	}
	cz, err := gzipped(c.Bytes())
	if err != nil {
		return nil, fmt.Errorf("compress the control file: %w", err)
	}
	dz, err := gzipped(d.Bytes())
	if err != nil {
		return nil, fmt.Errorf("compress the package's files: %w", err)
	}
	return ar(p.At, []member{{"debian-binary", 0o644, []byte("2.0\n")}, {"control.tar.gz", 0o644, cz}, {"data.tar.gz", 0o644, dz}}), nil
}

// tree returns entries with their directories, with a prefix in place of the root.
func tree(prefix string, entries []Entry) []member {
	members := []member{}
	if prefix != "" {
		members = append(members, member{prefix, 0o755, nil})
	}
	for _, d := range directories(entries) {
		members = append(members, member{prefix + strings.TrimPrefix(d, "/") + "/", 0o755, nil})
	}
	for _, e := range entries {
		members = append(members, member{prefix + strings.TrimPrefix(e.Path, "/"), e.Mode, e.Data})
	}
	slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return members
}

func debControl(p Package, kilobytes int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Package: %s\nVersion: %s\nSection: net\nPriority: optional\nArchitecture: %s\nMaintainer: %s\nInstalled-Size: %d\n",
		p.Name, p.Version, DebArch(p.Arch), p.Maintainer, kilobytes)
	if len(p.Recommends) > 0 {
		fmt.Fprintf(&b, "Recommends: %s\n", strings.Join(p.Recommends, ", "))
	}
	fmt.Fprintf(&b, "Description: %s\n", p.Summary)
	for line := range strings.Lines(p.Description) {
		if line = strings.TrimRight(line, "\n"); line == "" {
			line = "."
		}
		b.WriteString(" " + line + "\n")
	}
	return b.String()
}

// ar returns an archive in the format of ar(5), with short names.
func ar(at time.Time, members []member) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, m := range members {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.name, at.Unix(), 0, 0, 0o100000|m.mode, len(m.data))
		b.Write(m.data)
		if len(m.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// RPMArch returns RPM's name of an architecture.
func RPMArch(arch string) string {
	return map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]
}

// RPM returns the package for rpm(8).
func RPM(p Package) ([]byte, error) {
	r, err := rpmpack.NewRPM(rpmpack.RPMMetaData{
		Name: p.Name, Version: strings.ReplaceAll(p.Version, "-", "~"), Release: "1", Arch: RPMArch(p.Arch), OS: "linux",
		Summary: p.Summary, Description: p.Description, Packager: p.Maintainer, Licence: p.License,
		BuildHost: "reproducible", BuildTime: p.At, Compressor: "gzip:9",
	})
	if err != nil {
		return nil, fmt.Errorf("begin the RPM: %w", err)
	}
	for _, e := range sorted(p.Entries) {
		r.AddFile(rpmpack.RPMFile{Name: e.Path, Body: e.Data, Mode: uint(e.Mode), Owner: "root", Group: "root", MTime: uint32(p.At.Unix())})
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		return nil, fmt.Errorf("write the RPM: %w", err)
	}
	return b.Bytes(), nil
}
