package fault

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// synced returns the directory in which the agent's prelude keeps what fsync(2)
// has put on disk: a copy of each file, named by its inode.
func (r *Sandbox) synced() string { return filepath.Join(r.Dir, "synced") }

// allSynced treats all present files as synced, and makes the agent keep what
// it syncs from now on.
func (r *Sandbox) allSynced() error {
	return r.do(func() error {
		if err := os.Mkdir(r.synced(), 0o700); err != nil {
			return err
		}
		return r.eachFile(func(path, inode string, content []byte) error {
			return os.WriteFile(filepath.Join(r.synced(), inode), content, 0o600)
		})
	})
}

// loseUnsynced simulates a power cut on a journalling file system: names and
// renames survive, but a file has its last synced content, or none.
func (r *Sandbox) loseUnsynced() error {
	return r.do(func() error {
		if !exists(r.synced()) {
			return nil
		}
		return r.eachFile(func(path, inode string, content []byte) error {
			was, err := os.ReadFile(filepath.Join(r.synced(), inode))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if bytes.Equal(was, content) {
				return nil
			}
			return os.WriteFile(path, was, 0o600)
		})
	})
}

// eachFile calls f for every regular file of the sandbox.
func (r *Sandbox) eachFile(f func(path, inode string, content []byte) error) error {
	return filepath.WalkDir(r.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return f(path, strconv.FormatUint(st.Ino, 10), content)
	})
}

// untold returns a transaction in the history without the time at which it
// ended or the reason why it was reverted; "" if there is none.
func (r *Sandbox) untold() (missing string, err error) {
	err = r.do(func() error {
		past, err := filepath.Glob(filepath.Join(r.Root, "var/lib/linerate/history/*"))
		for _, h := range past {
			want := []string{"when"}
			if strings.HasSuffix(h, ".reverted") {
				want = append(want, "why")
			}
			for _, name := range want {
				if b, _ := os.ReadFile(filepath.Join(h, name)); len(bytes.TrimSpace(b)) == 0 {
					missing = filepath.Base(h) + " does not say " + name
				}
			}
		}
		return err
	})
	return missing, err
}
