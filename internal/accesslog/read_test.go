package accesslog

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// synthetic writes n lines of combined + request_time, and returns what a
// reader must find in them.
func synthetic(n int, seed uint64) (log []byte, selected int64, under100 int64) {
	r := rand.New(rand.NewPCG(seed, 1))
	var b bytes.Buffer
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	agents := []string{"Mozilla/5.0 (X11; FreeBSD amd64; rv:128.0) Gecko/20100101 Firefox/128.0", "curl/8.7.1", "-"}
	statuses := []int{200, 200, 200, 200, 304, 404, 500}
	for i := range n {
		status := statuses[r.IntN(len(statuses))]
		ms := int(r.ExpFloat64() * 60)
		fmt.Fprintf(&b, "198.51.100.%d - - [%s] \"GET /page/%d.html?q=%d HTTP/1.1\" %d %d \"https://example.org/\" \"%s\" %d.%03d\n",
			r.IntN(256), at.Add(time.Duration(i)*37*time.Millisecond).Format("02/Jan/2006:15:04:05 -0700"),
			r.IntN(50), i, status, r.IntN(350000), agents[r.IntN(len(agents))], ms/1000, ms%1000)
		if status == 200 {
			selected++
			if ms < 100 {
				under100++
			}
		}
	}
	return b.Bytes(), selected, under100
}

func only200(t testing.TB) Filter {
	t.Helper()
	s, err := ParseStatuses("200")
	if err != nil {
		t.Fatal(err)
	}
	return Filter{Statuses: s}
}

func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReadCountsExactly(t *testing.T) {
	log, selected, under := synthetic(20000, 1)
	path := write(t, "access.log", log)
	for _, from := range []string{path, "-"} {
		o := &Options{Filter: only200(t), Under: []time.Duration{100 * time.Millisecond}}
		tally, note, err := Read(context.Background(), []string{from}, bytes.NewReader(log), o)
		if err != nil || note != "" {
			t.Fatal(err, note)
		}
		if tally.Lines != 20000 || tally.Selected != selected || tally.Under[0] != under || tally.BadLines() != 0 {
			t.Errorf("%s: lines %d, selected %d, under 100 ms %d, bad %d; want 20000, %d, %d, 0",
				from, tally.Lines, tally.Selected, tally.Under[0], tally.BadLines(), selected, under)
		}
	}
}

// TestBuffersLoseNoLine reads logs whose lines cross the ends of buffers in every way.
func TestBuffersLoseNoLine(t *testing.T) {
	line := func(n int) string {
		return `h - - [t] "GET / HTTP/1.1" 200 5 "-" "` + strings.Repeat("a", n) + `" 0.100` + "\n"
	}
	short := len(line(0))
	var b strings.Builder
	want := 0
	for b.Len() < 2*(512<<10) {
		b.WriteString(line(37))
		want++
	}
	for _, edge := range []int{(512 << 10) * 3, (512 << 10) * 4, (512<<10)*5 - 1, (512<<10)*6 + 1, (512 << 10) * 7} {
		for edge-b.Len() > 100000+short {
			b.WriteString(line(90000))
			want++
		}
		b.WriteString(line(edge - b.Len() - short)) // ends exactly at the edge
		want++
	}
	b.WriteString(line((512 << 10) + 500)) // half as long as a buffer
	b.WriteString(line(3))
	b.WriteString(strings.TrimSuffix(line(9), "\n")) // no newline at the end
	want += 3
	for _, from := range []string{write(t, "access.log", []byte(b.String())), "-"} {
		tally, _, err := Read(context.Background(), []string{from}, strings.NewReader(b.String()), &Options{Filter: only200(t)})
		if err != nil {
			t.Fatal(err)
		}
		if tally.Lines != int64(want) || tally.Selected != int64(want) {
			t.Errorf("%s: %d lines, %d selected, want %d", from, tally.Lines, tally.Selected, want)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	log, _, _ := synthetic(1000000, 1)
	path := write(b, "access.log", log)
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		o := &Options{Filter: only200(b), Under: []time.Duration{100 * time.Millisecond}}
		if _, _, err := Read(context.Background(), []string{path}, nil, o); err != nil {
			b.Fatal(err)
		}
	}
}
