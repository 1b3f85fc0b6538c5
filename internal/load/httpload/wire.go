package httpload

import (
	"net"
	"time"

	"linerate/internal/load/client"
)

// idleFor is how long a connection is idle before it is looked at again: a
// server that closes idle connections does so after seconds.
const idleFor = 200 * time.Millisecond

// wire is a lane's connection, TCP or TLS, made anew when it has ended.
type wire struct {
	d       *dialer
	on      client.Events
	newEach bool
	conn    net.Conn // nil: none
	raw     *client.Conn
	last    time.Time // the deadline of the last request
	retired bool      // the server takes no more requests on it
}

func (r *source) wire(on client.Events) wire {
	return wire{d: r.d, on: on, newEach: r.NewEach}
}

// ready sees to a connection; fresh: it was made just now. The deadlines tell how
// long one was idle, for to ask the clock is dear on some machines.
func (l *wire) ready(deadline time.Time) (fresh bool, f *client.Failure) {
	if l.conn != nil && (l.retired || deadline.Sub(l.last) > idleFor && l.raw.Dead()) {
		l.Close()
		l.on.Reopened()
	}
	if l.conn != nil {
		return false, nil
	}
	begin := time.Now()
	ctx, cancel := l.d.Within(deadline)
	defer cancel()
	raw, err := l.d.TCP(ctx)
	if err != nil {
		return false, &client.Failure{At: client.Dialling, Err: err}
	}
	l.raw, l.conn, l.retired = raw, raw, false
	if l.d.tls != nil {
		if l.conn, f = l.d.secure(ctx, raw); f != nil {
			l.conn = nil
			return false, f
		}
	}
	l.on.Connected(time.Since(begin))
	return true, nil
}

// Close ends the connection.
func (l *wire) Close() {
	if l.conn != nil {
		_ = l.conn.Close() // nothing is left to send
		l.conn = nil
	}
}
