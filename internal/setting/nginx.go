package setting

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/hint"
)

// ServerRoot is the directory that all its files are in, as the server sees it.
const ServerRoot = "/tmp"

// Ports of a study's web server.
const (
	HTTPPort  = 80
	HTTPSPort = 443
)

// Files of a study's web server, below Root.
const (
	NGINXAccessLog = "log/access.log"
	NGINXErrorLog  = "log/error.log"
	CertFile       = "etc/cert.pem"
	KeyFile        = "etc/key.pem"
	NGINXConf      = "etc/nginx.conf"
)

// Web is a web server to be configured.
type Web struct {
	// Sizes are the objects it has, in bytes of body: /1000 is of 1000 bytes.
	Sizes []int
	TLS   bool // on HTTPSPort, in addition to HTTPPort
	HTTP2 bool // on HTTPSPort, by ALPN
	// Log writes an access log in the format that internal/accesslog knows,
	// with request_time.
	Log bool
	// Directives are set in addition to linerate's own, by name (NGINXDirectives lists
	// what may be). What is not set is as nginx has it.
	Directives map[string]string
	// Origin, where given, is an address:port that everything is fetched
	// from, and Cache keeps it.
	Origin string
	Cache  bool
	// User is whom the workers run as, with a group; "" is nginx's own choice.
	User string
}

// place is where in its configuration nginx takes a directive.
type place string

const (
	inMain   place = "main"
	inEvents place = "events"
	inHTTP   place = "http"
	inListen place = "listen" // a parameter of listen
	inProxy  place = "location"
)

// places are the directives a study may set (nginx.org/en/docs/dirindex.html).
// None of them names a file, a program or another host.
var places = map[string]place{
	"worker_processes": inMain, "worker_rlimit_nofile": inMain, "worker_priority": inMain, "worker_cpu_affinity": inMain,
	"worker_connections": inEvents, "multi_accept": inEvents, "accept_mutex": inEvents, "use": inEvents,
	"sendfile": inHTTP, "sendfile_max_chunk": inHTTP, "tcp_nopush": inHTTP, "tcp_nodelay": inHTTP, "aio": inHTTP, "directio": inHTTP,
	"keepalive_timeout": inHTTP, "keepalive_requests": inHTTP, "output_buffers": inHTTP, "postpone_output": inHTTP, "send_lowat": inHTTP,
	"reset_timedout_connection": inHTTP, "lingering_close": inHTTP, "open_file_cache": inHTTP, "open_file_cache_valid": inHTTP, "gzip": inHTTP,
	"ssl_protocols": inHTTP, "ssl_ciphers": inHTTP, "ssl_buffer_size": inHTTP, "ssl_session_tickets": inHTTP, "ssl_conf_command": inHTTP, "ssl_early_data": inHTTP,
	"backlog": inListen, "reuseport": inListen, "deferred": inListen, "fastopen": inListen, "rcvbuf": inListen, "sndbuf": inListen, "so_keepalive": inListen,
	"proxy_cache_lock": inProxy, "proxy_cache_valid": inProxy, "proxy_cache_use_stale": inProxy, "proxy_cache_background_update": inProxy,
	"proxy_buffering": inProxy, "proxy_cache_revalidate": inProxy, "proxy_cache_bypass": inProxy, "proxy_no_cache": inProxy,
}

// NGINXDirectives lists what a study may set of nginx, sorted.
func NGINXDirectives() []string { return slices.Sorted(maps.Keys(places)) }

// valueRE is what a directive may be set to: words, numbers, no
// punctuation of nginx's grammar.
var directiveRE = regexp.MustCompile(`^[A-Za-z0-9_.:=+!@/-]+( [A-Za-z0-9_.:=+!@/-]+)*$`)

// CheckNGINX refuses what a study may not set.
func CheckNGINX(name, value string) error {
	if _, ok := places[name]; !ok {
		return hint.Unknown("nginx directive", name, NGINXDirectives())
	}
	if !directiveRE.MatchString(value) || len(value) > 200 {
		return fmt.Errorf("%q is no value of nginx's %s: words and numbers", value, name)
	}
	return nil
}

// Validate refuses what cannot be configured.
func (w Web) Validate() error {
	for _, name := range slices.Sorted(maps.Keys(w.Directives)) {
		if err := CheckNGINX(name, w.Directives[name]); err != nil {
			return err
		}
	}
	for _, n := range w.Sizes {
		if n < 0 || n > MaxObject {
			return fmt.Errorf("an object of %d bytes is not within 0 and %d", n, MaxObject)
		}
	}
	return nil
}

// MaxObject is the largest object a study's web server has: all are in memory.
const MaxObject = 256 << 20

// logFormat is read by internal/accesslog without being told.
const logFormat = `'$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time'`

// Config is nginx's configuration. The same Web gives the same text.
func (w Web) Config() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	directives := func(in place, indent string) {
		for _, name := range slices.Sorted(maps.Keys(w.Directives)) {
			if places[name] == in {
				line("%s%s %s;", indent, name, w.Directives[name])
			}
		}
	}
	line("daemon off;\npid %s/pid;\nerror_log %s/%s warn;", ServerRoot, ServerRoot, NGINXErrorLog)
	if w.User != "" {
		line("user %s;", w.User)
	}
	directives(inMain, "")
	line("events {")
	directives(inEvents, "  ")
	line("}\nhttp {")
	line("  default_type application/octet-stream;")
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		line("  %s_temp_path %s/spool/%s;", kind, ServerRoot, kind)
	}
	if w.Log {
		line("  log_format study %s;\n  access_log %s/%s study;", logFormat, ServerRoot, NGINXAccessLog)
	} else {
		line("  access_log off;")
	}
	if w.Cache {
		line("  proxy_cache_path %s/cache keys_zone=study:1m max_size=1g inactive=1h use_temp_path=off;", ServerRoot)
	}
	directives(inHTTP, "  ")
	w.server(line, directives)
	line("}")
	return b.String()
}

func (w Web) server(line func(string, ...any), directives func(place, string)) {
	line("  server {")
	line("    listen %d%s;", HTTPPort, w.listen(""))
	if w.TLS {
		kind := " ssl"
		if w.HTTP2 {
			kind += " http2" // a separate directive only since 1.25
		}
		line("    listen %d%s;", HTTPSPort, w.listen(kind))
		line("    ssl_certificate %s/%s;\n    ssl_certificate_key %s/%s;", ServerRoot, CertFile, ServerRoot, KeyFile)
		if w.Directives["ssl_protocols"] == "" {
			line("    ssl_protocols TLSv1.2 TLSv1.3;") // nginx's default since 1.23.4; before, without 1.3
		}
	}
	line("    root %s/html;", ServerRoot)
	if w.Origin != "" {
		line("    location / {\n      proxy_pass http://%s;\n      proxy_http_version 1.1;\n      proxy_set_header Connection \"\";", w.Origin)
		if w.Cache {
			line("      proxy_cache study;\n      add_header X-Cache $upstream_cache_status;")
		}
		directives(inProxy, "      ")
		line("    }")
	}
	line("  }")
}

// listen are the parameters of one listen directive.
func (w Web) listen(kind string) string {
	out := kind
	for _, name := range slices.Sorted(maps.Keys(w.Directives)) {
		if places[name] != inListen {
			continue
		}
		switch v := w.Directives[name]; v {
		case "on":
			out += " " + name
		case "off":
		default:
			out += " " + name + "=" + v
		}
	}
	return out
}

// ObjectPath is the path of an object of so many bytes.
func ObjectPath(size int) string { return "/" + strconv.Itoa(size) }
