package netbenches

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"linerate/internal/ledger"
)

// studyFiles is a result folder with all files that belong to it.
type studyFiles struct {
	dir    string
	place  Place
	series []*Series
	readme *Readme
	files  []*File
}

func (im *Import) studies() []*studyFiles {
	byDir := map[string]*studyFiles{}
	for _, s := range im.t.Series {
		st := byDir[s.Study]
		if st == nil {
			st = &studyFiles{dir: s.Study, place: ParsePlace(im.t.named(s.Study))}
			byDir[s.Study] = st
		}
		st.series = append(st.series, s)
	}
	for _, r := range im.t.Readmes {
		if st := byDir[path.Dir(r.Path)]; st != nil && (st.readme == nil || len(r.Blocks) > len(st.readme.Blocks)) {
			st.readme = r
		}
	}
	im.assignFiles(byDir)
	return slices.SortedFunc(maps.Values(byDir), func(a, b *studyFiles) int { return cmp.Compare(a.dir, b.dir) })
}

// assignFiles assigns each file to the study whose folder contains it, and a
// topic's configurations to all of its studies.
func (im *Import) assignFiles(byDir map[string]*studyFiles) {
	topics := map[string][]*studyFiles{}
	for _, st := range byDir {
		topics[topicDir(st.dir)] = append(topics[topicDir(st.dir)], st)
	}
	for _, f := range im.t.Files {
		if f.Role == RoleConfig {
			set, _ := configSet(f.Path)
			topic, _ := topicOfSet(set)
			for _, st := range topics[topic] {
				st.files = append(st.files, f)
			}
			continue
		}
		for dir := path.Dir(f.Path); dir != "." && dir != "/"; dir = path.Dir(dir) {
			if st := byDir[dir]; st != nil {
				st.files = append(st.files, f)
				break
			}
		}
	}
}

// identity returns the study's ID, derived from its place and the content of
// the files that its numbers come from.
func (st *studyFiles) identity() ledger.ID {
	parts := []string{kindStudy, st.canonical()}
	for _, f := range st.files {
		if f.SHA256 != "" && f.Role != RoleProfile && f.Role != RoleOther {
			parts = append(parts, relative(st.dir, f.Path), f.SHA256)
		}
	}
	return ledger.IDOf(parts...)
}

// relative returns a path relative to a folder of the tree, which does not
// depend on the tree's root.
func relative(dir, p string) string {
	r, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(p))
	if err != nil {
		return p
	}
	return filepath.ToSlash(r)
}

func (st *studyFiles) canonical() string {
	if c := st.place.Canonical(); c != "" && st.place.Hardware != "" {
		return c
	}
	return st.dir
}
