package studydir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"linerate/internal/list"
	"linerate/internal/study/record"
)

// Folder is a directory that contains studies' directories, or is one, to be read while studies run
// in it.
type Folder string

// Found is a study's directory in a folder.
type Found struct {
	Name    string    // of its directory
	Changed time.Time // of its trials, or of study.yaml if there are none yet
	Bytes   int64     // size of its trials
	path    string
}

// maxFound is the maximum number of studies found, maxEntries that of directories searched.
const (
	maxFound   = 500
	maxEntries = 20_000
)

// List returns the studies, the last changed first. It does not follow links.
func (f Folder) List() ([]Found, error) {
	folder, err := filepath.Abs(string(f))
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for studies: %w", err)
	}
	var all []Found
	if found, ok := look(folder); ok {
		all = append(all, found)
	}
	for _, e := range entries[:min(len(entries), maxEntries)] {
		if found, ok := look(filepath.Join(folder, e.Name())); ok && e.IsDir() {
			all = append(all, found)
		}
	}
	list.Sort(all, func(a, b Found) int { return cmp.Or(b.Changed.Compare(a.Changed), cmp.Compare(a.Name, b.Name)) })
	return all[:min(len(all), maxFound)], nil
}

// look returns a study's directory; ok is false if it is not one.
func look(path string) (Found, bool) {
	spec, err := os.Lstat(filepath.Join(path, SpecFile))
	if err != nil || !spec.Mode().IsRegular() {
		return Found{}, false
	}
	out := Found{Name: filepath.Base(path), path: path, Changed: spec.ModTime()}
	trials, err := os.Lstat(filepath.Join(path, TrialsFile))
	if err != nil {
		return out, errors.Is(err, fs.ErrNotExist)
	}
	if !trials.Mode().IsRegular() {
		return out, false
	}
	out.Bytes = trials.Size()
	if trials.ModTime().After(out.Changed) {
		out.Changed = trials.ModTime()
	}
	return out, true
}

// Read reads a study by its name in List; it returns fs.ErrNotExist if there is none.
func (f Folder) Read(name string) (*record.Record, error) {
	all, err := f.List()
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(all, func(d Found) bool { return d.Name == name }); i >= 0 {
		return Read(all[i].path)
	}
	return nil, fmt.Errorf("study %s: %w", name, fs.ErrNotExist)
}
