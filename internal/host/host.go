// Package host reaches machines, live or captured. A Reader can only read;
// writing is done by another interface in another package.
package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"linerate/internal/fact"
)

// Limits on what is read from one source. Real ones are far below.
const (
	MaxFile   = 4 << 20
	MaxOutput = 16 << 20
	MaxNames  = 65_536
)

// Errors that say why a source returned nothing, besides fs.ErrNotExist and fs.ErrPermission.
var (
	// ErrNotLive means that there is no running kernel, as in a directory tree.
	ErrNotLive = errors.New("only files are known of this host")
	// ErrNoCommand means that the command is not installed, or was not captured.
	ErrNoCommand = errors.New("no such command")
	// ErrTooLarge means that the source is longer than its limit; the data up to it is returned
	// with the error.
	ErrTooLarge = errors.New("larger than the limit")
	// ErrLeftOut means that the capture deliberately omitted it.
	ErrLeftOut = errors.New("left out of the capture")
)

// Reader reads one machine. All methods can be called any number of times, never write, and return
// within the deadline of the context.
type Reader interface {
	// Origin describes what is read.
	Origin() fact.Origin
	// OS returns fact.FreeBSD, fact.Linux or "" if unknown.
	OS() string
	// ReadFile returns the content of a regular file by its path on the machine. Beyond MaxFile it
	// returns the first MaxFile bytes and ErrTooLarge.
	ReadFile(ctx context.Context, path string) ([]byte, error)
	// ReadDir returns the names in a directory, sorted; beyond MaxNames it returns that many, and
	// ErrTooLarge.
	ReadDir(ctx context.Context, path string) ([]string, error)
	// Output returns what a query prints on stdout. No shell interprets its arguments. On a
	// non-zero exit it returns both the output and an error.
	Output(ctx context.Context, q Query) ([]byte, error)
	// LeftOut lists what a capture deliberately omitted.
	LeftOut() []fact.LeftOut
	io.Closer
}

// Identified is a Reader that knows the digest of the machine's identifier (fact.MachineIDOf), but
// not the identifier, which stays on the machine.
type Identified interface{ MachineID() string }

// Moded is a Reader that can tell the permissions of a file.
type Moded interface {
	Mode(path string) (fs.FileMode, error)
}

// BoundNames sorts the names of a directory and keeps MaxNames of them; it returns ErrTooLarge if
// there were more.
func BoundNames(names []string) ([]string, error) {
	slices.Sort(names)
	if len(names) > MaxNames {
		return names[:MaxNames], fmt.Errorf("%w of %d names", ErrTooLarge, MaxNames)
	}
	return names, nil
}

// ReadBounded reads at most limit bytes of r; it returns ErrTooLarge if there were more.
func ReadBounded(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return b, err
	}
	if int64(len(b)) > limit {
		return b[:limit], fmt.Errorf("%w of %d bytes", ErrTooLarge, limit)
	}
	return b, nil
}

// ReadFile reads at most limit bytes of a file named by a user, whatever kind of file it is.
func ReadFile(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, name, limit)
}

// ReadAll is ReadBounded with errors that name the source.
func ReadAll(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := ReadBounded(r, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// Bare returns an error without the operation and path that the os package adds.
func Bare(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// Status returns the outcome of reading a source in the form that facts record.
func Status(err error) (status, reason string) {
	switch {
	case err == nil:
		return fact.StatusRead, ""
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrNoCommand), errors.Is(err, ErrNotLive):
		return fact.StatusMissing, err.Error()
	case errors.Is(err, ErrTooLarge):
		return fact.StatusPartial, err.Error()
	case errors.Is(err, ErrLeftOut):
		return fact.StatusLeftOut, err.Error()
	}
	return fact.StatusUnreadable, err.Error()
}
