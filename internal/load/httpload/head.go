package httpload

import (
	"bytes"
	"slices"
)

// head is what is to be known of an answer's head.
type head struct {
	code   int
	length int64 // of the body
	last   bool  // the server closes the connection after it
}

// shape tells what a head is.
type shape int

const (
	partial shape = iota // not all of it is there
	usual                // a length, and nothing that would change how the body is read
	unusual              // net/http is to read it
)

var endOfHead = []byte("\r\n\r\n")

// parseHead reads the head of the answers that servers give most of the time:
// HTTP/1.1, a final status, a body with one length. Whatever is
// otherwise in any way is unusual, and not judged here.
func parseHead(b []byte) (h head, n int, is shape) {
	end := bytes.Index(b, endOfHead)
	if end < 0 {
		return h, 0, unfinished(b)
	}
	rest, ok := h.status(b[:end])
	h.length = -1
	for ok && len(rest) > 0 {
		line := rest
		if i := bytes.IndexByte(rest, '\r'); i >= 0 {
			line, rest = rest[:i], rest[i:]
			if len(rest) < 2 || rest[1] != '\n' {
				return h, 0, unusual
			}
			rest = rest[2:]
		} else {
			rest = nil
		}
		ok = h.field(line)
	}
	if !ok || h.length < 0 {
		return h, 0, unusual
	}
	return h, end + len(endOfHead), usual
}

// unfinished tells what text is that has no usual end of a head: part of one, or
// something else, whose end would never come.
func unfinished(b []byte) shape {
	line, _, whole := bytes.Cut(b, []byte("\n"))
	if whole && !bytes.HasPrefix(line, []byte(version)) || bytes.Contains(b, []byte("\n\n")) || bytes.Contains(b, []byte("\n\r\n")) {
		return unusual
	}
	return partial
}

// version begins the usual heads.
const version = "HTTP/1.1 "

// status reads the first line.
func (h *head) status(b []byte) (rest []byte, ok bool) {
	line, rest, _ := bytes.Cut(b, []byte("\r\n"))
	text, ok := bytes.CutPrefix(line, []byte(version))
	if !ok || len(text) < 4 || text[3] != ' ' || !plain(text) {
		return nil, false
	}
	for _, d := range text[:3] {
		if d < '0' || d > '9' {
			return nil, false
		}
		h.code = 10*h.code + int(d-'0')
	}
	return rest, h.code >= 200 && h.code != 204 && h.code != 304
}

// field reads one of the other lines.
func (h *head) field(line []byte) bool {
	i := bytes.IndexByte(line, ':')
	if i <= 0 {
		return false
	}
	name, value := line[:i], bytes.Trim(line[i+1:], " \t")
	for _, c := range name {
		if !nameByte[c] {
			return false
		}
	}
	if !plain(value) {
		return false
	}
	switch {
	case named(name, "content-length"):
		return h.sized(value)
	case named(name, "transfer-encoding"), named(name, "trailer"), named(name, "upgrade"):
		return false
	case named(name, "connection"):
		h.last = h.last || named(value, "close")
		return h.last || named(value, "keep-alive")
	}
	return true
}

// sized reads the length of the body.
func (h *head) sized(value []byte) bool {
	if h.length >= 0 || len(value) == 0 || len(value) > 18 {
		return false
	}
	h.length = 0
	for _, d := range value {
		if d < '0' || d > '9' {
			return false
		}
		h.length = 10*h.length + int64(d-'0')
	}
	return true
}

// named compares a name, of whichever case, with one in small letters.
func named(name []byte, small string) bool {
	if len(name) != len(small) {
		return false
	}
	for i := range name {
		if name[i]|0x20 != small[i] && name[i] != small[i] {
			return false
		}
	}
	return true
}

// plain tells whether text has no control characters.
func plain(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f })
}

// nameByte are the characters of a header's name (RFC 9110 5.6.2).
var nameByte = func() (ok [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		ok[c] = true
	}
	return ok
}()
