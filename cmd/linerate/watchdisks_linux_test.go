package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"linerate/internal/assemble"
	labserve "linerate/internal/lab/serve"
	"linerate/internal/load/request"
	"linerate/internal/port"
	"linerate/internal/server"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// diskSeen is what the kernel shows of an arm: how its disk is mounted, how often its device was
// written while the arm was measured, and how many connections to its server were dropped.
type diskSeen struct {
	part     string
	wanted   setting.Disk
	device   string // major:minor
	mounted  string // from /proc/self/mountinfo
	answered uint64
	writes   uint64
	drops    uint64
	slowest  int64    // ns, the slowest answer
	also     []string // distinct results of diskWatch.also, taken at each turn
}

// diskWatch wraps a Service and observes its servers from the kernel's side. Whether a disk that
// writes synchronously is slower than memory depends on the machine; that it writes is the
// study's responsibility.
type diskWatch struct {
	labserve.Service
	t    *testing.T
	also func(port.Place) string
	seen []*diskSeen
}

// watchDisks wraps the service of a testbed's server lab.
func watchDisks(t *testing.T, bed *assemble.Testbed) *diskWatch {
	t.Helper()
	w := &diskWatch{t: t}
	for i, r := range bed.Lab.Runners {
		if s, ok := r.(labserve.Runner); ok {
			w.Service, s.Service = s.Service, w
			bed.Lab.Runners[i] = s
		}
	}
	if w.Service == nil {
		t.Fatal("the lab has no servers")
	}
	return w
}

// Start implements lab/serve.Service.
func (w *diskWatch) Start(ctx context.Context, at testbed.Site, settings []setting.Setting, part study.Part) (labserve.Server, error) {
	before := boxDisks(w.t)
	s, err := w.Service.Start(ctx, at, settings, part)
	if err != nil {
		return nil, err
	}
	seen := &diskSeen{part: part.Name, wanted: setting.DefaultDisk()}
	for _, set := range settings {
		if set.Mechanism == setting.FileSystem {
			seen.wanted = *set.Disk
		}
	}
	for device, line := range boxDisks(w.t) {
		if before[device] == "" {
			seen.device, seen.mounted = device, line
		}
	}
	w.seen = append(w.seen, seen)
	return &watchedServer{Server: s, diskWatch: w, at: at.Server, mine: seen}, nil
}

// of returns the arms of a part that asked for such a disk.
func (w *diskWatch) of(part, kind, options string) (out []*diskSeen) {
	for _, s := range w.seen {
		if s.part == part && s.wanted.Type == kind && s.wanted.Options == options {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		w.t.Errorf("part %s: no server on %s mounted %q was started", part, kind, options)
	}
	return out
}

// asMounted fails the test if an arm's disk is not mounted as its variant wants.
func (w *diskWatch) asMounted() {
	w.t.Helper()
	for _, s := range w.seen {
		own, super, _ := strings.Cut(s.mounted, " - ")
		fields := append(strings.Fields(own), strings.Fields(super)...) // … options … - type source options
		if s.mounted == "" || len(strings.Fields(super)) < 3 || strings.Fields(super)[0] != s.wanted.Type {
			w.t.Errorf("part %s: the disk of %s is mounted as %q", s.part, s.wanted, s.mounted)
			continue
		}
		options := strings.Split(strings.Fields(own)[5]+","+fields[len(fields)-1], ",")
		for _, o := range []string{"sync", "dirsync"} {
			if slices.Contains(options, o) != slices.Contains(s.wanted.List(), o) {
				w.t.Errorf("part %s: the disk of %s is mounted %q", s.part, s.wanted, options)
			}
		}
	}
}

// watchedServer is a server whose disk writes and connections are counted.
type watchedServer struct {
	labserve.Server
	*diskWatch
	at   port.Place
	mine *diskSeen
}

// Ask implements lab/serve.Server.
func (s *watchedServer) Ask(ctx context.Context, o labserve.Offer) (*request.Account, request.Meter, error) {
	if s.also != nil {
		if is := s.also(s.at); !slices.Contains(s.mine.also, is) {
			s.mine.also = append(s.mine.also, is)
		}
	}
	wrote, dropped := writesTo(s.t, s.mine.device), listenDrops(s.t, s.at)
	a, m, err := s.Server.Ask(ctx, o)
	s.mine.writes += writesTo(s.t, s.mine.device) - wrote
	s.mine.drops += listenDrops(s.t, s.at) - dropped
	if a != nil {
		r := a.Result(m)
		s.mine.answered += r.Answered
		if r.Latency != nil {
			s.mine.slowest = max(s.mine.slowest, r.Latency.Max)
		}
	}
	return a, m, err
}

// Tell implements lab/serve.Teller.
func (s *watchedServer) Tell(v *study.Served) {
	if t, ok := s.Server.(labserve.Teller); ok {
		t.Tell(v)
	}
}

// boxDisks returns the mountinfo lines of all disks in the Boxes of this process's threads, by
// device.
func boxDisks(t *testing.T) map[string]string {
	t.Helper()
	all, err := filepath.Glob("/proc/self/task/*/mountinfo")
	if err != nil {
		t.Error(err)
	}
	out := map[string]string{}
	for _, f := range all {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has exited
		}
		for line := range strings.Lines(string(text)) {
			if x := strings.Fields(line); len(x) > 5 && x[4] == server.Root+"/"+server.DiskDir {
				out[x[2]] = line
			}
		}
	}
	return out
}

// writesTo returns how many writes a block device has completed; 0 if it is no block device (tmpfs).
func writesTo(t *testing.T, device string) uint64 {
	text, err := os.ReadFile("/sys/dev/block/" + device + "/stat")
	if device == "" || os.IsNotExist(err) {
		return 0
	}
	x := strings.Fields(string(text))
	if err != nil || len(x) < 5 {
		t.Errorf("%v: %q", err, text)
		return 0
	}
	return kernelCount(t, x[4]) // Documentation/block/stat.rst: write I/Os
}

// listenDrops returns how many connections the kernel dropped because the accept queue was full.
func listenDrops(t *testing.T, in port.Place) (n uint64) {
	var text []byte
	err := in(func() (err error) {
		text, err = os.ReadFile("/proc/thread-self/net/netstat")
		return err
	})
	lines := strings.Split(string(text), "\n")
	if err != nil || len(lines) < 2 {
		t.Errorf("%v: %q", err, text)
		return 0
	}
	values := strings.Fields(lines[1])
	if i := slices.Index(strings.Fields(lines[0]), "ListenDrops"); i >= 0 && i < len(values) {
		return kernelCount(t, values[i])
	}
	t.Errorf("no ListenDrops in %q", lines[0])
	return 0
}

func kernelCount(t *testing.T, text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Error(err)
	}
	return n
}
