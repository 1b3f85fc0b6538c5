package remoteload

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/port"
)

// fake is an engine whose generator runs until it is stopped.
type fake struct {
	closed  chan string
	running chan bool
}

func (fake) Name() string     { return "fake" }
func (fake) Available() error { return nil }
func (f fake) NewGenerator(s load.Spec, _ port.Place) (load.Generator, error) {
	if s.Device == "none" {
		return nil, load.NotHere(hint.With(errors.New("no such device"), "plug it in"))
	}
	return fakeGen(f), nil
}
func (f fake) NewReceiver(string, port.Place, load.Watch) (load.Receiver, error) {
	return fakeRecv(f), nil
}

type fakeGen fake

func (fakeGen) Probe(context.Context) error { return nil }
func (g fakeGen) Run(ctx context.Context, o load.Offer) (load.Sent, error) {
	g.running <- true
	select {
	case <-ctx.Done():
	case <-time.After(o.Limit.Duration):
	}
	return load.Sent{TxPackets: 42}, ctx.Err()
}
func (g fakeGen) Close() error { g.closed <- "generator"; return nil }

type fakeRecv fake

func (fakeRecv) Snapshot() (load.Received, error) {
	return load.Received{RxPackets: 41, Latency: &load.Latency{P50: 7}}, nil
}
func (r fakeRecv) Finish(context.Context, time.Duration) (load.Received, error) { return r.Snapshot() }
func (fakeRecv) Reset() error                                                   { return nil }
func (r fakeRecv) Close() error                                                 { r.closed <- "receiver"; return nil }

type pipe struct {
	io.Reader
	io.WriteCloser
}

// silent returns an engine whose closing is not observed.
func silent() fake { return fake{make(chan string, 9), make(chan bool, 9)} }

// pair returns a link and its far side; ended receives the result of Serve.
func pair(t *testing.T, boot string) (*Link, fake, chan error) {
	t.Helper()
	f := silent()
	l, ended := served(t, boot, f)
	return l, f, ended
}

// served returns a link to a far side with an engine.
func served(t *testing.T, boot string, engine load.Engine) (*Link, chan error) {
	t.Helper()
	toFar, fromNear := io.Pipe()
	toNear, fromFar := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := Serve(context.Background(), toFar, fromFar, engine, Hello{Boot: boot})
		fromFar.Close()
		ended <- err
	}()
	l, err := Connect(context.Background(), "far", pipe{toNear, fromNear})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, ended
}

// side returns a machine whose link cannot be reconnected.
func side(l *Link) *Side {
	return &Side{link: l, Start: func(context.Context) (*Link, error) { return nil, l.Broken() }}
}

func TestOverTheLink(t *testing.T) {
	a, f, ended := pair(t, "boot-1")
	b, _, _ := pair(t, "boot-2")
	for _, e := range []*Engine{{side(a), side(a)}, {side(a), side(b)}} {
		if err := e.Available(); err != nil || e.Name() != "fake" {
			t.Fatal(err, e.Name())
		}
		g, err := e.NewGenerator(load.Spec{Device: "x"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		sent, err := g.Run(context.Background(), load.Offer{Limit: load.Limit{Duration: time.Millisecond}})
		if err != nil || sent.TxPackets != 42 {
			t.Errorf("%+v, %v", sent, err)
		}
		r, err := e.NewReceiver("y", nil, load.Watch{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Finish(context.Background(), time.Second)
		if err != nil || got.RxPackets != 41 || (got.Latency != nil) != e.OneClock() {
			t.Errorf("one clock %v: %+v, %v", e.OneClock(), got, err)
		}
		if err := errors.Join(r.Reset(), r.Close(), g.Close()); err != nil {
			t.Error(err)
		}
	}
	e := &Engine{side(a), side(a)}
	if _, err := e.NewGenerator(load.Spec{Device: "none"}, nil); !errors.Is(err, load.ErrNotHere) || hint.Of(err) != "plug it in" || !strings.Contains(err.Error(), "far: no such device") {
		t.Errorf("%v, hint %q", err, hint.Of(err))
	}
	for range cap(f.closed) {
		select {
		case <-f.closed:
		default:
		}
	}
	if _, err := e.NewGenerator(load.Spec{Device: "x"}, nil); err != nil {
		t.Fatal(err)
	}
	a.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := <-f.closed; got != "generator" {
		t.Errorf("closed %s", got)
	}
	if err := e.Available(); err == nil {
		t.Error("a closed link is available")
	}
}

// TestSides: either side can do the other's work on a link that carries both directions.
func TestSides(t *testing.T) {
	a, _, _ := pair(t, "boot-1")
	b, _, _ := pair(t, "boot-2")
	two := &Engine{side(a), side(b)}
	if g, err := two.NewGenerator(load.Spec{Side: port.ReceiverSide}, nil); err != nil || g.(*generator).link != b {
		t.Errorf("a generator on the receiver's side: %+v, %v", g, err)
	}
	if r, err := two.NewReceiver("x", nil, load.Watch{Side: port.GeneratorSide}); err != nil || r.(*receiver).link != a {
		t.Errorf("a receiver on the generator's side: %+v, %v", r, err)
	}
}

func TestCancelledRunGivesItsAccount(t *testing.T) {
	l, f, _ := pair(t, "")
	g, err := (&Engine{side(l), side(l)}).NewGenerator(load.Spec{Device: "x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { <-f.running; cancel() }()
	sent, err := g.Run(ctx, load.Offer{Limit: load.Limit{Duration: time.Hour}})
	if !errors.Is(err, context.Canceled) || sent.TxPackets != 42 {
		t.Errorf("%+v, %v", sent, err)
	}
}

// TestCutLink: a pipe that is cut in the middle makes pending calls fail at once.
func TestCutLink(t *testing.T) {
	toNear, fromFar := io.Pipe()
	toFar, fromNear := io.Pipe()
	go func() {
		buf := make([]byte, 4096)
		n, _ := toFar.Read(buf)
		_ = n
		_, _ = fromFar.Write([]byte(`{"id":1,"hello":{"protocol":1}}` + "\n"))
		_, _ = toFar.Read(buf)
		fromFar.Close()
	}()
	l, err := Connect(context.Background(), "far", pipe{toNear, fromNear})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.call(context.Background(), request{Op: opHello}); err == nil || !strings.Contains(err.Error(), "far: the connection was lost") {
		t.Error(err)
	}
}

func TestNotLinerate(t *testing.T) {
	toNear, fromFar := io.Pipe()
	go fromFar.Write([]byte("Welcome to the jungle\n"))
	toFar, fromNear := io.Pipe()
	go func() { _, _ = io.Copy(io.Discard, toFar) }()
	if _, err := Connect(context.Background(), "far", pipe{toNear, fromNear}); err == nil || !strings.Contains(err.Error(), "Welcome") {
		t.Error(err)
	}
}

// scripted is a far side that answers each request with the next of its lines,
// and then hangs up.
type scripted struct {
	io.Reader
	out   *io.PipeWriter
	lines []string
}

func (s *scripted) Write(b []byte) (int, error) {
	if len(s.lines) == 0 {
		return 0, errors.Join(io.ErrClosedPipe, s.Close())
	}
	line := s.lines[0]
	s.lines = s.lines[1:]
	var asked request
	var answer map[string]any
	if json.Unmarshal(b, &asked) == nil && json.Unmarshal([]byte(line), &answer) == nil && answer != nil {
		answer["id"] = asked.ID
		if again, err := json.Marshal(answer); err == nil {
			line = string(again)
		}
	}
	go func() { _, _ = io.WriteString(s.out, line+"\n") }()
	return len(b), nil
}

func (s *scripted) Close() error { return s.out.Close() }

// FuzzFarSide: whatever the far side answers is an answer, or an error that names
// the machine.
func FuzzFarSide(f *testing.F) {
	hello := `{"hello":{"protocol":1,"boot":"a"}}` + "\n"
	f.Add(hello + `{"handle":3}` + "\n" + `{"received":{"rx_packets":5,"streams":[{}],"latency_ns":{}}}` + "\n{}")
	f.Add(hello + `{"error":{"text":"none","hint":"x %d","not_here":true}}`)
	f.Add(hello + "{}\n{}\n{}")
	f.Add(`{"hello":{"protocol":9}}`)
	f.Add("Welcome!\n")
	f.Fuzz(func(t *testing.T, text string) {
		in, out := io.Pipe()
		l, err := Connect(context.Background(), "far", &scripted{in, out, strings.Split(text, "\n")})
		if err != nil {
			if !strings.Contains(err.Error(), "far") {
				t.Errorf("%v: of which machine?", err)
			}
			return
		}
		defer l.Close()
		e := &Engine{side(l), side(l)}
		if r, err := e.NewReceiver("eth0", port.Here, load.Watch{Stream: -1}); err == nil {
			_, _ = r.Snapshot()
			_ = r.Close()
		}
	})
}

// shell runs scripts on this machine, with programs of a directory before others.
type shell struct{ dir string }

func (shell) Where() string { return "here" }

func (s shell) Pipe(ctx context.Context, script string, args ...string) (io.ReadWriteCloser, error) {
	c := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", script, "sh"}, args...)...)
	c.Env = append(os.Environ(), "PATH="+s.dir+":"+os.Getenv("PATH"))
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return pipe{out, in}, c.Start()
}

// TestAnotherSystem runs the program installed there, since a copy of this one would not run.
func TestAnotherSystem(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"uname": "echo Plan9", "program": "exit 1",
		"linerate": `[ "$1" = far-end ] && read -r q && echo '{"id":1,"hello":{"protocol":1,"engine":"installed"}}' && cat >/dev/null`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l, err := Start(t.Context(), Far{Name: "there", Host: shell{dir}, Program: filepath.Join(dir, "program")})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.Hello().Engine != "installed" {
		t.Errorf("%+v", l.Hello())
	}
}
