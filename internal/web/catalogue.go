package web

import (
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"path"

	"linerate/internal/evidence"
	"linerate/internal/ledger"
	"linerate/internal/tunable"
)

// catalogue answers with a page of the catalogue, with what the ledger has of it.
func (s *Server) catalogue(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("page")
	if name == "" {
		w.Header().Set("Location", "/catalogue/index.html")
		w.WriteHeader(http.StatusMovedPermanently)
		return
	}
	if s.Catalogue == nil {
		s.fail(w, r, missing("this page has no catalogue"))
		return
	}
	l, err := s.reader(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	var about func(*tunable.Record) (mine, siblings []evidence.Row, err error)
	if l != nil {
		about = func(rec *tunable.Record) (mine, siblings []evidence.Row, err error) {
			return ledger.About(r.Context(), l, s.Catalogue.Catalogue(), rec)
		}
	}
	data, err := s.Catalogue.Page(name, about)
	if errors.Is(err, fs.ErrNotExist) {
		err = missing("the catalogue has no page %s", name)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	_, _ = w.Write(data)
}
