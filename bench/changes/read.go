package changes

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"linerate/internal/fact"
)

// most is the largest file that is read of a tree, as configuration files are small.
const most = 64 << 10

// Read adds the files below a directory: a directory that contains etc as a tree, and
// the lines of other files that end in .conf.
func (b *Bench) Read(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := os.Stat(filepath.Join(name, "etc")); d.IsDir() && err == nil && info.IsDir() {
			return b.tree(name)
		}
		if d.IsDir() || filepath.Ext(name) != ".conf" || strings.Contains(name, "/etc/") {
			return nil
		}
		text, err := os.ReadFile(name)
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); strings.Contains(line, "=") && !strings.HasPrefix(line, "#") {
				b.Lines = append(b.Lines, line)
			}
		}
		return err
	})
}

// tree adds the configuration of a host.
func (b *Bench) tree(root string) error {
	h := Host{OS: fact.Linux, Files: Tree{}}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if info, err := d.Info(); err != nil || info.Size() > most {
			return err
		}
		text, err := os.ReadFile(name)
		at := strings.TrimPrefix(filepath.ToSlash(name), filepath.ToSlash(root))
		h.Files[at] = string(text)
		if at == "/etc/rc.conf" || strings.HasPrefix(at, "/boot/loader.conf") {
			h.OS = fact.FreeBSD
		}
		return err
	})
	b.Trees = append(b.Trees, h)
	return err
}
