package live

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"linerate/internal/accesslog"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/study"
)

// pieceSize is the most that one read of a log returns, and mostPieces the most reads per
// look. The rest is skipped: reading a log late would count the control's requests in the
// windows of a treatment.
const (
	pieceSize  = 8 << 20
	mostPieces = 8
)

// tailing reads a log on the host, starting at its present end.
type tailing struct {
	host.Runner
	path  string
	inode string // "0": not opened yet
	at    int64
	rest  []byte // of an incomplete last line
}

// read returns the complete lines added since the last look. It skips what exceeds the
// limit of a look, and returns an error that says so.
func (l *tailing) read(ctx context.Context) (lines []byte, err error) {
	for range mostPieces {
		more, whole, err := l.piece(ctx)
		if lines = append(lines, more...); err != nil || whole {
			return lines, err
		}
	}
	if _, _, err := l.skip(ctx); err != nil {
		return lines, err
	}
	return lines, hint.With(fmt.Errorf("%s of %s grows faster than it can be read: a part of it was left out", l.path, l.Where()), "watch a log of fewer requests")
}

// skip moves to the end of the log.
func (l *tailing) skip(ctx context.Context) ([]byte, bool, error) {
	l.inode, l.at, l.rest = "0", 0, nil
	return l.piece(ctx)
}

// piece reads the next lines; whole reports whether it reached the end.
func (l *tailing) piece(ctx context.Context) (lines []byte, whole bool, err error) {
	out, err := l.Run(ctx, sampleScript, []string{"piece", l.path, l.inode, strconv.FormatInt(l.at, 10), strconv.Itoa(pieceSize)}, nil)
	if err != nil {
		return nil, false, fmt.Errorf("read %s of %s: %w", l.path, l.Where(), err)
	}
	head, text, _ := bytes.Cut(out, []byte{'\n'})
	f := strings.Fields(string(head))
	if len(f) != 4 || f[0] != "piece" {
		return nil, false, hint.With(fmt.Errorf("%s of %s is not a readable file", l.path, l.Where()), "name the log as log:PATH; reading it may need root (become: sudo)")
	}
	at, err1 := strconv.ParseInt(f[2], 10, 64)
	n, err2 := strconv.Atoi(f[3])
	if err1 != nil || err2 != nil || at < 0 || n < 0 || n > len(text)+1 {
		return nil, false, fmt.Errorf("%s of %s: the answer is cut off", l.path, l.Where())
	}
	l.inode, l.at = f[1], at
	text = append(l.rest, text[:min(n, len(text))]...)
	end := bytes.LastIndexByte(text, '\n') + 1
	l.rest = bytes.Clone(text[end:])
	if len(l.rest) > accesslog.MaxLine {
		l.rest = nil
	}
	return text[:end], n < pieceSize, nil
}

// quantiles maps the quantiles that a log metric can be.
var quantiles = map[string]struct {
	metric string
	at     float64
}{"p50": {study.LogP50, 0.5}, "p95": {study.LogP95, 0.95}, "p99": {study.LogP99, 0.99}}

// logged is a metric of the requests in a server's access logs.
type logged struct {
	logs  []*tailing
	o     accesslog.Options
	tally *accesslog.Tally
	value func(*accesslog.Tally) float64
	extra func(Sample) // receives other counters at the same time as the requests
	// For the last tick: the share of requests that failed on the server, and their
	// number; NaN if unknown.
	failed, came float64
	own, others  float64 // lines of the study's probes, and all others
}

// withoutOwn removes the lines of the study's own probes.
func (l *logged) withoutOwn(lines []byte) (out []byte) {
	for line := range bytes.Lines(lines) {
		if bytes.Contains(line, []byte(ownAgent)) {
			l.own++
			continue
		}
		l.others++
		out = append(out, line...)
	}
	return out
}

func (l *logged) ownLines() (own, others float64) { return l.own, l.others }

// read returns the complete lines added to the logs. On an error it returns the lines of
// the other logs. first reports whether this was the first look, which only finds the ends.
func (l *logged) read(ctx context.Context) (lines []byte, first bool, err error) {
	for _, log := range l.logs {
		first = first || log.inode == "0"
		more, failed := log.read(ctx)
		lines, err = append(lines, more...), cmp.Or(err, failed)
	}
	return lines, first, err
}

// fromLog parses PATH, PATH,PATH2, PATH#p99, PATH#errors, PATH#rate, PATH?path=/api/*#p95.
func fromLog(o *Options, rest string) (study.Watched, Source, error) {
	path, what, said := strings.Cut(rest, "#")
	if !said {
		what = "p95"
	}
	path, filter, _ := strings.Cut(path, "?")
	l := &logged{o: accesslog.Options{Failed: true}, failed: math.NaN(), came: math.NaN()}
	for one := range strings.SplitSeq(path, ",") {
		if !strings.HasPrefix(one, "/") {
			return study.Watched{}, nil, hint.With(hint.Usagef("%q does not begin with /", one), "give the whole path, such as log:/var/log/nginx/access.log, or several, with commas between")
		}
		l.logs = append(l.logs, &tailing{Runner: o.Conn, path: one, inode: "0"})
	}
	if filter != "" {
		class, ok := strings.CutPrefix(filter, "path=")
		if !ok {
			return study.Watched{}, nil, hint.With(hint.Usagef("no request matches %q", filter), "such as ?path=/api/*")
		}
		l.o.Filter.Path = class
	}
	w := study.Watched{How: "requests in " + path + ", as exact as the server writes their times"}
	if q, ok := quantiles[what]; ok {
		w.Metric = q.metric
		l.value = func(t *accesslog.Tally) float64 { return 1000 * float64(t.Quantile(q.at)) }
		return w, l, nil
	}
	switch what {
	case "errors":
		w.Metric, w.How = study.LogErrors, "statuses of 5xx of all requests in "+path
		l.value = errorShare
	case "rate":
		w.Metric, w.How = study.LogRate, "lines of "+path+" by the time that passed on the host"
		return w, l.beside(func(s Sample) float64 { return s.Passed / float64(max(1, s.CPUs)) }, func(time, requests float64) float64 { return ratio(requests, time) }), nil
	default:
		return w, nil, hint.Unknown("part of a log", what, []string{"p50", "p95", "p99", "errors", "rate"})
	}
	return w, l, nil
}

// errorShare returns the share of requests that failed on the server (5xx).
func errorShare(t *accesslog.Tally) float64 {
	return ratio(float64(t.Failed), float64(t.Selected))
}

func (l *logged) try(ctx context.Context) error {
	_, _, err := l.read(ctx)
	return err
}

func (l *logged) Tick(ctx context.Context, now Sample) (float64, error) {
	l.failed, l.came = math.NaN(), math.NaN()
	lines, first, err := l.read(ctx)
	lines = l.withoutOwn(lines)
	if l.extra != nil {
		l.extra(now)
	}
	if first || len(lines) == 0 {
		if !first && err == nil {
			l.came = 0
		}
		return math.NaN(), err
	}
	t, _, unread := accesslog.Read(ctx, []string{"-"}, bytes.NewReader(lines), &l.o)
	if unread != nil {
		return math.NaN(), fmt.Errorf("%s of %s: %w", l.logs[0].path, l.logs[0].Where(), unread)
	}
	if l.tally == nil {
		l.tally = accesslog.NewTally(&l.o)
	}
	l.tally.Merge(t)
	l.came = float64(t.Selected)
	if err != nil || t.Selected == 0 {
		return math.NaN(), err
	}
	l.failed = errorShare(t)
	return l.value(t), nil
}

func (l *logged) failing() float64  { return l.failed }
func (l *logged) requests() float64 { return l.came }

func (l *logged) Begin() { l.tally = nil }

func (l *logged) Value() float64 {
	if l.tally == nil || l.tally.Selected == 0 {
		return math.NaN()
	}
	return l.value(l.tally)
}

func (l *logged) Traffic() float64 {
	if l.tally == nil {
		return 0
	}
	return float64(l.tally.Selected)
}

func (l *logged) Close() error { return nil }

// perRequest is the kernel's CPU time per request in a log.
func perRequest(o *Options, rest string) (study.Watched, Source, error) {
	if _, part, said := strings.Cut(rest, "#"); said {
		return study.Watched{}, nil, hint.Usagef("#%s selects one of a log's own metrics; cpu-per-request takes the log without it", part)
	}
	w, s, err := fromLog(o, rest)
	if err != nil {
		return w, nil, hint.With(err, "requests are counted in the server's access log: cpu-per-request:/var/log/nginx/access.log")
	}
	return study.Watched{Metric: study.CPUPerRequest, How: o.howKernel(study.CPUPerRequest) + "; over the lines of the log"}, s.(*logged).beside(nanoseconds(study.CPUPerRequest), ratio), nil
}

// besideLog is a metric of a host counter per request in its log.
type besideLog struct {
	*logged
	counter    func(Sample) float64
	of         func(counted, requests float64) float64
	last       Sample
	tick, used float64 // increase since the last tick, and since Begin
}

func (l *logged) beside(counter func(Sample) float64, of func(counted, requests float64) float64) Source {
	b := &besideLog{logged: l, counter: counter, of: of}
	l.extra = b.count
	l.value = func(t *accesslog.Tally) float64 { return of(b.tick, float64(t.Selected)) }
	return b
}

// Tick also returns a value if there were no requests, where the metric has one.
func (b *besideLog) Tick(ctx context.Context, now Sample) (float64, error) {
	v, err := b.logged.Tick(ctx, now)
	if b.came == 0 {
		return b.of(b.tick, 0), err
	}
	return v, err
}

func (b *besideLog) count(now Sample) {
	b.tick = 0
	// A value that cannot be read is NaN, and so is everything derived from it.
	if tick := b.counter(now) - b.counter(b.last); b.last.Boot == now.Boot && !(tick < 0) {
		b.tick = tick
	}
	b.last = now
	b.used += b.tick
}

func (b *besideLog) Begin()         { b.logged.Begin(); b.used = 0 }
func (b *besideLog) Value() float64 { return b.of(b.used, b.Traffic()) }
