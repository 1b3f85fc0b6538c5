package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"linerate/internal/hint"
	"linerate/internal/show"
	"linerate/internal/stats"
	"linerate/internal/study"
)

// watched describes a user-defined metric, whose direction of improvement the user
// must state.
func (o *Options) watched(how string) (study.Watched, error) {
	w := study.Watched{How: how, Metric: study.WatchedLower}
	switch o.Better {
	case stats.HigherIsBetter:
		w.Metric = study.WatchedHigher
	case stats.Undirected:
		return w, hint.With(hint.Usagef("it is not known whether a higher value is better"), "say it: %s", hint.Option("better", "lower"))
	}
	return w, nil
}

// command runs a local program that prints one number, repeatedly. If it prints more,
// pattern finds the number: its first group, or else the whole match.
type command struct {
	background
	path    string
	pattern *regexp.Regexp
	env     []string // in addition to this process's environment
}

// Once returns a function that reads a user-defined metric, command:PATH or prometheus:URL#QUERY,
// each time it is called; env is added to the program's environment.
func Once(metric string, env []string) (func(context.Context) (float64, error), error) {
	word, rest, _ := strings.Cut(metric, ":")
	if word != "command" && word != "prometheus" {
		return nil, hint.Unknown("metric", word, []string{"command", "prometheus", "node"})
	}
	_, s, err := sources[word](&Options{Better: stats.LowerIsBetter}, rest)
	switch s := s.(type) {
	case *command:
		s.env = env
		return s.run, err
	case *prometheus:
		return s.ask, err
	}
	return nil, err
}

// commandPatience bounds the time of one run of a command, and of one probe.
const commandPatience = 10 * time.Second

// commandPause is the least pause between two runs of a command, since it may run on the host under study.
const commandPause = 50 * time.Millisecond

// leftOver is how long processes that a command left behind may keep its output open.
const leftOver = time.Second

func fromCommand(o *Options, rest string) (study.Watched, Source, error) {
	rest, pattern, given := strings.Cut(rest, "#")
	path, err := exec.LookPath(rest)
	if err != nil {
		return study.Watched{}, nil, hint.With(err, "the program is run on this machine, without arguments, and prints one number")
	}
	if path, err = filepath.Abs(path); err != nil {
		return study.Watched{}, nil, err
	}
	w, err := o.watched("what " + path + " prints")
	c := &command{path: path}
	c.once, c.pause = c.run, commandPause
	if given && err == nil {
		if c.pattern, err = regexp.Compile(pattern); err != nil {
			err = hint.With(hint.Usage(err), "such as command:PATH#'load: ([0-9.]+)'")
		}
		w.How += ", where it matches " + pattern
	}
	return w, c, err
}

// number returns what the program printed, or the pattern's match in it.
func (c *command) number(out []byte) string {
	if c.pattern != nil {
		m := c.pattern.FindSubmatch(out)
		if m == nil {
			return ""
		}
		out = m[min(1, len(m)-1)]
	}
	return strings.TrimSpace(string(out))
}

func (c *command) run(ctx context.Context) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, commandPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.path)
	cmd.WaitDelay, cmd.Env = leftOver, append(os.Environ(), c.env...)
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrWaitDelay) { // the command itself succeeded
		err = nil
	}
	var failed *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return 0, hint.With(fmt.Errorf("%s had not ended after %s", c.path, commandPatience), "it is run again and again: it must be quick")
	case errors.As(err, &failed) && len(failed.Stderr) > 0:
		return 0, fmt.Errorf("run %s: %w: %s", c.path, err, show.Clean(strings.TrimSpace(string(failed.Stderr))))
	case err != nil:
		return 0, fmt.Errorf("run %s: %w", c.path, err)
	}
	v, ok := reading(c.number(out))
	if !ok {
		return 0, hint.With(fmt.Errorf("%s printed %.40q", c.path, strings.TrimSpace(string(out))), "it must print one number, not below 0, and nothing else, or a pattern must find it: command:PATH#'load: ([0-9.]+)'")
	}
	return v, nil
}

// background measures repeatedly during the study, from the first tick on.
type background struct {
	once  func(context.Context) (float64, error)
	every time.Duration // interval between due times; 0: use pause
	pause time.Duration // after each measurement, if every is 0; at least as long as the measurement took

	start  sync.Once
	stop   context.CancelFunc
	done   chan struct{}
	lock   sync.Mutex
	tick   readings
	all    readings
	failed error
	// For the current tick, the number of failures; share is the share of failures in the last tick.
	failures float64
	share    float64
	// since is when the running measurement was due, longest the longest duration of any.
	since   time.Time
	longest float64
	afresh  bool // a window began
}

func (b *background) try(ctx context.Context) error {
	_, err := b.once(ctx)
	return err
}

func (b *background) Tick(ctx context.Context, _ Sample) (float64, error) {
	b.start.Do(func() {
		work, stop := context.WithCancel(context.WithoutCancel(ctx))
		b.stop, b.done = stop, make(chan struct{})
		go b.loop(work)
	})
	b.lock.Lock()
	defer b.lock.Unlock()
	v, err := b.tick.Value(), b.failed
	b.share = ratio(b.failures, b.failures+b.tick.n)
	if b.every > 0 && b.tick.n == 0 && !b.since.IsZero() {
		// A measurement still running may already be later than all before it.
		if late := float64(time.Since(b.since)); late > b.longest {
			v = late
		}
	}
	b.tick, b.failed, b.failures = readings{}, nil, 0
	return v, err
}

func (b *background) failing() float64 {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.share
}

func (b *background) loop(ctx context.Context) {
	defer close(b.done)
	due := time.Now()
	for ctx.Err() == nil {
		late := 0.0
		due = b.began(due)
		if b.every > 0 { // an open loop: waiting for an answer does not delay the next
			late = float64(time.Since(due))
		}
		begin := time.Now()
		v, err := b.once(ctx)
		v += late
		if ctx.Err() != nil {
			return
		}
		b.took(v, err)
		pause := max(b.pause, time.Since(begin))
		if due = due.Add(b.every); b.every > 0 {
			pause = time.Until(due)
		}
		if err != nil {
			pause = max(pause, 100*time.Millisecond) // a program that cannot be run must not be retried in a busy loop
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// began returns when the measurement that begins now was due. Lateness from before the
// window, or from this machine's sleep, does not count.
func (b *background) began(due time.Time) time.Time {
	b.lock.Lock()
	defer b.lock.Unlock()
	if now := time.Now(); b.afresh && now.After(due) || now.Sub(due) > commandPatience {
		due = now
	}
	b.afresh, b.since = false, due
	return due
}

func (b *background) took(v float64, err error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.since = time.Time{}
	if err != nil {
		b.failed = err
		b.failures++
		return
	}
	b.longest = max(b.longest, v)
	b.tick.add(v)
	b.all.add(v)
}

func (b *background) Begin() {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.all, b.afresh = readings{}, true
}

func (b *background) Value() float64 {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.all.Value()
}

func (b *background) Traffic() float64 { return 0 }

func (b *background) Close() error {
	if b.stop != nil {
		b.stop()
		<-b.done
	}
	return nil
}

// prometheus repeats an instant query in the background, so that a server that hangs does
// not delay looks at the host.
type prometheus struct {
	background
	query *url.URL
}

// queryPause is the pause between two queries.
const queryPause = 200 * time.Millisecond

func fromPrometheus(o *Options, rest string) (study.Watched, Source, error) {
	server, query, ok := strings.Cut(rest, "#")
	u, err := webURL(server)
	if err != nil || !ok || query == "" {
		return study.Watched{}, nil, errors.Join(err, hint.With(hint.Usagef("no query"), "such as prometheus:http://mon1:9090#node_load1"))
	}
	u = u.JoinPath("api/v1/query")
	u.RawQuery = url.Values{"query": {query}}.Encode()
	w, err := o.watched("the query " + query + " of " + server)
	p := &prometheus{query: u}
	p.once, p.pause = p.ask, queryPause
	return w, p, err
}

// mostAnswer bounds the length of a server's answer.
const mostAnswer = 1 << 20

func (p *prometheus) ask(ctx context.Context) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, commandPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.query.String(), nil)
	if err != nil {
		return 0, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	v, err := scalarOf(io.LimitReader(res.Body, mostAnswer))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", p.query.Host, err)
	}
	return v, nil
}

// scalarOf parses the single number in an answer of Prometheus' HTTP API, v1.
func scalarOf(r io.Reader) (float64, error) {
	var answer struct {
		Status, Error string
		Data          struct {
			ResultType string
			Result     json.RawMessage
		}
	}
	if err := json.NewDecoder(r).Decode(&answer); err != nil {
		return 0, fmt.Errorf("the answer is not a Prometheus document: %w", err)
	}
	if answer.Status != "success" {
		return 0, fmt.Errorf("the query failed: %s", answer.Error)
	}
	var point [2]any
	switch answer.Data.ResultType {
	case "scalar":
		if err := json.Unmarshal(answer.Data.Result, &point); err != nil {
			return 0, err
		}
	default:
		var series []struct{ Value [2]any }
		if err := json.Unmarshal(answer.Data.Result, &series); err != nil || len(series) != 1 {
			return 0, hint.With(fmt.Errorf("the query gives %d series", len(series)), "make it give one: sum(…)")
		}
		point = series[0].Value
	}
	text, _ := point[1].(string)
	v, ok := reading(text)
	if !ok {
		return 0, hint.With(fmt.Errorf("the query gives %.40q", text), "make it give a number that is not below 0")
	}
	return v, nil
}

// reading parses a number that somebody else measured. Negative numbers are invalid:
// guardrails compare ratios, and would see no harm in −60 dBm that become −120.
func reading(text string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && v >= 0 && !math.IsInf(v, 0)
}

// probeEvery is the interval of probes of the host; their time runs from when
// they were due.
const probeEvery = 200 * time.Millisecond

func fromProbe(_ *Options, rest string) (study.Watched, Source, error) {
	w := study.Watched{Metric: study.ProbeLatency, How: fmt.Sprintf("%s from here, %d times a second, from when it was due", rest, time.Second/probeEvery)}
	b := &background{every: probeEvery}
	if address, ok := strings.CutPrefix(rest, "tcp://"); ok {
		if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
			return w, nil, hint.With(hint.Usagef("%q is not HOST:PORT", address), "such as probe:tcp://www1:443")
		}
		b.once = func(ctx context.Context) (float64, error) { return connectTime(ctx, address) }
		return w, b, nil
	}
	if address, ok := strings.CutPrefix(rest, "icmp://"); ok {
		if address == "" || strings.ContainsAny(address, "/ ") || strings.HasPrefix(address, "-") {
			return w, nil, hint.With(hint.Usagef("%q is not an address", address), "such as probe:icmp://www1")
		}
		b.once = func(ctx context.Context) (float64, error) { return echoTime(ctx, address) }
		w.How += ", by ping(8)"
		return w, b, nil
	}
	u, err := webURL(rest)
	if err != nil {
		return w, nil, err
	}
	client := &http.Client{Timeout: commandPatience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	b.once = func(ctx context.Context) (float64, error) { return fetchTime(ctx, client, u.String()) }
	return w, b, nil
}

func connectTime(ctx context.Context, address string) (float64, error) {
	start := time.Now()
	d := net.Dialer{Timeout: commandPatience}
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return 0, err
	}
	took := time.Since(start)
	return float64(took), c.Close()
}

// echoed matches the round-trip time in the output of ping(8).
var echoed = regexp.MustCompile(`time[=<]([0-9.]+) ms`)

// echoTime returns the round-trip time of one ICMP echo, as reported by ping(8) of
// Linux, busybox or FreeBSD: starting the process takes longer than the echo.
func echoTime(ctx context.Context, address string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, commandPatience)
	defer cancel()
	wait := "-w"
	if runtime.GOOS == "freebsd" {
		wait = "-t"
	}
	cmd := exec.CommandContext(ctx, "ping", "-n", "-c", "1", wait, strconv.Itoa(int(commandPatience/time.Second)), address)
	cmd.Env = append(os.Environ(), "LC_ALL=C") // iputils uses the user's language
	out, err := cmd.CombinedOutput()
	m := echoed.FindSubmatch(out)
	if err != nil || m == nil {
		return 0, fmt.Errorf("ping %s: no answer (%w): %s", address, cmp.Or(err, errors.New("no time")), show.Clean(lastLine(out)))
	}
	ms, err := strconv.ParseFloat(string(m[1]), 64)
	return 1e6 * ms, err
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

// ownAgent is the user agent of probes, by which a log's reader excludes them.
const ownAgent = "linerate-probe"

func fetchTime(ctx context.Context, client *http.Client, address string) (float64, error) {
	start := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("User-Agent", ownAgent)
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return 0, err
	}
	if res.StatusCode >= 500 {
		return 0, fmt.Errorf("%s answers %s", address, res.Status)
	}
	return float64(time.Since(start)), nil
}
