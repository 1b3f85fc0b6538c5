package tooltext

import (
	"strings"
	"testing"
)

const (
	postalLog = "f8517a636c9e60a7287464c3ba2895a0 <user3@example.org> <user1@example.org>\nd52b4850abb8d116d0882d10e96efc87 <user2@example.org> <user2@example.org>\n"
	postalErr = "\nServer error:550 5.1.1 no such user\n.\nCan't connect to 127.0.0.1 port 2599.\n\nServer error:500 5.3.0 Error: command failed\n.\n"
)

func TestPostalsLog(t *testing.T) {
	for text, want := range map[string]uint64{"": 0, postalLog: 2, postalLog + "281052b5": 2, postalLog + strings.TrimSpace(postalLog): 3} {
		if n, err := PostalTaken(strings.NewReader(text)); err != nil || n != want {
			t.Errorf("%q: %d, %v, want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"no log\n", postalLog + "\n", strings.Repeat("x", 2*maxPostalLine)} {
		if n, err := PostalTaken(strings.NewReader(text)); err == nil {
			t.Errorf("%.40q counts %d", text, n)
		}
	}
}

func TestPostalsComplaints(t *testing.T) {
	messages, sessions, first := PostalFailed(postalErr)
	if messages != 2 || sessions != 1 || first != "550 5.1.1 no such user" {
		t.Errorf("%d, %d, %q", messages, sessions, first)
	}
}

func FuzzPostal(f *testing.F) {
	f.Add(postalLog)
	f.Add(postalErr)
	f.Fuzz(func(t *testing.T, text string) {
		lines := uint64(strings.Count(text, "\n"))
		if n, _ := PostalTaken(strings.NewReader(text)); n > lines {
			t.Errorf("%d messages in %d lines", n, lines)
		}
		if m, s, first := PostalFailed(text); m+s > lines+1 || len(first) > 1000 {
			t.Errorf("%d and %d complaints in %d lines, the first of %d bytes", m, s, lines, len(first))
		}
	})
}
