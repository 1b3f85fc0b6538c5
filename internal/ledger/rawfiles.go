package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"linerate/internal/study/record"
)

// rawFiles checks the files of slices that trials were derived from. The
// ledger knows them by their hashes alone; they are read where the study was,
// as far as it is still there.
func (r *Report) rawFiles(ctx context.Context, s Reader) error {
	places := map[ID]string{}
	err := s.Rows(ctx, "studies", func(row StoredRow) error {
		var st Study
		if err := json.Unmarshal(row.Doc, &st); err == nil && st.Kind == KindStudy {
			places[st.ID] = st.Path
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read studies: %w", err)
	}
	files := map[ID][]Source{}
	err = s.Rows(ctx, "sources", func(row StoredRow) error {
		var f Source
		if err := json.Unmarshal(row.Doc, &f); err == nil && (f.Role == roleRaw || f.Path == record.SpecFile) {
			files[f.Study] = append(files[f.Study], f)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read sources: %w", err)
	}
	for study, place := range places {
		r.rawFilesOf(place, files[study])
	}
	return nil
}

// rawFilesOf checks the files of one study in its directory.
func (r *Report) rawFilesOf(place string, files []Source) {
	root, err := os.OpenRoot(place)
	if err == nil {
		defer root.Close()
	}
	here := err == nil && isOf(root.FS(), files)
	for _, f := range files {
		if f.Role != roleRaw {
			continue
		}
		if !here {
			r.RawGone++
			continue
		}
		_, err := record.ReadRaw(root.FS(), f.Path, f.SHA256)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			r.RawGone++
		case err != nil:
			r.problem("%s: %s %v", place, f.Path, err)
		default:
			r.RawChecked++
		}
	}
}

// isOf reports whether a directory holds the study: another machine may have
// one of the same name.
func isOf(dir fs.FS, files []Source) bool {
	for _, f := range files {
		if f.Path != record.SpecFile {
			continue
		}
		data, err := fs.ReadFile(dir, record.SpecFile)
		if err != nil {
			return false
		}
		sum := sha256.Sum256(data)
		return hex.EncodeToString(sum[:]) == f.SHA256
	}
	return false
}
