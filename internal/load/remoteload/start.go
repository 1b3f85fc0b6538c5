package remoteload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"

	"linerate/internal/hint"
	"linerate/internal/host"
)

// Far describes where to run the far end.
type Far struct {
	Name  string // of the machine, in messages
	Host  host.Piper
	Local bool // it is this machine: nothing is copied
	// Program is the local path of this program, to be copied there. The copy
	// is removed as soon as it runs.
	Program string
}

// copyScript reads a program of $1 bytes for the system $2 from standard input and
// executes it. The program gets its location as an argument, to delete itself. On
// another system, the script runs the linerate installed there.
const copyScript = `PATH=$PATH:/sbin:/usr/sbin:/usr/local/bin; [ "$(uname -s)" = $2 ] || { head -c $1 >/dev/null; exec linerate far-end; }; umask 077; d=$(mktemp -d "${TMPDIR:-/tmp}/linerate.XXXXXXXX") || exit 1; trap "rm -rf \"$d\"" EXIT; ` +
	`head -c $1 >"$d/linerate" && chmod 700 "$d/linerate" || exit 1; exec "$d/linerate" far-end "$d"`

// localScript executes the local program.
const localScript = `PATH=$PATH:/sbin:/usr/sbin; exec "$1" far-end`

// Start runs this program's far end on a machine.
func Start(ctx context.Context, f Far) (*Link, error) {
	if f.Local {
		p, err := f.Host.Pipe(ctx, localScript, f.Program)
		if err != nil {
			return nil, err
		}
		return Connect(ctx, f.Name, p)
	}
	program, err := os.Open(f.Program)
	if err != nil {
		return nil, fmt.Errorf("copy this program to %s: %w", f.Name, err)
	}
	defer program.Close()
	info, err := program.Stat()
	if err != nil {
		return nil, err
	}
	p, err := f.Host.Pipe(ctx, copyScript, strconv.FormatInt(info.Size(), 10), map[string]string{"linux": "Linux", "freebsd": "FreeBSD"}[runtime.GOOS])
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { p.Close() })
	_, copied := io.Copy(struct{ io.Writer }{p}, program)
	stop()
	l, err := Connect(ctx, f.Name, p)
	if err != nil {
		return nil, hint.With(errors.Join(copied, fmt.Errorf("run this program on %s: %w", f.Name, err)),
			"it is copied to /tmp there, or to the login's TMPDIR: is there space, may programs run there (mount option noexec), and is the processor the same as here? On another system, install linerate there")
	}
	return l, nil
}

// RemoveProgram deletes the copy of the program from which a far end was started,
// so that nothing stays on the machine. The far end calls it first.
func RemoveProgram(dir string) error {
	if dir == "" {
		return nil
	}
	return errors.Join(os.Remove(dir+"/linerate"), os.Remove(dir))
}
