package nginxconf

import (
	"strings"
	"testing"
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
		if err := Check(name, value); err == nil {
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
