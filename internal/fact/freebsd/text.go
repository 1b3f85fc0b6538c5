package freebsd

import "strings"

func firstLine(text string) string {
	l, _, _ := strings.Cut(text, "\n")
	return clip(l, 200)
}

// clip shortens a text for a message.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
