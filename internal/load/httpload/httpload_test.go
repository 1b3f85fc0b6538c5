package httpload

import (
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linerate/internal/load/client"
	"linerate/internal/load/request"
)

// addressOf returns a server's address from its URL.
func addressOf(t *testing.T, raw string) netip.AddrPort {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return netip.MustParseAddrPort(u.Host)
}

func spec(t *testing.T, url string, paths ...string) Spec {
	t.Helper()
	if paths == nil {
		paths = []string{"/"}
	}
	return Spec{Server: addressOf(t, url), Paths: paths, Connections: 4, Load: client.Load{Arrivals: request.Constant, Timeout: 5 * time.Second, Requests: 20, Seed: 1}}
}

// result returns the account of a load.
func result(ctx context.Context, s Spec) (request.Result, error) {
	a, m, err := Account(ctx, s)
	if a == nil {
		return request.Result{}, err
	}
	return a.Result(m), err
}

func offer(t *testing.T, s Spec) request.Result {
	t.Helper()
	r, err := result(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func serve(t *testing.T, f http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s.URL
}

func body(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", n)) }
}

// TestAStallIsSeenByAllWhoWereDue is the purpose of an open loop: a server that stalls delays all
// requests that were due during the stall, not only those on the connections that it happened to stall.
func TestAStallIsSeenByAllWhoWereDue(t *testing.T) {
	const stall = 400 * time.Millisecond
	var n atomic.Int64
	var gate sync.RWMutex
	url := serve(t, func(http.ResponseWriter, *http.Request) {
		if n.Add(1) == 100 {
			gate.Lock()
			time.Sleep(stall)
			gate.Unlock()
		}
		gate.RLock()
		gate.RUnlock() //nolint:staticcheck // only waits
	})
	s := spec(t, url)
	s.Connections, s.Rate, s.Requests = 2, 500, 500
	r := offer(t, s)
	// A second of schedule, two fifths of it stalled: about 200 requests were due meanwhile, and half of
	// them waited for more than half of it. Measured from when they were sent, only the two in flight
	// were slow.
	if r.Latency.P75 < int64(stall/8) || r.Latency.P90 < int64(stall/2) {
		t.Errorf("p75 %v and p90 %v of the latency do not show a stall of %v", time.Duration(r.Latency.P75), time.Duration(r.Latency.P90), stall)
	}
	if r.Service.P90 > r.Latency.P90 || time.Duration(r.Latency.Max) < stall*9/10 {
		t.Errorf("service time p90 %v, latency p90 %v, longest %v", time.Duration(r.Service.P90), time.Duration(r.Latency.P90), time.Duration(r.Latency.Max))
	}
	if r.Waited < 50 || r.Answered != 500 || r.Connections > 2 {
		t.Errorf("%d waited for a connection, %d answered on %d connections", r.Waited, r.Answered, r.Connections)
	}
}

func TestWhatIsNeverSentIsLate(t *testing.T) {
	hold := make(chan struct{})
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(hold) })
	s := spec(t, url)
	s.Connections, s.Rate, s.Requests, s.Duration, s.Timeout = 1, 100, 0, 300*time.Millisecond, 250*time.Millisecond
	r := offer(t, s)
	if r.Requests+r.Unsent != 30 || r.Unsent < 20 || r.Answered != 0 {
		t.Errorf("%d requests, %d unsent, %d answered of 30 due", r.Requests, r.Unsent, r.Answered)
	}
	if r.Latency.N != 30 || r.Latency.Min < int64(s.Timeout)*9/10 {
		t.Errorf("latency %+v, want all 30, none below the timeout", *r.Latency)
	}
}

func TestErrorsByKind(t *testing.T) {
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + listening.Addr().String()
	listening.Close()
	hijack := func(say string, reset bool) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			_, _ = io.WriteString(c, say)
			if reset {
				_ = c.(*net.TCPConn).SetLinger(0)
			}
			c.Close()
		}
	}
	secret := httptest.NewTLSServer(body(1))
	secret.Config.ErrorLog = nil
	t.Cleanup(secret.Close)
	for _, c := range []struct{ name, url, kind string }{
		{"refused", nobody, "connect_refused"},
		{"reset", serve(t, hijack("", true)), "reset"},
		{"closed", serve(t, hijack("", false)), "closed"},
		{"short", serve(t, hijack("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", false)), "short_body"},
		{"short chunks", serve(t, hijack("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", false)), "short_body"},
		{"malformed", serve(t, hijack("SMTP ready\r\n\r\n", false)), "malformed"},
		{"status", serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }), "status"},
		{"late", serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), "too_late"},
		{"certificate", secret.URL, "tls"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := spec(t, c.url)
			s.Requests, s.Timeout = 3, 10*time.Second
			if c.kind == "tls" {
				s.Roots = x509.NewCertPool() // does not contain the server's root
			}
			if c.kind == "too_late" {
				s.Timeout = 50 * time.Millisecond
			}
			r := offer(t, s)
			if len(r.Errors) != 1 || r.Errors[0].Kind != c.kind || r.Errors[0].Count != 3 || r.Failed != 3 {
				t.Errorf("errors %+v, want 3 of %s", r.Errors, c.kind)
			}
		})
	}
}

func TestConnectionsAreKeptOrNot(t *testing.T) {
	url := serve(t, body(10))
	s := spec(t, url)
	if r := offer(t, s); r.Connections > 4 || r.Answered != 20 || r.BodyBytes != 200 {
		t.Errorf("kept: %d connections for %d answers of %d bytes", r.Connections, r.Answered, r.BodyBytes)
	}
	s.NewEach = true
	if r := offer(t, s); r.Connections != 20 || r.Answered != 20 || r.Dial.N != 20 {
		t.Errorf("new: %d connections for %d answers", r.Connections, r.Answered)
	}
}

// TestAnIdleConnectionThatTheServerClosedIsNoError: a connection is checked before it is reused.
func TestAnIdleConnectionThatTheServerClosedIsNoError(t *testing.T) {
	server := httptest.NewUnstartedServer(body(1))
	server.Config.IdleTimeout = 20 * time.Millisecond
	server.Start()
	t.Cleanup(server.Close)
	s := spec(t, server.URL)
	s.Rate, s.Requests = 3, 3
	if r := offer(t, s); r.Answered != 3 || r.Reopened == 0 {
		t.Errorf("%d answered, %d reopened, errors %+v", r.Answered, r.Reopened, r.Errors)
	}
}

func TestTLSAndHTTP2(t *testing.T) {
	var major atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		major.Store(int64(r.ProtoMajor))
		body(5000)(w, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	for _, two := range []bool{false, true} {
		s := spec(t, server.URL)
		s.HTTP2, s.Roots, s.Connections = two, roots, 2
		r := offer(t, s)
		if r.Answered != 20 || r.Connections > 2 || r.BodyBytes != 100_000 || (major.Load() == 2) != two {
			t.Errorf("HTTP/2 %v: HTTP/%d, %d answered on %d connections, %d B of bodies, %+v", two, major.Load(), r.Answered, r.Connections, r.BodyBytes, r.Errors)
		}
		if !strings.HasPrefix(r.Negotiated, "TLS 1.3, TLS_") || strings.HasSuffix(r.Negotiated, ", h2") != two {
			t.Errorf("HTTP/2 %v: the ends agreed on %q", two, r.Negotiated)
		}
	}
}

func TestHTTP2Failures(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "abc")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler) // RST_STREAM
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(h))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	s := spec(t, server.URL)
	s.HTTP2, s.Requests = true, 3
	if r := offer(t, s); len(r.Errors) != 1 || r.Errors[0].Kind != "reset" || r.Errors[0].Count != 3 {
		t.Errorf("errors %+v, want 3 resets", r.Errors)
	}
	server.Close()
	if r := offer(t, s); len(r.Errors) != 1 || r.Errors[0].Kind != "connect_refused" {
		t.Errorf("errors %+v, want refusals", r.Errors)
	}
}

func TestSourcesTakeTurns(t *testing.T) {
	sources, each := []netip.Addr{netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("127.0.0.3"), netip.MustParseAddr("127.0.1.1"), netip.MustParseAddr("127.0.0.5")}, 5
	if runtime.GOOS != "linux" { // only Linux has all of 127.0.0.0/8 on lo
		sources, each = []netip.Addr{netip.MustParseAddr("127.0.0.1")}, 20
	}
	var mu sync.Mutex
	seen := map[string]int{}
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		mu.Lock()
		defer mu.Unlock()
		seen[host]++
	})
	s := spec(t, url)
	s.NewEach, s.Sources = true, sources
	offer(t, s)
	for _, a := range s.Sources {
		if seen[a.String()] != each {
			t.Errorf("20 connections from %v, want %d of each", seen, each)
			break
		}
	}
	s.Sources = []netip.Addr{netip.MustParseAddr("192.0.2.1")}
	if r := offer(t, s); r.Answered != 0 || r.Errors[0].Kind != "no_local_port" {
		t.Errorf("an address of another: %+v", r)
	}
}

func TestMix(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/big" {
			body(1000)(w, r)
		}
	})
	s := spec(t, url, "/small", "/big")
	s.Requests, s.Rate = 400, 1e6 // in an open loop the schedule determines the mix
	r := offer(t, s)
	if r.Answered != 400 || r.Targets[0].Answered != 200 || r.Targets[1].Answered != 200 || r.Targets[1].Body != 200_000 {
		t.Errorf("targets %+v, errors %+v", r.Targets, r.Errors)
	}
}

func TestWarmupIsNotCounted(t *testing.T) {
	url := serve(t, body(1))
	s := spec(t, url)
	s.Rate, s.Requests, s.Warmup, s.Duration = 100, 0, 100*time.Millisecond, 200*time.Millisecond
	if r := offer(t, s); r.Requests != 20 || r.Connections > 3 {
		t.Errorf("%d requests on %d connections, want the 20 after the warm-up", r.Requests, r.Connections)
	}
}

func TestInterruptionKeepsTheAccount(t *testing.T) {
	for _, rate := range []float64{0, 200} {
		ctx, cancel := context.WithCancel(t.Context())
		var n atomic.Int64
		url := serve(t, func(http.ResponseWriter, *http.Request) {
			if n.Add(1) == 20 {
				cancel()
			}
		})
		s := spec(t, url)
		s.Rate, s.Requests, s.Duration = rate, 0, time.Hour
		r, err := result(ctx, s)
		if err == nil || r.Answered == 0 || r.Failed != 0 || r.Seconds > 60 {
			t.Errorf("rate %g: %v, %d answered, %+v", rate, err, r.Answered, r.Errors)
		}
	}
}

// raw returns a server that writes text to each connection when it gets a request, and then more as long
// as the client reads.
func raw(t *testing.T, text, more string) string {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		t.Cleanup(func() { c.Close() })
		for _, err = io.WriteString(c, text); err == nil && more != ""; {
			_, err = io.WriteString(c, more)
		}
	})
}

// TestHostileServers: a run must survive these servers, and count each request once.
func TestHostileServers(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"
	const chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
	for _, c := range []struct {
		name, url string
		answered  uint64
		first     string // text of the first failure
	}{
		{"endless header", raw(t, "HTTP/1.1 200 OK\r\n", "A: "+strings.Repeat("x", 32<<10)+"\r\n"), 0, "headers of more than"},
		{"endless line", raw(t, "HTTP/1.1 200 OK\r\nA: ", strings.Repeat("x", 32<<10)), 0, "headers of more than"},
		{"endless hints", raw(t, "", "HTTP/1.1 103 Early Hints\r\n\r\n"), 0, "headers of more than"},
		{"another protocol that waits", raw(t, "220 mail.example.org ESMTP\r\n", ""), 0, "malformed"},
		{"two answers", raw(t, answer+answer, ""), 2, "more than the response"},
		{"two answers in chunks", raw(t, chunks+chunks, ""), 2, "more than the response"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := spec(t, c.url)
			s.Requests, s.Connections, s.Timeout = 4, 1, 30*time.Second
			r := offer(t, s)
			if r.Answered != c.answered || r.Failed != 4-c.answered || len(r.Errors) != 1 || r.Errors[0].Kind != "malformed" || !strings.Contains(r.Errors[0].First, c.first) {
				t.Errorf("%d answered, %+v", r.Answered, r.Errors)
			}
		})
	}
}
