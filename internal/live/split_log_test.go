package live

import (
	"fmt"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/host/localhost"
	"linerate/internal/sockops"
	"linerate/internal/study"
)

// TestRequestLog: a connection gets the mean time of the requests with its client's address and port while
// it was open; a reused port belongs to another connection.
func TestRequestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	now := time.Now()
	line := func(client string, at time.Time, took string) string {
		return fmt.Sprintf("%s - - [%s] \"GET / HTTP/1.1\" 200 5 \"-\" \"-\" %s\n", client, at.Format("02/Jan/2006:15:04:05 -0700"), took)
	}
	write := func(text string) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write(line("198.18.0.1:1", now, "9.000"))
	l, err := newRequestLog(t.Context(), &localhost.Runner{}, path)
	if err != nil {
		t.Fatal(err)
	}
	write(line("198.18.0.1:1", now, "0.100") + line("198.18.0.1:1", now, "0.300") + line("198.18.0.1:1", now.Add(-time.Minute), "7.000") +
		line("2001:2::1:1", now, "0.000") + "no line\n")
	var seen [3]study.Connections
	for i, client := range []string{"198.18.0.1:1", "[2001:2::1]:1", "198.18.0.2:1"} {
		seen[sockops.Treated].Add(study.Connection{})
		l.await(row{1, sockops.Treated, i}, sockops.Closed{Remote: netip.MustParseAddrPort(client), Ended: now, Duration: time.Second})
	}
	l.await(row{2, sockops.Control, 0}, sockops.Closed{Remote: netip.MustParseAddrPort("198.18.0.3:1"), Ended: now, Duration: time.Second})
	if err := l.join(t.Context(), 1, time.Second, &seen); err != nil {
		t.Fatal(err)
	}
	got := seen[sockops.Treated].Request
	if len(got) != 3 || got[0] != 0.2 || got[1] != 0.0005 || got[2] != 0 || l.joined != 2 || l.without != 1 || len(l.rows) != 1 {
		t.Errorf("requests %v; %d joined, %d not, %d wait", got, l.joined, l.without, len(l.rows))
	}
}

// TestRequestLogRefused: a log that cannot be joined is refused before anything is attached.
func TestRequestLogRefused(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const combined = `198.18.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 5 "-" "-" 0.003` + "\n"
	for name, c := range map[string]struct{ path, want, hint string }{
		"no port": {file("combined", combined), "do not have the client's port", "$remote_addr:$remote_port"},
		"no time": {file("untimed", strings.ReplaceAll(strings.ReplaceAll(combined, " 0.003", ""), "198.18.0.1", "198.18.0.1:9")), "no request time", "$request_time"},
		"missing": {filepath.Join(dir, "missing"), "no such file", ""},
		"no file": {dir, "is not a readable file", ""},
		"empty":   {file("empty", ""), "", ""},
		"begun":   {file("begun", "198.18"), "", ""},
	} {
		_, err := newRequestLog(t.Context(), &localhost.Runner{}, c.path)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(hint.Of(err), c.hint)) {
			t.Errorf("%s: %v (%s)", name, err, hint.Of(err))
		}
	}
}

// TestSample: a quiet window's connections are all reported; of a busy one's, twice what the record holds of each arm.
func TestSample(t *testing.T) {
	if got := sample([]sockops.Tally{{Opened: 900}, {Opened: 1000}, {Opened: 100}}, 0.5); got != sockops.All {
		t.Errorf("of 2,000 connections: %v", got)
	}
	got := sample([]sockops.Tally{{Opened: 400_000}, {Opened: 500_000}, {Opened: 100_000}}, 0.4)
	for arm, all := range []float64{300_000, 300_000, 400_000} {
		if n := got[arm] * all; math.Abs(n-2*mostKept) > 1 {
			t.Errorf("of arm %d's %.0f connections, %.0f are reported, not %d", arm, all, n, 2*mostKept)
		}
	}
}
