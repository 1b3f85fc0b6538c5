// Package web is a read-only web server: a fleet with hosts and rules, the catalogue,
// studies with their reports, and queues, each as a page and as JSON
// with the same content. Its interfaces have no writing methods, it imports no package that
// could change a host, and it answers only GET and HEAD, from readers with a token.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"linerate/internal/ledger"
	"linerate/internal/profile"
	"linerate/internal/queue"
	"linerate/internal/site"
)

// Config holds the server's inputs.
type Config struct {
	// Open opens the ledger for reading; it returns fs.ErrNotExist if there is none yet. It is
	// called until it succeeds.
	Open func(context.Context) (ledger.Reader, error)
	// OpenQueue opens the queue for reading, like Open; nil means none.
	OpenQueue func(context.Context) (queue.Reader, error)
	// Catalogue holds the pages of the catalogue.
	Catalogue *site.Pages
	// Door is the access control.
	Door Door
	// Built is version and date, for the footer.
	Built string
	// Log receives internal errors; readers see only that something failed.
	Log func(error)
	// Now is the clock; nil means the real one.
	Now func() time.Time
}

// Server serves the pages.
type Server struct {
	Config
	mux     *http.ServeMux
	ledger  opened[ledger.Reader]
	waiting opened[queue.Reader]
	reports reports
}

// New returns a server.
func New(c Config) *Server {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = func(error) {}
	}
	s := &Server{Config: c, mux: http.NewServeMux()}
	s.routes()
	return s
}

// Handler returns the server behind its access control.
func (s *Server) Handler() http.Handler { return s.Door.guard(s) }

// Close closes the ledger and the queue.
func (s *Server) Close() error { return errors.Join(s.ledger.close(), s.waiting.close()) }

func (s *Server) routes() {
	s.mux.HandleFunc("GET /{$}", s.home)
	s.ofLedger("/fleet", "fleet", s.fleet)
	s.ofLedger("/fleet/hosts", "hosts", s.hosts)
	s.ofLedger("/fleet/hosts/{id...}", "host", s.host)
	s.ofLedger("/fleet/rules/{id...}", "rule", s.rule)
	s.ofLedger("/fleet/changes", "changes", s.changes)
	s.ofLedger("/studies", "studies", s.studies)
	s.ofLedger("/studies/{id}", "study", s.study)
	s.page("/queue", "queue", s.queue)
	s.mux.HandleFunc("GET /catalogue/{page...}", s.catalogue)
	s.mux.HandleFunc("GET "+API+"/catalogue/t/{page...}", s.catalogue)
	s.mux.HandleFunc("GET /site.css", static("text/css; charset=utf-8", append(site.Style(), profile.FlameStyle()+webStyle...)))
	s.mux.HandleFunc("GET /favicon.ico", static("image/svg+xml", icon))
	s.mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, missing("there is no page %s", r.URL.Path))
	})
}

// home leads to the fleet, or to the studies of a ledger without one.
func (s *Server) home(w http.ResponseWriter, r *http.Request) {
	page := "/studies"
	if l, err := s.reader(r.Context()); err == nil && l != nil {
		if st, err := l.Status(r.Context(), 0); err == nil && st.Hosts > 0 {
			page = "/fleet"
		}
	}
	w.Header().Set("Location", page)
	w.WriteHeader(http.StatusSeeOther)
}

// ServeHTTP answers a permitted request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// opened is something opened as soon as it exists.
type opened[T interface {
	comparable
	io.Closer
}] struct {
	mu sync.Mutex
	is T
}

// get opens it, unless it is open; it returns the zero value if it does not exist yet.
func (o *opened[T]) get(ctx context.Context, open func(context.Context) (T, error)) (T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var none T
	if o.is != none || open == nil {
		return o.is, nil
	}
	is, err := open(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	o.is = is
	return is, nil
}

func (o *opened[T]) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var none T
	if o.is == none {
		return nil
	}
	err := o.is.Close()
	o.is = none
	return err
}

// reader returns the ledger, nil if there is none yet.
func (s *Server) reader(ctx context.Context) (ledger.Reader, error) {
	return s.ledger.get(ctx, s.Open)
}

// gone means that something requested does not exist.
type gone struct{ what string }

func (g gone) Error() string { return g.what }

// missing returns the error for what does not exist.
func missing(format string, args ...any) error { return gone{fmt.Sprintf(format, args...)} }

// wrong means that a request is invalid.
type wrong struct{ why string }

func (w wrong) Error() string { return w.why }

// refuse returns the error for an invalid request.
func refuse(format string, args ...any) error { return wrong{fmt.Sprintf(format, args...)} }

// Limits that keep one reader from blocking all others.
const (
	headerTime = 5 * time.Second  // for receiving a request's header
	readTime   = 10 * time.Second // for receiving all of it
	writeTime  = 30 * time.Second // for sending the answer
	idleTime   = 60 * time.Second // between requests
	shutTime   = 5 * time.Second  // for requests in progress, at the end
	maxConns   = 512
)

// Limits are the time limits for receiving a request and sending its answer; zero fields are the
// defaults.
type Limits struct{ Header, Read, Write, Idle time.Duration }

// Serve serves on a listener until ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener, limits Limits) error {
	h := &http.Server{
		Handler: s.Handler(), MaxHeaderBytes: MaxHeader,
		ReadHeaderTimeout: cmp.Or(limits.Header, headerTime), ReadTimeout: cmp.Or(limits.Read, readTime), WriteTimeout: cmp.Or(limits.Write, writeTime), IdleTimeout: cmp.Or(limits.Idle, idleTime),
		ErrorLog: log.New(quiet{}, "", 0),
	}
	l = netutil.LimitListener(l, maxConns)
	ended := make(chan error, 1)
	go func() {
		<-ctx.Done()
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutTime)
		defer cancel()
		err := h.Shutdown(within)
		if errors.Is(err, context.DeadlineExceeded) {
			err = h.Close()
		}
		ended <- err
	}()
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-ended
}

// quiet discards net/http's messages about broken connections: anyone can cause them.
type quiet struct{}

func (quiet) Write(p []byte) (int, error) { return len(p), nil }
