package web

import (
	"context"
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"linerate/internal/ledger"
	"linerate/internal/site"
	"linerate/internal/tunable"
)

// catalogue serves a page of the catalogue, with the ledger's data about it.
func (s *Server) catalogue(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, API), "/catalogue/")
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
	var about func(*tunable.Record) (site.About, error)
	if l != nil {
		about = func(rec *tunable.Record) (site.About, error) { return s.about(r.Context(), l, rec) }
	}
	if strings.HasPrefix(r.URL.Path, API) {
		name = strings.TrimSuffix(name, ".html") + ".json"
	}
	data, err := s.Catalogue.Page(name, about)
	if errors.Is(err, fs.ErrNotExist) {
		if to := s.otherName(name); to != "" {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusSeeOther)
			return
		}
		err = missing("the catalogue has no page %s", name)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	_, _ = w.Write(data)
}

// otherName returns the URL of a tunable's page that was requested by the name for one device or
// interface.
func (s *Server) otherName(page string) string {
	os, name, ok := strings.Cut(strings.TrimPrefix(page, "t/"), "/")
	if name, html := strings.CutSuffix(name, ".html"); ok && html {
		return s.TunableURL(os, name)
	}
	return ""
}

// about returns the ledger's data about a tunable: evidence, and a fleet's findings.
func (s *Server) about(ctx context.Context, l ledger.Reader, rec *tunable.Record) (has site.About, err error) {
	c := s.Catalogue.Catalogue()
	if has.Mine, has.Siblings, err = ledger.About(ctx, l, c, rec); err != nil {
		return has, err
	}
	st, err := l.Status(ctx, 0)
	if err != nil || st.Hosts == 0 {
		return has, err
	}
	has.Fleet = &site.OnFleet{}
	for _, g := range st.Groups {
		if g.OS == rec.OS {
			has.Fleet.Hosts += g.Hosts
		}
	}
	has.Fleet.Counts, err = l.TunableCounts(ctx, rec.OS, func(name string) bool {
		of, ok := c.Lookup(rec.OS, name)
		return ok && of == rec
	})
	return has, err
}
