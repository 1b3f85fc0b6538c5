package filehost

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/host"
)

// manifest is manifest.tsv: one item per line, tab-separated:
//
// bundle 1
// os freebsd
// machine 0f3c… digest of machine-id or kern.hostuuid
// taken 2026-11-20T11:04:34Z
// file /etc/rc.conf read|unreadable|left-out reason
// query sysctl-a 0 complaint
// left-out what why
type manifest struct {
	os, taken string
	machine   string
	files     map[string]entry
	queries   map[string]entry
	leftOut   []fact.LeftOut
}

// entry is the outcome of reading one source for the bundle.
type entry struct{ status, reason string }

// version is the format that this package reads.
const version = "1"

func parseManifest(text string) (manifest, error) {
	m := manifest{files: map[string]entry{}, queries: map[string]entry{}}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		for len(f) < 4 {
			f = append(f, "")
		}
		switch f[0] {
		case "bundle":
			if f[1] != version {
				return m, fmt.Errorf("format %.20q is not known here (want %s)", f[1], version)
			}
		case "os":
			m.os = strings.ToLower(f[1])
		case "machine":
			m.machine = f[1]
		case "taken":
			m.taken = f[1]
		case "file":
			m.files[f[1]] = entry{f[2], f[3]}
		case "query":
			m.queries[f[1]] = entry{f[2], f[3]}
		case "left-out":
			m.leftOut = append(m.leftOut, fact.LeftOut{What: f[1], Why: f[2]})
		}
	}
	return m, nil
}

// err returns the error that reading the source gave on the host.
func (e entry) err() error {
	switch e.status {
	case "0", fact.StatusRead:
		return nil
	case fact.StatusMissing:
		return fs.ErrNotExist
	case fact.StatusLeftOut:
		return fmt.Errorf("%w: %s", host.ErrLeftOut, e.reason)
	case "127", "no-command":
		return host.ErrNoCommand
	case fact.StatusUnreadable:
		return errors.New(cmp.Or(e.reason, "unreadable when captured"))
	}
	return errors.New(cmp.Or(e.reason, "exit status "+e.status))
}
