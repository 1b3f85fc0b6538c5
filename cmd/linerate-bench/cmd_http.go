package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
	"linerate/internal/show"
)

const benchHTTPLong = `Let linerate, wrk and h2load (those on PATH) take turns in closed loops on an
nginx of this command's own: its configuration is generated in a temporary
directory, it listens on loopback and ends with the command. Where there are two CPUs
or more, its one worker has the first to itself and the clients have the others. Ratios are
medians over rounds of those to the first row of each case; CPU/req is the client's. Server
is how much of its CPU nginx used: near 100 % it is nginx that limits, and clients that
count the same have the same rate; far below, the client limits. wrk and h2load have one
thread, linerate as many as it has CPUs.`

func newHTTPCmd() *cobra.Command {
	var b httpBench
	cmd := &cobra.Command{
		Use:   "http",
		Short: "compare HTTP load with wrk and h2load, against an nginx",
		Long:  benchHTTPLong,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	cmd.Flags().IntVar(&b.rounds, "rounds", 10, "interleaved rounds")
	cmd.Flags().IntVar(&b.seconds, "seconds", 1, "of each run")
	cmd.Flags().IntVar(&b.connections, "connections", 10, "connections at once")
	cmd.Flags().BoolVar(&b.json, "json", false, "print the rows as JSON")
	return cmd
}

type httpBench struct {
	rounds, seconds, connections int
	json                         bool
}

// httpRun is what a client said of one run.
type httpRun struct{ rate, p50, requests float64 }

func (b *httpBench) run(cmd *cobra.Command) error {
	if b.rounds < 1 || b.seconds < 1 || b.connections < 1 || b.connections > 1000 {
		return hint.Usagef("--rounds, --seconds and --connections are at least 1, connections at most 1000")
	}
	server, err := startNginx(cmd.Context())
	if err != nil {
		return err
	}
	defer server.stop()
	rivals, err := b.rivals(server)
	if err != nil {
		return err
	}
	all := contest{
		rounds: b.rounds, json: b.json, doc: map[string]any{"seconds": b.seconds, "connections": b.connections},
		title: fmt.Sprintf("closed loop, %s, nginx on loopback with one worker; %s; %s of %d s", show.Plural(b.connections, "connection"), apartWords(), show.Plural(b.rounds, "interleaved round"), b.seconds),
		unit:  "req/s", cpu: "CPU/req", said: "p50", busy: "server", write: inSI, writeOwn: inSeconds,
	}
	return all.run(cmd, rivals)
}

// rivals lists who takes turns at what; linerate is the first of each case.
func (b *httpBench) rivals(s *nginx) (rivals []*rival, err error) {
	self, err := thisProgram()
	if err != nil {
		return nil, err
	}
	n, secs := strconv.Itoa(b.connections), strconv.Itoa(b.seconds)
	add := func(name, client string, read func([]byte) (httpRun, error), argv ...string) {
		if path, err := exec.LookPath(argv[0]); err == nil {
			rivals = append(rivals, &rival{Case: name, Client: client, once: func(ctx context.Context) (measurement, error) {
				before := s.busy()
				o, err := askOnce(ctx, append([]string{path}, argv[1:]...), read)
				o.busy = (s.busy() - before).Seconds() / float64(b.seconds)
				return o, err
			}})
		}
	}
	for _, c := range []struct {
		name, url string
		ours, wrk []string
		h2load    []string
		two       bool
	}{
		{name: "600 B", url: s.plain + "/600", h2load: []string{"--h1"}},
		{name: "24 kB", url: s.plain + "/24k", h2load: []string{"--h1"}},
		{name: "350 kB", url: s.plain + "/350k", h2load: []string{"--h1"}},
		{name: "600 B, new connections", url: s.plain + "/600", ours: []string{"--new-connections"}, wrk: []string{"-H", "Connection: close"}},
		{name: "24 kB, TLS", url: s.secure + "/24k", h2load: []string{"--h1"}},
		{name: "600 B, TLS, HTTP/2 × 10", url: s.secure + "/600", ours: []string{"--http2", "--streams", "10"}, h2load: []string{"-m", "10"}, two: true},
	} {
		ours := append([]string{self, "client", "http", c.url, "--connections", n, "--duration", asSeconds(b.seconds)}, c.ours...)
		add(c.name, "linerate", readLinerate, ours...)
		if !c.two {
			add(c.name, "wrk", readWrk, append([]string{"wrk", "--latency", "-t", "1", "-c", n, "-d", secs}, append(c.wrk, c.url)...)...)
		}
		if c.h2load != nil {
			add(c.name, "h2load", readH2load, append([]string{"h2load", "-c", n, "-D", secs}, append(c.h2load, c.url)...)...)
		}
	}
	return rivals, nil
}

// askOnce runs a client, in a process of its own, whose CPU time is its own.
func askOnce(ctx context.Context, argv []string, read func([]byte) (httpRun, error)) (o measurement, err error) {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Env = append(os.Environ(), "LC_ALL=C")
	var out, talk bytes.Buffer
	c.Stdout, c.Stderr = &out, &talk
	err = startApart(c, false)
	if err == nil {
		err = c.Wait()
	}
	if err != nil {
		return o, fmt.Errorf("run %s: %w: %.300s", strings.Join(argv, " "), err, talk.Bytes())
	}
	run, err := read(out.Bytes())
	if err != nil {
		return o, err
	}
	if run.requests <= 0 || run.rate <= 0 {
		return o, fmt.Errorf("no request was answered: %.200q", out.Bytes())
	}
	return measurement{value: run.rate, cpu: cpuOf(c).Seconds() / run.requests, said: run.p50}, nil
}

func readLinerate(out []byte) (httpRun, error) {
	r, err := readAccount(out)
	if err != nil {
		return httpRun{}, err
	}
	if r.Latency == nil {
		return httpRun{}, errors.New("no request was answered")
	}
	return httpRun{r.RequestRate, float64(r.Latency.P50) / 1e9, float64(r.Requests)}, nil
}

var (
	wrkSays    = regexp.MustCompile(`(?s)50%\s+([\d.]+)(us|ms|s)\b.*?(\d+) requests in .*Requests/sec:\s+([\d.]+)`)
	h2loadSays = regexp.MustCompile(`(?s)finished in [^,]+, ([\d.]+) req/s.*?(\d+) succeeded, (\d+) failed`)
)

func readWrk(out []byte) (httpRun, error) {
	m := wrkSays.FindSubmatch(out)
	if m == nil {
		return httpRun{}, fmt.Errorf("wrk said %.300q", out)
	}
	unit := map[string]float64{"us": 1e-6, "ms": 1e-3, "s": 1}[string(m[2])]
	return httpRun{parsed(m[4]), parsed(m[1]) * unit, parsed(m[3])}, nil
}

func readH2load(out []byte) (httpRun, error) {
	m := h2loadSays.FindSubmatch(out)
	if m == nil || parsed(m[3]) > 0 {
		return httpRun{}, fmt.Errorf("h2load said %.300q", out)
	}
	return httpRun{rate: parsed(m[1]), requests: parsed(m[2])}, nil
}
