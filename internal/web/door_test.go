package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"linerate/internal/labtest"
	"linerate/internal/web"
)

const token = "c2f1e0d9b8a7c6d5e4f30211"

// guarded is a server that serves only its own pages.
func guarded(t *testing.T, d web.Door) *web.Server {
	t.Helper()
	d.Token, d.Port = token, 8099
	s := web.New(web.Config{Door: d})
	t.Cleanup(func() { s.Close() })
	return s
}

// ask sends a request and returns the answer.
func ask(h http.Handler, method, target string, header map[string]string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8099/", nil)
	r.RequestURI = target
	if u, err := url.ParseRequestURI(target); err == nil { // as net/http does
		r.URL = u
	}
	r.Host = "127.0.0.1:8099"
	for k, v := range header {
		if k == "Host" {
			r.Host = v
			continue
		}
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// withToken returns the headers of an authorised client, and any others given.
func withToken(more ...string) map[string]string {
	h := map[string]string{"Authorization": "Bearer " + token}
	for i := 0; i+1 < len(more); i += 2 {
		h[more[i]] = more[i+1]
	}
	return h
}

// TestWhoIsTurnedAway: everyone without the token, every method that is not for reading, every way
// out of the tree, foreign host names and foreign pages.
func TestWhoIsTurnedAway(t *testing.T) {
	h := guarded(t, web.Door{Names: []string{"stats.example.org"}}).Handler()
	paths := []string{"/", "/studies", "/studies/0123456789abcdef", "/queue", "/queue/x", "/catalogue/index.html", "/site.css", "/catalogue/site.js",
		"/api/v1/", "/api/v1/studies", "/api/v1/queue/x", "/fleet", "/fleet/hosts/x", "/queue", "/nothing"}
	for _, p := range paths {
		for what, header := range map[string]map[string]string{
			"no token":           {},
			"a wrong token":      {"Authorization": "Bearer " + token[:len(token)-1] + "0"},
			"an empty token":     {"Authorization": "Bearer "},
			"a part of it":       {"Authorization": "Bearer " + token[:8]},
			"another scheme":     {"Authorization": "Basic " + token},
			"a wrong cookie":     {"Cookie": "linerate-8099=" + token + "x"},
			"another's cookie":   {"Cookie": "linerate-8100=" + token},
			"an unsafe override": {"X-Forwarded-User": "admin", "X-Original-URL": "/", "X-HTTP-Method-Override": "GET"},
		} {
			if w := ask(h, "GET", p, header); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), token) {
				t.Errorf("%s with %s: %d %s", p, what, w.Code, w.Body)
			}
		}
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get"} {
			if w := ask(h, method, p, withToken()); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d", method, p, w.Code)
			}
		}
	}
	for _, c := range []struct {
		what, target string
		header       map[string]string
		want         int
	}{
		{"a wrong token in the address", "/?token=wrong", nil, 401},
		{"two tokens in the address", "/?token=" + token + "&token=x", nil, 401},
		{"a way out", "/catalogue/../../../../etc/passwd", withToken(), 400},
		{"an encoded way out", "/catalogue/%2e%2e/%2e%2e/etc/passwd", withToken(), 400},
		{"an encoded slash", "/catalogue/..%2f..%2fetc/passwd", withToken(), 400},
		{"a backslash", "/catalogue/..%5c..%5cetc", withToken(), 400},
		{"a doubled slash", "//etc/passwd", withToken(), 400},
		{"a NUL", "/queue/x%00.html", withToken(), 400},
		{"a line's end", "/queue/x%0d%0aSet-Cookie:%20a=b", withToken(), 400},
		{"a directory", "/catalogue/t/linux/", withToken(), 404},
		{"a study of no name", "/studies/" + strings.Repeat("a", 64), withToken(), 404},
		{"a long address", "/studies?q=" + strings.Repeat("a", 4000), withToken(), 414},
		{"a rebound name", "/", withToken("Host", "evil.example"), 421},
		{"a rebound name with our port", "/", withToken("Host", "evil.example:8099"), 421},
		{"a name that ends like ours", "/", withToken("Host", "127.0.0.1.evil.example:8099"), 421},
		{"no name", "/", withToken("Host", ""), 421},
		{"a port that is none", "/", withToken("Host", "localhost:80x"), 421},
		{"a foreign origin", "/api/v1/studies", withToken("Origin", "https://evil.example"), 403},
		{"a null origin", "/api/v1/studies", withToken("Origin", "null"), 403},
		{"a foreign fetch", "/api/v1/studies", withToken("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"), 403},
		{"a foreign picture", "/site.css", withToken("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"), 403},
		{"a foreign frame", "/", withToken("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"), 403},
		{"another port's page", "/api/v1/studies", withToken("Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"), 403},
		{"a token in the address of a rebound name", "/?token=" + token, map[string]string{"Host": "evil.example"}, 421},
		{"a way out below the API", web.API + "/catalogue/t/%2e%2e/%2e%2e/etc/passwd", withToken(), 400},
		{"a foreign fetch of a tunable", web.API + "/catalogue/t/linux/x", withToken("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"), 403},
		{"a foreign link without the cookie", "/studies", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Accept": "text/html"}, 401},
	} {
		if w := ask(h, "GET", c.target, c.header); w.Code != c.want || strings.Contains(w.Body.String(), token) || strings.Contains(w.Header().Get("Location"), "evil") {
			t.Errorf("%s (%.60s): %d, want %d: %.200s", c.what, c.target, w.Code, c.want, w.Body)
		}
	}
}

// TestWhoComesIn: with the token as a header, once in the address, or as a cookie, under any of the
// page's names; and the headers of every answer.
func TestWhoComesIn(t *testing.T) {
	h := guarded(t, web.Door{Names: []string{"stats.example.org"}}).Handler()
	for what, header := range map[string]map[string]string{
		"header": withToken(), "scheme in lower case": {"Authorization": "bearer " + token}, "cookie": {"Cookie": "linerate-8099=" + token}, "cookie after a stale one": {"Cookie": "linerate-8099=stale; linerate-8099=" + token},
		"localhost": withToken("Host", "localhost:8099"), "IPv6": withToken("Host", "[::1]:8099"), "its name": withToken("Host", "STATS.example.org"),
		"own origin":            withToken("Origin", "http://127.0.0.1:8099", "Sec-Fetch-Site", "same-origin"),
		"link of another site":  withToken("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"),
		"typed into the window": withToken("Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"),
	} {
		w := ask(h, "GET", "/studies", header)
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
		csp := w.Header().Get("Content-Security-Policy")
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin"} {
			if w.Header().Get(name) != want {
				t.Errorf("%s: %s is %q", what, name, w.Header().Get(name))
			}
		}
		if !strings.HasPrefix(csp, "default-src 'none';") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: policy %q", what, csp)
		}
	}
	w := ask(h, "GET", "/studies?q=pf&token="+token, nil)
	c := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/studies?q=pf" || len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode || c[0].Path != "/" || c[0].Secure {
		t.Errorf("the address with the token: %d to %q, cookies %v", w.Code, w.Header().Get("Location"), c)
	}
	if w := ask(h, "HEAD", "/studies", withToken()); w.Code != http.StatusOK {
		t.Errorf("HEAD: %d", w.Code)
	}
}

// served starts a real server on a port of this machine.
func served(t *testing.T, s *web.Server, limits web.Limits) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l, limits) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the end of the server: %v", err)
		}
	})
	return l.Addr().String()
}

// TestRequestsOfBadWill: huge headers and bodies, and requests that arrive a byte at a time, do not
// keep others from being answered.
func TestRequestsOfBadWill(t *testing.T) {
	at := served(t, guarded(t, web.Door{}), web.Limits{Header: 300 * time.Millisecond, Read: 300 * time.Millisecond, Idle: 300 * time.Millisecond})
	get := func() error {
		r, _ := http.NewRequestWithContext(t.Context(), "GET", "http://"+at+"/studies", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %s", resp.Status)
		}
		return nil
	}
	first := func(request string) string {
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		go io.WriteString(c, request)
		line, _ := bufio.NewReader(c).ReadString('\n')
		return strings.TrimSpace(line)
	}
	for what, c := range map[string]struct{ request, want string }{
		"huge head":  {"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("a", 1<<20) + "\r\n\r\n", "HTTP/1.1 431"},
		"many lines": {"GET / HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X: a\r\n", 10000) + "\r\n", "HTTP/1.1 431"},
		"huge URL":   {"GET /" + strings.Repeat("a", 1<<20) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 431"},
		"a body":     {"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 400"},
		"chunks":     {"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 400"},
		"smuggling":  {"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 400"},
		"two names":  {"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 400"},
		"no name":    {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400"},
		"absolute":   {"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 421"},
		"nonsense":   {"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", "HTTP/1.1 400"},
	} {
		if got := first(c.request); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
	var slow []net.Conn
	for range 100 {
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, "GET / HT")
		slow = append(slow, c)
	}
	if err := get(); err != nil {
		t.Errorf("beside a hundred requests that do not end: %v", err)
	}
	for _, c := range slow {
		if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, c); err != nil {
			t.Fatalf("a request that does not end is kept: %v", err)
		}
	}
	if err := get(); err != nil {
		t.Error(err)
	}
}

// TestNothingBehindItWrites: the web package does not import, even indirectly, a package that could
// change a host, run a study or write a record.
func TestNothingBehindItWrites(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		labtest.Lacking(t, "go: %v", err)
	}
	out, err := exec.Command(goTool, "list", "-deps", "linerate/internal/web").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.Lines(string(out)) {
		dep = strings.TrimSpace(dep)
		for _, bad := range []string{"knob", "apply", "host", "live", "lab", "server", "studydir", "load/wire", "assemble", "store", "store/sqlite", "store/postgres", "worker"} {
			if p := "linerate/internal/" + bad; dep == p || strings.HasPrefix(dep, p+"/") {
				t.Errorf("behind the page is %s", dep)
			}
		}
		if dep == "os/exec" {
			t.Error("behind the page is os/exec")
		}
	}
}
