package setting

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/lazy"
)

// ServerRoot is the directory that contains all its files, as the server sees it.
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

// Web describes a web server to configure.
type Web struct {
	// Sizes lists its objects by body size in bytes: /1000 has 1000 bytes.
	Sizes []int
	TLS   bool // on HTTPSPort, in addition to HTTPPort
	HTTP2 bool // on HTTPSPort, by ALPN
	// Log enables an access log in the format of internal/accesslog, with request_time.
	Log bool
	// Directives are set in addition to linerate's own, by name (NGINXDirectives lists the allowed
	// ones). Others have nginx's defaults.
	Directives map[string]string
	// Origin, if set, is an address:port from which everything is fetched; Cache enables caching.
	Origin string
	Cache  bool
	// User is the user of the workers, with a group; "" is nginx's default.
	User string
}

// place is the context in nginx's configuration that accepts a directive.
type place string

const (
	inMain   place = "main"
	inEvents place = "events"
	inHTTP   place = "http"
	inListen place = "listen" // a parameter of listen
	inProxy  place = "location"
)

// places maps the directives that a study may set (nginx.org/en/docs/dirindex.html) to their
// context. None of them names a file, a program or another host.
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

// NGINXDirectives returns the nginx directives that a study may set, sorted.
func NGINXDirectives() []string { return slices.Sorted(maps.Keys(places)) }

// directiveRE matches values of directives: words and numbers, without punctuation of nginx's
// grammar.
var directiveRE = lazy.Regexp(`^[A-Za-z0-9_.:=+!@/-]+( [A-Za-z0-9_.:=+!@/-]+)*$`)

// CheckNGINX returns an error for what a study may not set.
func CheckNGINX(name, value string) error {
	if _, ok := places[name]; !ok {
		return hint.Unknown("nginx directive", name, NGINXDirectives())
	}
	if !directiveRE().MatchString(value) || len(value) > 200 {
		return fmt.Errorf("%q is not a value for nginx's %s: want words and numbers", value, name)
	}
	return nil
}

// Validate returns an error for what cannot be configured.
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

// MaxObject is the maximum size of an object of a study's web server, in bytes: all are in memory.
const MaxObject = 256 << 20

// logFormat is recognised by internal/accesslog without options.
const logFormat = `'$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time'`

// Config returns nginx's configuration; it is deterministic.
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
			line("    ssl_protocols TLSv1.2 TLSv1.3;") // nginx's default since 1.23.4; before without 1.3
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

// listen returns the parameters of one listen directive.
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

// ObjectPath returns the path of an object of the given size in bytes.
func ObjectPath(size int) string { return "/" + strconv.Itoa(size) }
