package dist

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// freebsdManifest is a package's manifest in the format of pkg-create(8): JSON, which is valid UCL.
// The compact one omits the files.
type freebsdManifest struct {
	Name         string            `json:"name"`
	Origin       string            `json:"origin"`
	Version      string            `json:"version"`
	Comment      string            `json:"comment"`
	Maintainer   string            `json:"maintainer"`
	WWW          string            `json:"www"`
	ABI          string            `json:"abi"`
	Arch         string            `json:"arch"`
	Prefix       string            `json:"prefix"`
	FlatSize     int               `json:"flatsize"`
	LicenseLogic string            `json:"licenselogic"`
	Licenses     []string          `json:"licenses"`
	Description  string            `json:"desc"`
	Categories   []string          `json:"categories"`
	Files        map[string]string `json:"files,omitempty"`
	Directories  map[string]string `json:"directories,omitempty"`
	Messages     []freebsdMessage  `json:"messages,omitempty"`
}

// freebsdMessage is shown on installation of the package.
type freebsdMessage struct {
	Message string `json:"message"`
	Type    string `json:"type"`
}

// freebsdABI maps an architecture to its names in a package's manifest, for any release: the binary
// is static and uses nothing that later releases remove.
var freebsdABI = map[string][2]string{
	"amd64": {"FreeBSD:*:amd64", "freebsd:*:x86:64"},
	"arm64": {"FreeBSD:*:aarch64", "freebsd:*:aarch64:64"},
}

// FreeBSDOrigin is the package's origin.
const FreeBSDOrigin = "benchmarks/linerate"

// FreeBSDPackage returns the package for pkg-add(8): a tar archive, compressed by zstd, of
// +COMPACT_MANIFEST, +MANIFEST, and the files by absolute path.
func FreeBSDPackage(p Package, message string) ([]byte, error) {
	entries := sorted(p.Entries)
	abi, ok := freebsdABI[p.Arch]
	if !ok {
		return nil, fmt.Errorf("no name of FreeBSD's for the architecture %s", p.Arch)
	}
	m := freebsdManifest{
		Name: p.Name, Origin: FreeBSDOrigin, Version: strings.ReplaceAll(p.Version, "-", "."), Comment: p.Summary, Maintainer: address(p.Maintainer),
		ABI: abi[0], Arch: abi[1], Prefix: "/usr/local", LicenseLogic: "single", Licenses: []string{"BSD2CLAUSE"}, Description: p.Description,
		Categories: []string{"benchmarks", "sysutils"},
	}
	if message != "" {
		m.Messages = []freebsdMessage{{message, "install"}}
	}
	for _, e := range entries {
		m.FlatSize += len(e.Data)
	}
	compact, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	m.Files = map[string]string{}
	for _, e := range entries {
		m.Files[e.Path] = "1$" + sum(e.Data)
	}
	whole, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	members := []member{{"+COMPACT_MANIFEST", 0o644, compact}, {"+MANIFEST", 0o644, whole}}
	for _, e := range entries {
		members = append(members, member{e.Path, e.Mode, e.Data})
	}
	var b bytes.Buffer
	if err := tarball(&b, p.At, members); err != nil {
		return nil, err
	}
	return zstandard(b.Bytes())
}

// address returns the mail address in "Name <address>".
func address(who string) string {
	if _, a, ok := strings.Cut(who, "<"); ok {
		return strings.TrimSuffix(a, ">")
	}
	return who
}
