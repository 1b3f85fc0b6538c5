package web

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

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
	or := func(d, usual time.Duration) time.Duration {
		if d == 0 {
			return usual
		}
		return d
	}
	h := &http.Server{
		Handler: s.Handler(), MaxHeaderBytes: MaxHeader,
		ReadHeaderTimeout: or(limits.Header, headerTime), ReadTimeout: or(limits.Read, readTime), WriteTimeout: or(limits.Write, writeTime), IdleTimeout: or(limits.Idle, idleTime),
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
