package ledger

import (
	"context"
	"errors"

	"linerate/internal/study/record"
)

// OpenRecord reads the record of one of linerate's own studies from the files
// in the ledger. It returns ErrNotFound if they are not stored.
func OpenRecord(ctx context.Context, s Reader, st *Study) (*record.Record, error) {
	sources, err := s.Sources(ctx, st.ID)
	if err != nil {
		return nil, err
	}
	files := record.Memory{}
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
