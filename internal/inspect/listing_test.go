package inspect

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"linerate/internal/fact/release"
	"linerate/internal/host"
	"linerate/internal/host/filehost"
)

// lister counts how often each directory is listed.
type lister struct {
	host.Reader
	listed map[string]int
}

func (l lister) ReadDir(ctx context.Context, name string) ([]string, error) {
	l.listed[name]++
	return l.Reader.ReadDir(ctx, name)
}

// TestDirectoriesAreListedOnce: a hundred patterns of files share a few directories.
func TestDirectoriesAreListedOnce(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "etc/nginx/conf.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	tree, err := filehost.OpenTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for rel, shared := range map[string]string{"6.1": "/etc/nginx/conf.d", "14.3": "/usr/local/etc"} {
		l := lister{tree, map[string]int{}}
		if _, err := Host(context.Background(), l, Options{Release: release.MustParse(rel)}); err != nil {
			t.Fatal(err)
		}
		if l.listed[shared] != 1 {
			t.Errorf("%s: %s is listed %d times", rel, shared, l.listed[shared])
		}
	}
}
