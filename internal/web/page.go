package web

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"linerate/internal/ledger"
	"linerate/internal/show"
	"linerate/internal/site"
)

//go:embed pages.html
var pagesText string

//go:embed web.css
var webStyle string

//go:embed icon.svg
var icon []byte

// templates are those of the catalogue and of the other pages. They are parsed on first use.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(site.Templates().Funcs(template.FuncMap{
		"when": when,
		"percent": func(n, of int) string {
			if of == 0 {
				return ""
			}
			return show.Percent(100 * float64(n) / float64(of))
		},
		"segments": func(path string) string { return (&url.URL{Path: path}).EscapedPath() },
		"ago":      ago,
		"few":      few,
		"lasts":    func(seconds float64) string { return show.Long(time.Duration(seconds * float64(time.Second))) },
		"stamp":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	}).Parse(pagesText))
})

// API is the prefix of a page's path for its JSON.
const API = "/api/v1"

// SchemaBase is the prefix of the ids of the documents' JSON Schemas.
const SchemaBase = "urn:linerate:schema:serve-"

// answer is the content of a page.
type answer struct {
	title string
	doc   any // the JSON document, and the template's data
	// refresh is after how many seconds a browser reloads it.
	refresh int
	// inline means that the page has shapes with inline colours.
	inline bool
}

// Document is the beginning of every JSON document.
type Document struct {
	Version int `json:"version"`
}

// version1 is the beginning of documents of this version.
var version1 = Document{1}

// ofLedger serves a path from the ledger, which is nil if there is none yet.
func (s *Server) ofLedger(path, template string, ask func(*http.Request, ledger.Reader) (*answer, error)) {
	s.page(path, template, func(r *http.Request) (*answer, error) {
		l, err := s.reader(r.Context())
		if err != nil {
			return nil, err
		}
		return ask(r, l)
	})
}

// page serves a path: as a page from a template, and as JSON below API.
func (s *Server) page(path, template string, ask func(*http.Request) (*answer, error)) {
	answered := func(give func(http.ResponseWriter, *http.Request, *answer)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			a, err := ask(r)
			if err != nil {
				s.fail(w, r, err)
				return
			}
			give(w, r, a)
		}
	}
	s.mux.HandleFunc("GET "+path, answered(func(w http.ResponseWriter, r *http.Request, a *answer) { s.write(w, r, http.StatusOK, template, a) }))
	s.mux.HandleFunc("GET "+API+path, answered(func(w http.ResponseWriter, _ *http.Request, a *answer) {
		w.Header().Set("Link", "<"+SchemaBase+template+`>; rel="describedby"`) // printed by linerate schema
		writeJSON(w, http.StatusOK, a.doc)
	}))
}

// Nav returns the navigation of all pages, including those of the catalogue (site.Input.Within).
func Nav() []site.Link {
	return []site.Link{{Name: "Fleet", URL: "/fleet"}, {Name: "Studies", URL: "/studies"}, {Name: "Queue", URL: "/queue"}, {Name: "Catalogue", URL: "/catalogue/index.html"}}
}

// write renders a page completely before it sends the first byte.
func (s *Server) write(w http.ResponseWriter, r *http.Request, code int, name string, a *answer) {
	var b bytes.Buffer
	frame := site.Frame{Title: a.title, Style: "/site.css", Built: s.Built, Nav: Nav(), Here: r.URL.Path, Refresh: a.refresh}
	link := *r.URL
	link.Path, link.RawPath = API+strings.TrimSuffix(link.Path, "/"), ""
	err := templates().ExecuteTemplate(&b, name, map[string]any{"Frame": frame, "D": a.doc, "JSON": link.String(), "Now": s.Now(), "S": s})
	if err != nil {
		s.Log(fmt.Errorf("make the page %s: %w", r.URL.Path, err))
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	if a.inline {
		w.Header().Set("Content-Security-Policy", strings.Replace(policy, "style-src 'self'", "style-src 'self'; style-src-attr 'unsafe-inline'", 1))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(show.NoBreak(b.String())))
}

func writeJSON(w http.ResponseWriter, code int, doc any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		http.Error(w, "the document could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes())
}

// Failure is the JSON document of an error.
type Failure struct {
	Document
	Error string `json:"error"`
}

// fail answers a failed request. It logs internal errors without revealing them, because they may
// contain names of files and databases.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	code, text := http.StatusInternalServerError, "Something went wrong here; the server's own log says what."
	var g gone
	var b wrong
	switch {
	case errors.As(err, &g):
		code, text = http.StatusNotFound, g.what
	case errors.As(err, &b):
		code, text = http.StatusBadRequest, b.why
	case r.Context().Err() != nil:
		return // the client is gone
	default:
		s.Log(fmt.Errorf("%s: %w", r.URL.Path, err))
	}
	if strings.HasPrefix(r.URL.Path, API) {
		writeJSON(w, code, Failure{version1, text})
		return
	}
	s.write(w, r, code, "message", &answer{title: http.StatusText(code), doc: Failure{version1, text}})
}

// TunableURL returns the URL of a tunable in the catalogue, "" if there is none.
func (s *Server) TunableURL(os, name string) string {
	if s.Catalogue == nil || name == "" {
		return ""
	}
	if at := s.Catalogue.URL(os, name); at != "" {
		return "/catalogue/" + at
	}
	return ""
}

// Says returns a rule's message, for readers without a host; "" if unknown.
func (s *Server) Says(rule string) string {
	if s.Catalogue == nil {
		return ""
	}
	return s.Catalogue.Says(rule)
}

// static serves bytes that do not change while the server runs.
func static(kind string, data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "private, max-age=300")
		_, _ = w.Write(data)
	}
}

// when formats a time in UTC.
func when(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// ago formats how long before now a time was.
func ago(now, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := now.Sub(t)
	for _, u := range []struct {
		name string
		of   time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}} {
		if d >= 2*u.of {
			return show.Plural(int(d/u.of), u.name) + " ago"
		}
	}
	return "just now"
}

// few formats a number of things; many is the plural, if irregular.
func few(n int, one string, many ...string) string {
	if n == 1 || len(many) == 0 {
		return show.Plural(n, one)
	}
	return show.Count(n) + " " + many[0]
}
