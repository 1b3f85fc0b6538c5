package sshhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/host"
)

// Host is a host.Reader over SSH: every call is a round trip. A whole host is
// read faster by Client.Run of the capture script.
type Host struct {
	*Client
	os string
}

// NewReader asks the host what it is and reads it from then on.
func NewReader(ctx context.Context, c *Client) (*Host, error) {
	out, err := c.Run(ctx, Script{Name: "uname", Text: "uname -s", Limit: 256})
	if err != nil {
		return nil, err
	}
	h := &Host{Client: c}
	if name := strings.ToLower(strings.TrimSpace(string(out))); name == fact.FreeBSD || name == fact.Linux {
		h.os = name
	}
	return h, nil
}

// Origin implements host.Reader.
func (h *Host) Origin() fact.Origin { return fact.Origin{Kind: fact.KindSSH, Path: h.target.String()} }

// OS implements host.Reader.
func (h *Host) OS() string { return h.os }

// Statuses by which the scripts below say why they have nothing; sh and the
// commands themselves use others.
const (
	statusMissing   = 44
	statusWrongKind = 45
	statusDenied    = 46
	statusNoCommand = 47
)

// ReadFile implements host.Reader.
func (h *Host) ReadFile(ctx context.Context, name string) ([]byte, error) {
	text := fmt.Sprintf(`p=%s
[ -e "$p" ] || [ -h "$p" ] || exit %d
[ -f "$p" ] || exit %d
[ -r "$p" ] || exit %d
exec head -c %d "$p"`, host.Quote(path.Clean(name)), statusMissing, statusWrongKind, statusDenied, host.MaxFile+1)
	return h.ask(ctx, Script{Name: "read " + name, Text: text, Limit: host.MaxFile}, "not a regular file")
}

// ReadDir implements host.Reader.
func (h *Host) ReadDir(ctx context.Context, name string) ([]string, error) {
	text := fmt.Sprintf(`p=%s
[ -e "$p" ] || exit %d
[ -d "$p" ] || exit %d
cd "$p" 2>/dev/null || exit %d
exec find . -name . -o -prune -print0`, host.Quote(path.Clean(name)), statusMissing, statusWrongKind, statusDenied)
	out, err := h.ask(ctx, Script{Name: "list " + name, Text: text}, "not a directory")
	if err != nil {
		return nil, err
	}
	var names []string
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		if n := strings.TrimPrefix(string(entry), "./"); n != "" && len(names) <= host.MaxNames {
			names = append(names, n)
		}
	}
	return host.BoundNames(names)
}

// Output implements host.Reader.
func (h *Host) Output(ctx context.Context, q host.Query) ([]byte, error) {
	argv := q.Argv()
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = host.Quote(a)
	}
	text := fmt.Sprintf(`LC_ALL=C
PATH=/sbin:/bin:/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin
export LC_ALL PATH
command -v %s >/dev/null 2>&1 || exit %d
exec %s`, words[0], statusNoCommand, strings.Join(words, " "))
	return h.ask(ctx, Script{Name: q.String(), Text: text}, "")
}

// ask runs a script and gives its statuses the names that readers use.
func (h *Host) ask(ctx context.Context, s Script, wrongKind string) ([]byte, error) {
	out, err := h.Run(ctx, s)
	var exit *ExitError
	if !errors.As(err, &exit) {
		return out, err
	}
	switch exit.Status {
	case statusMissing:
		return nil, fs.ErrNotExist
	case statusWrongKind:
		return nil, errors.New(wrongKind)
	case statusDenied:
		return nil, fs.ErrPermission
	case statusNoCommand:
		return nil, fmt.Errorf("%s: %w", strings.Fields(s.Name)[0], host.ErrNoCommand)
	}
	return out, err
}

// LeftOut implements host.Reader.
func (*Host) LeftOut() []fact.LeftOut { return nil }

var _ host.Reader = (*Host)(nil)
