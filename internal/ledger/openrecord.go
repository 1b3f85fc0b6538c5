package ledger

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"time"

	"linerate/internal/study/record"
)

// OpenRecord reads the record of one of linerate's own studies from the bytes
// that the ledger keeps. It is ErrNotFound where those were not kept.
func OpenRecord(ctx context.Context, s Reader, st *Study) (*record.Record, error) {
	sources, err := s.Sources(ctx, st.ID)
	if err != nil {
		return nil, err
	}
	files := recordFS{}
	for _, f := range sources {
		if f.Role != roleRecord {
			continue
		}
		b, err := s.Blob(ctx, f.SHA256)
		if err != nil {
			return nil, err
		}
		if files[f.Path], err = b.Bytes(); err != nil {
			return nil, err
		}
	}
	r, err := record.Read(files, st.Place)
	if errors.Is(err, record.ErrNoStudy) {
		return nil, ErrNotFound
	}
	return r, err
}

// recordFS is the files of one directory, by name.
type recordFS map[string][]byte

// Open opens a file.
func (m recordFS) Open(name string) (fs.File, error) {
	data, ok := m[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &recordFile{bytes.NewReader(data), name}, nil
}

// recordFile is an open file, and what is known of it.
type recordFile struct {
	*bytes.Reader
	name string
}

func (f *recordFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *recordFile) Close() error               { return nil }
func (f *recordFile) Name() string               { return f.name }
func (f *recordFile) Mode() fs.FileMode          { return 0o444 }
func (f *recordFile) ModTime() time.Time         { return time.Time{} }
func (f *recordFile) IsDir() bool                { return false }
func (f *recordFile) Sys() any                   { return nil }
