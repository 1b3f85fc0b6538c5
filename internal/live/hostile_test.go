package live

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"linerate/internal/stats"
	"linerate/internal/study"
)

// TestRampGoesOn: a study interrupted in its ramp resumes with the remaining exposures; no treatment gets a
// full window before its exposures of seconds.
func TestRampGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHost(time.UTC, 7)
		o := h.study(Options{Plan: study.WindowPlan{Window: 5 * time.Minute, BurnIn: time.Minute, Pairs: 1}, Seed: 5, Metrics: []string{"log:/a"}, Pilot: time.Minute})
		var windows []Window
		ctx, cancel := context.WithCancel(t.Context())
		o.Sink = func(w Window) error {
			if windows = append(windows, w); len(windows) == 2 {
				cancel()
			}
			return nil
		}
		if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		o.Done = windows
		if _, err := Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		lengths := []float64{}
		for _, w := range windows {
			if w.Ramp && w.Arm == "it" {
				lengths = append(lengths, math.Round(w.Seconds/10))
			}
		}
		if len(lengths) != 2 || lengths[0] >= lengths[1] || windows[len(windows)-1].Ramp {
			t.Errorf("exposures of %v tens of seconds in %d windows", lengths, len(windows))
		}
	})
}

// TestCommandLeavesAProcess: a command that has exited is not waited for because of a process it left.
func TestCommandLeavesAProcess(t *testing.T) {
	dir := t.TempDir()
	path, pid := filepath.Join(dir, "metric"), filepath.Join(dir, "pid")
	for name, c := range map[string]struct {
		script string
		fails  bool
	}{
		"ended": {"sleep 60 &\necho $! >" + pid + "\necho 5\n", false},
		"hangs": {"sleep 60 &\necho $! >" + pid + "\nwait\n", true},
	} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+c.script), 0o755); err != nil {
			t.Fatal(err)
		}
		m, err := (&Options{Better: stats.LowerIsBetter}).ParseMetric("command:" + path)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for c.fails && ctx.Err() == nil {
				if text, _ := os.ReadFile(pid); len(text) > 0 {
					cancel()
				}
			}
		}()
		v, err := m.from.(*command).run(ctx)
		cancel()
		text, _ := os.ReadFile(pid)
		left, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		if (err != nil) != c.fails || !c.fails && v != 5 {
			t.Errorf("%s: %g, %v", name, v, err)
		}
		if left == 0 || syscall.Kill(left, 0) != nil {
			t.Errorf("%s: the process left behind was waited for", name)
		}
		_, _ = syscall.Kill(left, syscall.SIGKILL), os.Remove(pid)
	}
}

// TestHangingPrometheus: a hanging metrics server does not block looks at the host.
func TestHangingPrometheus(t *testing.T) {
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	defer server.Close()
	defer close(over)
	m, err := (&Options{Better: stats.LowerIsBetter}).ParseMetric("prometheus:" + server.URL + "#up")
	if err != nil {
		t.Fatal(err)
	}
	defer m.from.Close()
	if v, err := m.from.Tick(t.Context(), Sample{}); err != nil || !math.IsNaN(v) {
		t.Errorf("%g, %v", v, err)
	}
}

// torrent is a host whose log grows faster than it is read.
type torrent struct {
	saying
	pieces int
}

func (l *torrent) Run(_ context.Context, _ string, args []string, _ []byte) ([]byte, error) {
	if args[2] == "0" {
		return []byte("piece 7 1000 0\n"), nil
	}
	l.pieces++
	return append(fmt.Appendf(nil, "piece 7 1000 %d\n", pieceSize), strings.Repeat("no request\n", pieceSize/11+1)[:pieceSize]...), nil
}

// TestLogInFlood: reading a log late would count requests in the wrong window: what cannot be read at a look
// is skipped, and reported.
func TestLogInFlood(t *testing.T) {
	h := &torrent{}
	l := &tailing{Runner: h, path: "/a", inode: "0"}
	if _, err := l.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lines, err := l.read(t.Context()); err == nil || !strings.Contains(err.Error(), "grows faster") || h.pieces != mostPieces || len(lines) == 0 || len(l.rest) > 0 {
		t.Errorf("%d pieces, %d bytes, %v", h.pieces, len(lines), err)
	}
}
