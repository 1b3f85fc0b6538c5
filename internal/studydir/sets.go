package studydir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"linerate/internal/hint"
	"linerate/internal/host"
)

// More files of a study on machines.
const (
	TestbedFile = "testbed.yaml" // the machines
	SetsFile    = "sets.json"    // the variants' configuration sets
)

// Limits of a configuration set: real ones have a few files of kilobytes.
const (
	maxSetFiles = 256
	maxSetFile  = 1 << 20
	maxSetBytes = 8 << 20

	maxRecordBytes = 64 * maxSetBytes // all sets of a record
)

// SetFile is a file of a configuration set, by its path on the DUT.
type SetFile struct {
	Path string      `json:"path"`
	Mode fs.FileMode `json:"mode"`
	Text string      `json:"text"`
}

// ReadSet reads a configuration set: a directory to be copied over the root of a DUT. It rejects
// links, devices, files that are not text, and private keys.
func ReadSet(dir string) ([]SetFile, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, hint.With(fmt.Errorf("configuration set %s: %w", dir, err), "files: names a directory next to the study's file")
	}
	defer root.Close()
	var set []SetFile
	total := 0
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is not a regular file", p)
		case len(set) == maxSetFiles:
			return fmt.Errorf("more than %d files", maxSetFiles)
		}
		f, err := readSetFile(root, p)
		if total += len(f.Text); err == nil && total > maxSetBytes {
			err = fmt.Errorf("more than %d bytes", maxSetBytes)
		}
		set = append(set, f)
		return err
	})
	if err == nil && len(set) == 0 {
		err = errors.New("it contains no file")
	}
	if err != nil {
		return nil, fmt.Errorf("configuration set %s: %w", dir, err)
	}
	return set, nil
}

func readSetFile(root *os.Root, p string) (SetFile, error) {
	info, err := root.Lstat(p)
	if err != nil {
		return SetFile{}, err
	}
	if info.Size() > maxSetFile {
		return SetFile{}, fmt.Errorf("%s is longer than %d bytes", p, maxSetFile)
	}
	data, err := root.ReadFile(p)
	switch {
	case err != nil:
		return SetFile{}, err
	case slices.Contains(data, 0) || !utf8.Valid(data):
		return SetFile{}, fmt.Errorf("%s is not text", p)
	case strings.Contains(string(data), "PRIVATE KEY-----"):
		return SetFile{}, hint.With(fmt.Errorf("%s holds a private key, which a study's record must not", p), "put the key on the DUT by hand")
	}
	mode := fs.FileMode(0o644)
	if info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	return SetFile{Path: "/" + filepath.ToSlash(p), Mode: mode, Text: string(data)}, nil
}

// KeepSets stores configuration sets in the record, by name.
func (d *Dir) KeepSets(sets map[string][]SetFile) error {
	data, err := json.MarshalIndent(sets, "", " ")
	if err != nil {
		return fmt.Errorf("keep the configuration sets: %w", err)
	}
	return d.Keep(SetsFile, append(data, '\n'))
}

// ReadSets reads the configuration sets in a record; there are none if the file is missing.
func ReadSets(path string) (map[string][]SetFile, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	sets, err := readSets(root, maxRecordBytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(path, SetsFile), err)
	}
	return sets, nil
}

func readSets(root *os.Root, limit int64) (sets map[string][]SetFile, err error) {
	f, err := root.Open(SetsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := host.ReadBounded(f, limit)
	if err != nil {
		return nil, err
	}
	return sets, json.Unmarshal(data, &sets)
}
