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

	"linerate/internal/study/record"
)

// Folders are directories that hold studies' directories, to be read while studies run
// in them.
type Folders []string

// Found is a study's directory in a folder.
type Found struct {
	Name    string    // what it is asked for by: the directory's, with a number where another folder has it too
	Path    string    // where it is
	Changed time.Time // of its trials, or of study.yaml where there are none yet
	Bytes   int64     // of its trials
}

// maxFound bounds the studies that are looked for, and maxEntries the directories for them.
const (
	maxFound   = 500
	maxEntries = 20_000
)

// List finds the studies, the one that changed last first. A folder that is a study's own
// directory is one. Links are not followed.
func (f Folders) List() ([]Found, error) {
	var all []Found
	seen := map[string]bool{}
	take := func(path string) {
		found, ok := look(path)
		if !ok || seen[path] {
			return
		}
		seen[path] = true
		all = append(all, found)
	}
	for _, folder := range f {
		folder, err := filepath.Abs(folder)
		if err != nil {
			return nil, err
		}
		take(folder)
		entries, err := os.ReadDir(folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look for studies: %w", err)
		}
		for _, e := range entries[:min(len(entries), maxEntries)] {
			if e.IsDir() {
				take(filepath.Join(folder, e.Name()))
			}
		}
	}
	nameApart(all)
	slices.SortStableFunc(all, func(a, b Found) int { return cmp.Or(b.Changed.Compare(a.Changed), cmp.Compare(a.Name, b.Name)) })
	return all[:min(len(all), maxFound)], nil
}

// nameApart gives a number to those after the first of a name, one that no directory has
// in its own name.
func nameApart(all []Found) {
	own, taken := map[string]bool{}, map[string]int{}
	for _, f := range all {
		own[f.Name] = true
	}
	for i := range all {
		name := all[i].Name
		for taken[name]++; taken[name] > 1; taken[name]++ {
			if apart := fmt.Sprintf("%s~%d", name, taken[name]); !own[apart] {
				all[i].Name = apart
				break
			}
		}
	}
}

// look reports a study's directory.
func look(path string) (Found, bool) {
	spec, err := os.Lstat(filepath.Join(path, SpecFile))
	if err != nil || !spec.Mode().IsRegular() {
		return Found{}, false
	}
	out := Found{Name: filepath.Base(path), Path: path, Changed: spec.ModTime()}
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

// Named is a study by the name that List gives it, fs.ErrNotExist where there is none.
func (f Folders) Named(name string) (Found, error) {
	all, err := f.List()
	if err != nil {
		return Found{}, err
	}
	if i := slices.IndexFunc(all, func(d Found) bool { return d.Name == name }); i >= 0 {
		return all[i], nil
	}
	return Found{}, fmt.Errorf("study %s: %w", name, fs.ErrNotExist)
}

// Read reads a study by the name that List gives it.
func (f Folders) Read(name string) (*record.Record, error) {
	d, err := f.Named(name)
	if err != nil {
		return nil, err
	}
	return Read(d.Path)
}
