package dist

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/google/rpmpack"
)

// RPMArch is RPM's name of an architecture.
func RPMArch(arch string) string {
	return map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]
}

// RPM is the package as rpm(8) installs it.
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
