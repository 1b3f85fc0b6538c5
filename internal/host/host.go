// Package host reaches machines, live or captured. A Reader can look and
// cannot touch; what writes is another interface of another package.
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

// Bounds on what is read of one source. Real ones are far below.
const (
	MaxFile   = 4 << 20
	MaxOutput = 16 << 20
	MaxNames  = 65_536
)

// Errors that say why a source gave nothing; fs.ErrNotExist and
// fs.ErrPermission are the others.
var (
	// ErrNotLive: a directory tree has no running kernel to ask.
	ErrNotLive = errors.New("only files are known of this host")
	// ErrNoCommand: the command is not installed, or was not captured.
	ErrNoCommand = errors.New("no such command here")
	// ErrTooLarge: the source is longer than its bound; what was read of it
	// is returned with the error.
	ErrTooLarge = errors.New("larger than the limit")
	// ErrLeftOut: a capture left it out on purpose.
	ErrLeftOut = errors.New("left out of the capture")
)

// Reader reads one machine. Every method is safe to call any number of
// times, never writes, and returns within its context's deadline.
type Reader interface {
	// Origin says what is read.
	Origin() fact.Origin
	// OS is fact.FreeBSD, fact.Linux or "" when the source does not say.
	OS() string
	// ReadFile returns a regular file's bytes by its path on the machine.
	// Beyond MaxFile it returns the first MaxFile bytes and ErrTooLarge.
	ReadFile(ctx context.Context, path string) ([]byte, error)
	// ReadDir returns the names in a directory, sorted; beyond MaxNames as
	// many, and ErrTooLarge.
	ReadDir(ctx context.Context, path string) ([]string, error)
	// Output returns what a query prints on stdout. Its words are never seen
	// by a shell. A non-zero exit is an error with what was printed.
	Output(ctx context.Context, q Query) ([]byte, error)
	// LeftOut lists what a capture left out on purpose.
	LeftOut() []fact.LeftOut
	io.Closer
}

// Identified is a Reader that knows the digest of the machine's identifier
// (fact.MachineIDOf), but not the identifier, which stays on the machine.
type Identified interface{ MachineID() string }

// Moded is a Reader that can tell whether a file may be executed.
type Moded interface {
	Executable(path string) (bool, error)
}

// BoundNames sorts the names of a directory and keeps MaxNames of them;
// ErrTooLarge if there were more.
func BoundNames(names []string) ([]string, error) {
	slices.Sort(names)
	if len(names) > MaxNames {
		return names[:MaxNames], fmt.Errorf("%w of %d names", ErrTooLarge, MaxNames)
	}
	return names, nil
}

// ReadBounded reads at most limit bytes of r; ErrTooLarge if there were more.
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

// ReadFile reads a file that people named, at most limit bytes of it, whatever is
// behind the name.
func ReadFile(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, name, limit)
}

// ReadAll is ReadBounded whose errors name what was read.
func ReadAll(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := ReadBounded(r, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// Bare is an error without the operation and path that the os package adds.
func Bare(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// Status is how facts record the outcome of reading a source.
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
