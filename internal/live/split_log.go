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

// requestLog matches the lines of a server's log with the connections that carried the
// requests, by the client's address and port.
type requestLog struct {
	tail tailing
	o    accesslog.Options
	// lines wait for their connection to end, rows for their lines.
	lines           map[netip.AddrPort][]request
	rows            map[row]ended
	joined, without int
	read, named     int // lines read, and those of them that contain a client's port
}

// request is a line in the log.
type request struct {
	at   time.Time // end or start, in whole seconds
	took time.Duration
}

// row locates a stored connection.
type row struct {
	window int
	arm    sockops.Arm
	at     int
}

// ended is a connection that has ended.
type ended struct {
	client   netip.AddrPort
	from, to time.Time
}

const (
	// logLag is the largest difference between times in a log, in whole seconds, and those of connections.
	logLag = 2 * time.Second
	// unresolved replaces the times that NGINX, which counts milliseconds, logs as 0.
	unresolved = 500 * time.Microsecond
	logSample  = 64 << 10
)

// errNoPeer is the error for a log that does not contain clients' ports.
func errNoPeer(path string) error {
	return hint.With(fmt.Errorf("the lines of %s do not have the client's port, so they cannot be matched with connections", path),
		`in nginx: log_format peer '%s - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_time'; access_log %s peer;`, accesslog.PeerFormat, path)
}

// newRequestLog checks that a log has the required format; an empty log passes. Only lines
// written from now on count. It returns nil for a study that reads no log.
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

// lastIn returns the last complete line of a log.
func lastIn(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the server's log: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, hint.With(fmt.Errorf("%s is not a readable file", path), "name the log as log:PATH"))
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

// await stores a connection until the log has been read.
func (l *requestLog) await(r row, c sockops.Closed) {
	l.rows[r] = ended{c.Remote, c.Ended.Add(-c.Duration - logLag), c.Ended.Add(logLag)}
}

// join reads new lines of the log and sets the mean request time of each connection in a
// window. It keeps lines for some windows, for connections that end later.
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

// meanOf returns the mean time of a connection's requests; 0 if there are none.
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

// forget drops the lines of clients whose last line is older than a time.
func (l *requestLog) forget(before time.Time) {
	for client, all := range l.lines {
		if last := all[len(all)-1]; last.at.Before(before) {
			delete(l.lines, client)
		}
	}
}
