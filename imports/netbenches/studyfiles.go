package netbenches

import (
	"path"
	"path/filepath"

	"linerate/internal/ledger"
)

// studyFiles is one folder of results with all that belongs to it.
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
			st = &studyFiles{dir: s.Study}
			st.place, _ = ParsePlace(im.t.named(s.Study))
			byDir[s.Study] = st
		}
		st.series = append(st.series, s)
	}
	for _, r := range im.t.Readmes {
		if st := byDir[r.Dir]; st != nil && (st.readme == nil || len(r.Blocks) > len(st.readme.Blocks)) {
			st.readme = r
		}
	}
	im.assignFiles(byDir)
	out := make([]*studyFiles, 0, len(byDir))
	for _, k := range sortedKeys(byDir) {
		out = append(out, byDir[k])
	}
	return out
}

// assignFiles gives every file to the study whose folder holds it, and the
// topic's configurations to each of its studies.
func (im *Import) assignFiles(byDir map[string]*studyFiles) {
	topics := map[string][]*studyFiles{}
	for _, k := range sortedKeys(byDir) {
		st := byDir[k]
		topics[topicDir(st.dir)] = append(topics[topicDir(st.dir)], st)
	}
	for _, f := range im.t.Files {
		dir := path.Dir(f.Path)
		if f.Role == RoleConfig {
			set, _ := configSet(f.Path)
			for dir = path.Dir(set); path.Base(dir) == "configs" || path.Base(dir) == "config"; {
				dir = path.Dir(dir)
			}
			for _, st := range topics[dir] {
				st.files = append(st.files, f)
			}
			continue
		}
		for dir != "." && dir != "/" {
			if st := byDir[dir]; st != nil {
				st.files = append(st.files, f)
				break
			}
			dir = path.Dir(dir)
		}
	}
}

// identity is the study's identifier: its place and the content of the files
// that its numbers come from.
func (st *studyFiles) identity() ledger.ID {
	parts := []string{kindStudy, st.canonical()}
	for _, f := range st.files {
		if f.SHA256 != "" && f.Role != RoleProfile && f.Role != RoleHook && f.Role != RoleOther {
			parts = append(parts, relative(st.dir, f.Path), f.SHA256)
		}
	}
	return ledger.IDOf(parts...)
}

// relative is a path as seen from a folder of the tree: the same wherever the
// tree's root is.
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
