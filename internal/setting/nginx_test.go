package setting

import (
	"strings"
	"testing"

	"linerate/internal/hint"
)

func TestConfig(t *testing.T) {
	w := Web{TLS: true, HTTP2: true, Log: true, Origin: "198.18.0.9:80", Cache: true, User: "nobody",
		Directives: map[string]string{"worker_processes": "2", "worker_connections": "64", "reuseport": "on", "deferred": "off", "backlog": "511", "proxy_cache_lock": "on", "tcp_nopush": "on"}}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	got := w.Config()
	for _, want := range []string{"user nobody;", "worker_processes 2;\nevents {\n  worker_connections 64;\n}", "listen 80 backlog=511 reuseport;", "listen 443 ssl http2 backlog=511 reuseport;",
		"    ssl_protocols TLSv1.2 TLSv1.3;\n", "proxy_pass http://198.18.0.9:80;", "proxy_cache study;", "      proxy_cache_lock on;", "  tcp_nopush on;", "access_log /tmp/log/access.log study;"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	w.Directives["ssl_protocols"] = "TLSv1.2"
	if old := w.Config(); strings.Count(old, "ssl_protocols") != 1 || !strings.Contains(old, "  ssl_protocols TLSv1.2;\n") {
		t.Errorf("TLS 1.2 alone was asked for:\n%s", old)
	}
	delete(w.Directives, "ssl_protocols")
	if strings.Contains(got, "deferred") || got != w.Config() {
		t.Errorf("deferred off is there, or two texts differ:\n%s", got)
	}
}

func TestHostileDirectivesAreRefused(t *testing.T) {
	for name, value := range map[string]string{"worker_process": "2", "load_module": "/x.so", "sendfile": "on; user root", "backlog": "1\n", "tcp_nopush": "", "gzip": "on }", "aio": "a  b"} {
		if err := CheckNGINX(name, value); err == nil {
			t.Errorf("%s %q is taken", name, value)
		}
	}
}

func TestObjectsAreBounded(t *testing.T) {
	for size, good := range map[int]bool{0: true, 24_000: true, MaxObject: true, MaxObject + 1: false, -1: false} {
		if err := (Web{Sizes: []int{size}}).Validate(); (err == nil) != good {
			t.Errorf("an object of %d bytes: %v", size, err)
		}
	}
}

// TestPlainConfig: the whole text of a server that nobody set anything of; its blocks
// close, and nothing is there that was not asked for.
func TestPlainConfig(t *testing.T) {
	want := `daemon off;
pid /tmp/pid;
error_log /tmp/log/error.log warn;
events {
}
http {
  default_type application/octet-stream;
  client_body_temp_path /tmp/spool/client_body;
  proxy_temp_path /tmp/spool/proxy;
  fastcgi_temp_path /tmp/spool/fastcgi;
  uwsgi_temp_path /tmp/spool/uwsgi;
  scgi_temp_path /tmp/spool/scgi;
  access_log off;
  server {
    listen 80;
    root /tmp/html;
  }
}
`
	if got := (Web{}).Config(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	secure := Web{TLS: true, Origin: "198.18.0.9:80", Cache: true}.Config()
	for _, part := range []string{"    listen 443 ssl;\n    ssl_certificate /tmp/etc/cert.pem;\n    ssl_certificate_key /tmp/etc/key.pem;\n", "  proxy_cache_path /tmp/cache keys_zone=study:1m max_size=1g inactive=1h use_temp_path=off;\n", "      add_header X-Cache $upstream_cache_status;\n    }\n  }\n}\n"} {
		if !strings.Contains(secure, part) {
			t.Errorf("no %q in\n%s", part, secure)
		}
	}
	if uncached := (Web{Origin: "198.18.0.9:80"}).Config(); strings.Contains(uncached, "cache") || !strings.Contains(uncached, "proxy_pass http://198.18.0.9:80;") {
		t.Errorf("a proxy without a cache:\n%s", uncached)
	}
	if http1 := (Web{HTTP2: true}).Config(); strings.Contains(http1, "http2") {
		t.Errorf("HTTP/2 without TLS:\n%s", http1)
	}
}

// TestEveryDirectiveHasItsPlace: each that may be set is written once, in a block that
// closes, and none is silently dropped.
func TestEveryDirectiveHasItsPlace(t *testing.T) {
	for _, name := range NGINXDirectives() {
		w := Web{TLS: true, Origin: "198.18.0.9:80", Directives: map[string]string{name: "7"}}
		if err := w.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got, with := w.Config(), name+" 7;"
		if places[name] == inListen {
			with = " " + name + "=7;"
		}
		if !strings.Contains(got, with) || strings.Count(got, "{") != strings.Count(got, "}") {
			t.Errorf("%s is not in\n%s", name, got)
		}
	}
	for value, fine := range map[string]bool{strings.Repeat("a", 200): true, strings.Repeat("a", 201): false, "a b": true, " a": false, "$x": false, "'a'": false, "a;": false} {
		if err := CheckNGINX("ssl_ciphers", value); (err == nil) != fine {
			t.Errorf("%.30q: %v", value, err)
		}
	}
	if err := (Web{Directives: map[string]string{"aio": "a;"}}).Validate(); err == nil || !strings.Contains(err.Error(), "aio") {
		t.Errorf("%v", err)
	}
	if err := CheckNGINX("worker_process", "2"); err == nil || !strings.Contains(hint.Of(err), "worker_processes") {
		t.Errorf("no nearest name: %v", err)
	}
}
