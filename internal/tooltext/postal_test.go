package tooltext

import (
	"slices"
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
	for _, size := range []int{1, 7, len(postalErr)} { // of a write
		var said PostalSaid
		const times = 500
		for part := range slices.Chunk([]byte(strings.Repeat(postalErr, times)+"Can't connect to b"), size) {
			if n, err := said.Write(part); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		said.End()
		if said.Messages != 2*times || said.Sessions != times+1 || said.First != "550 5.1.1 no such user" || len(said.Text) != mostSaid {
			t.Errorf("in parts of %d: %+v", size, said)
		}
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
		var said, parts PostalSaid
		half := len(text) / 2
		_, _ = said.Write([]byte(text))
		_, _ = parts.Write([]byte(text[:half]))
		_, _ = parts.Write([]byte(text[half:]))
		said.End()
		parts.End()
		if said.Messages+said.Sessions > lines+1 || len(said.First) > 1000 || len(said.Text) > mostSaid {
			t.Errorf("%+v of %d lines", said, lines)
		}
		if said.Messages != parts.Messages || said.Sessions != parts.Sessions || said.First != parts.First || said.Text != parts.Text {
			t.Errorf("%+v, in two parts %+v", said, parts)
		}
	})
}
