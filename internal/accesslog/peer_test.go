package accesslog

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// TestPeer reads clients' addresses where servers write them, and does not mistake a time of day
// for one.
func TestPeer(t *testing.T) {
	for line, want := range map[string]string{
		`198.18.0.1:40122 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 5 0.003`:       "198.18.0.1:40122",
		`2001:2::1:40122 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 5 0.003`:        "[2001:2::1]:40122",
		`[2001:2::1]:40122 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 5 0.003`:      "[2001:2::1]:40122",
		`{"time":"2000-10-10T13:55:36-07:00","peer":"::ffff:198.18.0.1:9","request_time":0.1}`: "198.18.0.1:9",
		`10/Oct/2000:13:55:36 peer=198.18.0.1:40122 rt=0.003`:                                  "198.18.0.1:40122",
		`198.18.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a:80 HTTP/1.1" 200 5 0.003`:         "",
		`198.18.0.1:0 - - "GET http://x:80/ HTTP/1.1"`:                                         "",
		"": "", ":": "", "::1": "", "1:2:3": "",
	} {
		got, ok := Peer([]byte(line))
		if ok != (want != "") || ok && got.String() != want {
			t.Errorf("%s: %v, %v", line, got, ok)
		}
	}
}

// TestEach passes on every counted request, with its time.
func TestEach(t *testing.T) {
	const log = `198.18.0.1:40122 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 5 "-" "-" 0.003
198.18.0.2:40123 - - [10/Oct/2000:13:55:37 -0700] "GET / HTTP/1.1" 503 5 "-" "-" 1.25
no line
`
	var took []time.Duration
	var at []int64
	o := &Options{Each: func(line []byte, d time.Duration, unix int64) {
		if !bytes.Contains(line, []byte("GET /")) {
			t.Errorf("line %q", line)
		}
		took, at = append(took, d), append(at, unix)
	}}
	if _, _, err := Read(context.Background(), []string{"-"}, strings.NewReader(log), o); err != nil {
		t.Fatal(err)
	}
	if len(took) != 2 || took[0] != 3*time.Millisecond || took[1] != 1250*time.Millisecond || at[0] != 971211336 || at[1] != 971211337 {
		t.Errorf("took %v at %v", took, at)
	}
}
