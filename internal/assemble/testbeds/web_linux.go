package testbeds

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"linerate/internal/accesslog"
	labserve "linerate/internal/lab/serve"
	"linerate/internal/list"
	"linerate/internal/load/client"
	"linerate/internal/load/httpload"
	"linerate/internal/load/request"
	"linerate/internal/port"
	"linerate/internal/server"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// webArm is an arm's running nginx with its load of requests.
type webArm struct {
	box    *server.Box
	nginx  *server.Process
	origin *server.Box // server behind a proxy
	load   httpload.Spec
}

func startWeb(ctx context.Context, at testbed.Site, settings []setting.Setting, part study.Part) (labserve.Server, error) {
	w := setting.Web{TLS: part.HTTP.TLS, HTTP2: part.HTTP.Version == 2, Log: true, Directives: map[string]string{"keepalive_requests": "1000000000"}}
	for _, s := range settings {
		w.Directives[s.Name] = s.Value
	}
	sizes, err := part.HTTP.Sizes()
	if err != nil {
		return nil, err
	}
	s := &webArm{}
	if part.HTTP.Proxy {
		origin := setting.Web{Sizes: sizes}
		if s.origin, _, err = startNGINX(ctx, at.Origin, origin, at.OriginAddress); err != nil {
			return nil, fmt.Errorf("the origin: %w", err)
		}
		w.Origin, w.Cache = at.OriginAddress.String(), true
	} else {
		w.Sizes = sizes
	}
	if s.box, s.nginx, err = startNGINX(ctx, at.Server, w, at.Address); err != nil {
		s.close()
		return nil, err
	}
	if s.load, err = s.spec(at, part.HTTP, sizes); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func startNGINX(ctx context.Context, in port.Place, w setting.Web, at netip.Addr) (*server.Box, *server.Process, error) {
	box, err := server.NewBox(in)
	if err != nil {
		return nil, nil, err
	}
	p, err := box.StartWeb(ctx, w, at)
	if err != nil {
		box.Close()
		return nil, nil, err
	}
	return box, p, nil
}

// spec returns the load that requests the objects.
func (s *webArm) spec(at testbed.Site, h *study.HTTP, sizes []int) (httpload.Spec, error) {
	l := httpload.Spec{
		Server: netip.AddrPortFrom(at.Address, 80), Connections: h.Connections, HTTP2: h.Version == 2, NewEach: !h.Keepalive,
		Load: client.Load{Rate: h.Rate, Arrivals: request.Process(h.Arrivals), Timeout: time.Duration(h.Timeout * 1e9)}, Sources: at.Sources, Enter: at.Enter,
		Paths: list.Map(sizes, setting.ObjectPath),
	}
	if h.TLS {
		cert, err := s.box.Read(setting.CertFile)
		if err != nil {
			return l, fmt.Errorf("read the server's certificate: %w", err)
		}
		l.Server, l.Roots = netip.AddrPortFrom(at.Address, 443), x509.NewCertPool()
		l.Roots.AppendCertsFromPEM(cert)
	}
	return l, nil
}

// Ask offers the load once more.
func (s *webArm) Ask(ctx context.Context, o labserve.Offer) (*request.Account, request.Meter, error) {
	l := s.load
	l.Warmup, l.Duration, l.Requests, l.Seed = o.Warmup, o.Lasts, o.Requests, o.Seed
	return httpload.Account(ctx, l)
}

func (s *webArm) CPU() time.Duration { return s.nginx.CPU() }
func (s *webArm) Running() error     { return s.nginx.Running() }

// Stop stops nginx, which then writes the last lines of its log, and reads that.
func (s *webArm) Stop() (*study.ServerLog, error) {
	s.nginx.Stop()
	defer s.close()
	path, err := s.box.Path(setting.NGINXAccessLog)
	if err != nil {
		return nil, err
	}
	tenths := make([]time.Duration, study.TenthsUpTo-1)
	for i := range tenths {
		tenths[i] = time.Duration(i+1) * 100 * time.Millisecond
	}
	t, _, err := accesslog.Read(context.Background(), []string{path}, strings.NewReader(""), &accesslog.Options{Under: tenths})
	if err != nil || t.Selected == 0 {
		return nil, nil //nolint:nilerr // a server that was asked for nothing has no log to speak of
	}
	log := &study.ServerLog{Lines: uint64(t.Selected), Tenths: make([]uint64, study.TenthsUpTo)}
	before := int64(0)
	for i, n := range append(t.Under, t.Selected) {
		log.Tenths[i], before = uint64(n-before), n
	}
	log.Within = float64(log.Tenths[0]) / float64(log.Lines)
	log.P50, log.P99 = 1000*t.Hist.ValueAtQuantile(50), 1000*t.Hist.ValueAtQuantile(99)
	return log, nil
}

func (s *webArm) close() {
	for _, b := range []*server.Box{s.box, s.origin} {
		if b != nil {
			b.Close()
		}
	}
}
