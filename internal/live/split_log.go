package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"linerate/internal/accesslog"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/sockops"
	"linerate/internal/study"
)

// requestLog joins the lines of a server's log with the connections that they came by, by the
// client's address and port.
type requestLog struct {
	tail tailing
	o    accesslog.Options
	// lines wait for the connection to end, rows for lines.
	lines           map[netip.AddrPort][]request
	rows            map[row]ended
	joined, without int
	read, named     int // lines that were read, and of them those that name a client's port
}

// request is a line of the log.
type request struct {
	at   time.Time // when it ended or began, in whole seconds
	took time.Duration
}

// row is where a connection is kept.
type row struct {
	window int
	arm    sockops.Arm
	at     int
}

// ended is a connection that is over.
type ended struct {
	client   netip.AddrPort
	from, to time.Time
}

const (
	// logLag is by how much the times of a log, which are whole seconds, and of connections differ.
	logLag = 2 * time.Second
	// unresolved stands for the time of a request that NGINX, which counts milliseconds, writes as 0.
	unresolved = 500 * time.Microsecond
	logSample  = 64 << 10
)

// errNoPeer is of a log that does not name its clients' ports.
func errNoPeer(path string) error {
	return hint.With(fmt.Errorf("the lines of %s do not name the client's port, so no connection is known by them", path),
		`in nginx: log_format peer '%s - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time'; access_log %s peer;`, accesslog.PeerFormat, path)
}

// newRequestLog looks whether a log has what is needed; a log without a line may get it. Lines
// count that are written from now on. A study that reads none has none.
func newRequestLog(ctx context.Context, conn host.Runner, path string) (*requestLog, error) {
	if path == "" {
		return nil, nil
	}
	l := &requestLog{tail: tailing{Runner: conn, path: path, inode: "0"}, lines: map[netip.AddrPort][]request{}, rows: map[row]ended{}}
	l.o.Each = l.line
	last, err := lastIn(path)
	if err == nil && len(last) > 0 {
		if _, ok := accesslog.Peer(last); !ok {
			return nil, errNoPeer(path)
		}
		_, _, err = accesslog.Detect(last)
	}
	if err == nil {
		_, err = l.tail.read(ctx)
	}
	return l, err
}

// lastIn is a log's last whole line.
func lastIn(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the server's log: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, hint.With(fmt.Errorf("%s is no file that can be read", path), "name the log as log:PATH"))
	}
	size := min(info.Size(), logSample)
	buf := make([]byte, size)
	if _, err := f.ReadAt(buf, info.Size()-size); err != nil {
		return nil, fmt.Errorf("read the server's log: %w", err)
	}
	whole := buf[:bytes.LastIndexByte(buf, '\n')+1]
	return whole[bytes.LastIndexByte(bytes.TrimRight(whole, "\n"), '\n')+1:], nil
}

func (l *requestLog) line(line []byte, took time.Duration, unix int64) {
	l.read++
	if client, ok := accesslog.Peer(line); ok {
		l.named++
		l.lines[client] = append(l.lines[client], request{time.Unix(unix, 0), took})
	}
}

// await keeps a connection until the log is read.
func (l *requestLog) await(r row, c sockops.Closed) {
	l.rows[r] = ended{c.Remote, c.Ended.Add(-c.Duration - logLag), c.Ended.Add(logLag)}
}

// join reads what the log has now, and gives the connections of a window the mean time of
// their requests. What a connection that ends later may ask for is kept for some windows.
func (l *requestLog) join(ctx context.Context, window int, length time.Duration, seen *[3]study.Connections) error {
	lines, err := l.tail.read(ctx)
	if err != nil {
		return err
	}
	if len(lines) > 0 {
		if _, _, err := accesslog.Read(ctx, []string{"-"}, bytes.NewReader(lines), &l.o); err != nil {
			return fmt.Errorf("%s: %w", l.tail.path, err)
		}
	}
	if window == 0 && l.read > 0 && l.named == 0 {
		return errNoPeer(l.tail.path)
	}
	oldest := time.Now().Add(-3*length - logLag)
	for r, c := range l.rows {
		if r.window != window {
			if c.from.Before(oldest) {
				oldest = c.from
			}
			continue
		}
		delete(l.rows, r)
		if mean := l.meanOf(c); mean > 0 {
			l.joined++
			seen[r.arm].Request[r.at] = round4(mean.Seconds())
		} else {
			l.without++
		}
	}
	l.forget(oldest)
	return nil
}

// meanOf is the mean time of a connection's requests, 0 of none.
func (l *requestLog) meanOf(c ended) time.Duration {
	var sum, n time.Duration
	for _, r := range l.lines[c.client] {
		if !r.at.Before(c.from) && !r.at.After(c.to) {
			sum, n = sum+max(r.took, unresolved), n+1
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// forget drops lines of connections that ended before a time.
func (l *requestLog) forget(before time.Time) {
	for client, all := range l.lines {
		if last := all[len(all)-1]; last.at.Before(before) {
			delete(l.lines, client)
		}
	}
}
