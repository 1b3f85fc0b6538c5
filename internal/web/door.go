package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Door is the access control.
type Door struct {
	// Token grants access.
	Token string
	// Names are the host names of the server, besides "localhost" and IP addresses. It refuses any
	// other name, which may be an attacker's that resolves to this host (DNS rebinding).
	Names []string
	// Port distinguishes the cookies of several servers on one host.
	Port int
}

// Limits of a request.
const (
	maxURL    = 2048
	MaxHeader = 16 << 10 // of all lines; net/http refuses more
)

// policy restricts pages to their own style sheet, pictures and one script, and nothing from
// elsewhere.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard passes on permitted requests.
func (d Door) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for name, value := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "private, no-cache",
			"Permissions-Policy": "camera=(), geolocation=(), microphone=()", "Vary": "Cookie, Authorization, Sec-Fetch-Site",
		} {
			h.Set(name, value)
		}
		if code, why := d.refuses(r); code != 0 {
			if code == http.StatusMethodNotAllowed {
				h.Set("Allow", "GET, HEAD")
			}
			h.Set("Connection", "close")
			http.Error(w, why, code)
			return
		}
		if d.enter(w, r) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuses returns why a request is refused whoever sent it, 0 if it is not.
func (d Door) refuses(r *http.Request) (code int, why string) {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return http.StatusMethodNotAllowed, "this page only reads: GET and HEAD"
	case len(r.RequestURI) > maxURL:
		return http.StatusRequestURITooLong, "the address is too long"
	case r.ContentLength != 0 || len(r.TransferEncoding) > 0:
		return http.StatusBadRequest, "a request to read has no body"
	case !d.named(r.Host):
		return http.StatusMisdirectedRequest, "this page does not have that name; linerate serve has an option that gives it one"
	case !plain(r.URL):
		return http.StatusBadRequest, "there is no such address"
	case foreign(r):
		return http.StatusForbidden, "a page from elsewhere may not read this one"
	}
	return 0, ""
}

// named reports whether a Host header is valid for this server. An IP address is: pages from
// elsewhere have a name, or another address.
func (d Door) named(host string) bool {
	name := host
	if h, port, err := net.SplitHostPort(host); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return false
		}
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return strings.EqualFold(name, "localhost") || slices.ContainsFunc(d.Names, func(n string) bool { return strings.EqualFold(n, name) })
}

// plain reports whether a path is safe: without dots, doubled or encoded slashes, or control
// characters.
func plain(u *url.URL) bool {
	for part := range strings.SplitSeq(strings.TrimPrefix(u.Path, "/"), "/") {
		if part == "." || part == ".." || part == "" && u.Path != "/" && !strings.HasSuffix(u.Path, "/") {
			return false
		}
	}
	escaped := strings.ToLower(u.EscapedPath())
	for _, bad := range []string{"//", "\\", "%2f", "%5c", "%00", "%2e%2e"} {
		if strings.Contains(escaped, bad) {
			return false
		}
	}
	return strings.HasPrefix(u.Path, "/") && !strings.ContainsFunc(u.Path, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// foreign reports a request made by another site's page, except following a link to a whole page,
// which that site cannot read.
func foreign(r *http.Request) bool {
	if o := r.Header.Get("Origin"); o != "" {
		u, err := url.Parse(o)
		if err != nil || !strings.EqualFold(u.Host, r.Host) {
			return true
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document"
}

// cookie returns the cookie's name. Browsers do not separate cookies by port.
func (d Door) cookie() string { return "linerate-" + strconv.Itoa(d.Port) }

// matches reports whether the token is correct, in constant time.
func (d Door) matches(token string) bool {
	a, b := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(d.Token))
	return d.Token != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// enter permits requests with the token; it reports whether the request is answered. It turns a
// token in the URL into a cookie, and removes it from the URL.
func (d Door) enter(w http.ResponseWriter, r *http.Request) (answered bool) {
	if scheme, bearer, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") && d.matches(strings.TrimSpace(bearer)) {
		return false
	}
	if q := r.URL.Query(); q.Has("token") {
		if len(q["token"]) != 1 || !d.matches(q.Get("token")) {
			d.ask(w, r, "This is not the token.")
			return true
		}
		http.SetCookie(w, &http.Cookie{Name: d.cookie(), Value: d.Token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		q.Del("token")
		to := url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: q.Encode()}
		w.Header().Set("Location", to.String())
		w.WriteHeader(http.StatusSeeOther)
		return true
	}
	for _, c := range r.CookiesNamed(d.cookie()) {
		if d.matches(c.Value) {
			return false
		}
	}
	d.ask(w, r, "")
	return true
}

// ask answers requests without a token: for people, with a page that asks for one.
func (d Door) ask(w http.ResponseWriter, r *http.Request, why string) {
	h := w.Header()
	h.Set("WWW-Authenticate", `Bearer realm="linerate"`)
	h.Set("Cache-Control", "no-store")
	if strings.HasPrefix(r.URL.Path, "/api/") || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Error(w, "the token is missing, or is not this page's: Authorization: Bearer TOKEN", http.StatusUnauthorized)
		return
	}
	h.Set("Content-Security-Policy", "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusUnauthorized)
	// After a link from another site the cookie exists, but the browser did not send it (SameSite):
	// a link to the same page sends it.
	again := ""
	if s := r.Header.Get("Sec-Fetch-Site"); why == "" && (s == "cross-site" || s == "same-site") {
		again = r.URL.RequestURI()
	}
	_ = templates().ExecuteTemplate(w, "ask", map[string]any{"Why": why, "Path": r.URL.Path, "Again": again})
}
