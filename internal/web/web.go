// Package web is the page that only reads: a fleet, its hosts and rules, the catalogue,
// studies with their reports, also while they run, and queues, each as a page and as
// JSON of the same content. It is handed interfaces without writing methods, knows no
// package that could change a host, and answers nothing but GET and HEAD, to readers
// with a token.
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
	"linerate/internal/queue"
	"linerate/internal/site"
	"linerate/internal/study/record"
)

// Config is what the page is made of.
type Config struct {
	// Open opens the ledger to be read; its error is fs.ErrNotExist where there is none
	// yet. It is called until it succeeds.
	Open func(context.Context) (ledger.Reader, error)
	// OpenQueue opens the queue to be read, like Open; nil: there is none.
	OpenQueue func(context.Context) (queue.Reader, error)
	// Catalogue are the pages of the catalogue.
	Catalogue *site.Pages
	// Runs are the records of studies on disk; nil: none.
	Runs Runs
	// Door says who is let in.
	Door Door
	// Built is version and date, for the foot of pages.
	Built string
	// Log receives what went wrong inside; readers see only that something did.
	Log func(error)
	// Now is the clock; nil is the real one.
	Now func() time.Time
}

// Runs are records of studies, which may be growing.
type Runs interface {
	// List names them, the one that changed last first.
	List() ([]Run, error)
	// Read reads its record.
	Read(name string) (*record.Record, error)
}

// Run is a study's record as it lies on disk.
type Run struct {
	Name    string    `json:"name"` // of its directory
	Changed time.Time `json:"changed"`
	Bytes   int64     `json:"-"` // of its trials
	// Queued is the study as a queue has it, of those that are in one.
	Queued *queue.Study `json:"queued,omitempty"`
}

// Server answers for the pages.
type Server struct {
	Config
	mux     *http.ServeMux
	ledger  opened[ledger.Reader]
	waiting opened[queue.Reader]
	reports reports
}

// New makes the server.
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

// Handler is the server behind its door.
func (s *Server) Handler() http.Handler { return s.Door.guard(s) }

// Close closes the ledger.
func (s *Server) Close() error { return errors.Join(s.ledger.close(), s.waiting.close()) }

func (s *Server) routes() {
	s.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/fleet")
		w.WriteHeader(http.StatusSeeOther)
	})
	s.ofLedger("/fleet", "fleet", s.fleet)
	s.ofLedger("/fleet/hosts", "hosts", s.hosts)
	s.ofLedger("/fleet/hosts/{id...}", "host", s.host)
	s.ofLedger("/fleet/rules/{id...}", "rule", s.rule)
	s.ofLedger("/fleet/changes", "changes", s.changes)
	s.ofLedger("/studies", "studies", s.studies)
	s.ofLedger("/studies/{id}", "study", s.study)
	s.page("/running", "running", s.running)
	s.page("/running/{name}", "run", s.run)
	s.page("/queue", "queue", s.queue)
	s.page("/queue/{id}", "queued", s.run)
	s.mux.HandleFunc("GET /catalogue/{page...}", s.catalogue)
	s.mux.HandleFunc("GET "+API+"/catalogue/t/{page...}", s.catalogue)
	s.mux.HandleFunc("GET /site.css", static("text/css; charset=utf-8", styleSheet()))
	s.mux.HandleFunc("GET /favicon.ico", static("image/svg+xml", icon))
	s.mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, missing("there is no page %s", r.URL.Path))
	})
}

// ServeHTTP answers a request that the door let in.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// opened is what is opened when it is there.
type opened[T interface {
	comparable
	io.Closer
}] struct {
	mu sync.Mutex
	is T
}

// get opens it, unless it is open; the zero value where there is nothing to open yet.
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

// reader is the ledger, or nil where there is none yet.
func (s *Server) reader(ctx context.Context) (ledger.Reader, error) {
	return s.ledger.get(ctx, s.Open)
}

// gone says that something asked for is not there.
type gone struct{ what string }

func (g gone) Error() string { return g.what }

// missing is the error of what is not there.
func missing(format string, args ...any) error { return gone{fmt.Sprintf(format, args...)} }

// wrong says that a request makes no sense.
type wrong struct{ why string }

func (w wrong) Error() string { return w.why }

// refuse is the error of a request that makes no sense.
func refuse(format string, args ...any) error { return wrong{fmt.Sprintf(format, args...)} }

// Times and numbers that keep one reader from holding all others up.
const (
	headerTime = 5 * time.Second  // for a request's head to arrive
	readTime   = 10 * time.Second // for all of it
	writeTime  = 30 * time.Second // for the answer to be taken
	idleTime   = 60 * time.Second // between requests
	shutTime   = 5 * time.Second  // for what is being answered, at the end
	maxConns   = 512
)

// Limits are the times in which a request has to arrive and its answer be taken; zero
// fields are the usual ones.
type Limits struct{ Header, Read, Write, Idle time.Duration }

// Serve answers on a listener until ctx ends.
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

// quiet drops what net/http says of broken connections: anybody can break one.
type quiet struct{}

func (quiet) Write(p []byte) (int, error) { return len(p), nil }
