package smtpload

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"linerate/internal/load/client"
	"linerate/internal/load/request"
)

// idleFor is how long a session must be idle to be checked before reuse.
const idleFor = 200 * time.Millisecond

// session sends one message after another.
type session struct {
	r    *source
	i    int
	tell client.Events
	conn *client.Conn // nil if there is none
	in   *bufio.Reader
	sent int // messages in this session
	n    int // messages in all sessions
	last time.Time
	buf  []byte
}

// Do sends a message of one of the sizes. A status of 400 or more is a
// refusal by the server, temporary (4xx) or permanent (5xx).
func (s *session) Do(target int, deadline time.Time) client.Answer {
	a := client.Answer{}
	err := s.ready(deadline)
	if err == nil {
		_ = s.conn.SetDeadline(deadline) // a closed connection causes an error in the next step
		err = s.message(target, &a)
	}
	s.last = time.Now()
	var refused *refusal
	var failed *client.Failure
	switch {
	case err == nil:
		a.Kind = request.OK
		if s.sent++; s.r.PerSession > 0 && s.sent >= s.r.PerSession {
			s.quit()
		}
	case errors.As(err, &refused):
		a.Kind, a.Code, a.Detail = request.Status, refused.code, refused.Error()
		if s.conn != nil { // ending the session cancels an unfinished message
			s.quit()
		}
	case errors.As(err, &failed):
		a.Kind, a.Detail = failed.Kind(), failed.Error()
		s.drop()
	}
	return a
}

// ready ensures that there is a session.
func (s *session) ready(deadline time.Time) error {
	if s.conn != nil && time.Since(s.last) > idleFor && s.conn.Dead() {
		s.drop()
		s.tell.Reopened()
	}
	if s.conn != nil {
		return nil
	}
	begin := time.Now()
	ctx, cancel := s.r.d.Within(deadline)
	defer cancel()
	conn, err := s.r.d.TCP(ctx)
	if err != nil {
		return &client.Failure{At: client.Dialling, Err: err}
	}
	s.conn, s.sent = conn, 0
	s.in.Reset(conn)
	_ = conn.SetDeadline(deadline)
	if _, err := s.reply(220); err != nil {
		return err
	}
	if err := s.command(250, "EHLO linerate.invalid"); err != nil {
		return err
	}
	s.tell.Connected(time.Since(begin))
	return nil
}

// message delivers one message to the server.
func (s *session) message(target int, a *client.Answer) (err error) {
	to := strings.Replace(s.r.To, "%d", strconv.Itoa(s.r.account()), 1)
	if err = s.command(250, "MAIL FROM:<"+s.r.From+">"); err != nil {
		return err
	}
	if err = s.command(250, "RCPT TO:<"+to+">"); err != nil {
		return err
	}
	if err = s.command(354, "DATA"); err != nil {
		return err
	}
	s.n++
	s.compose(to, target)
	if err = s.write(s.buf); err != nil {
		return err
	}
	a.Code, err = s.reply(250)
	a.Body = int64(len(s.buf) - len(endOfData))
	return err
}

const endOfData = ".\r\n"

// compose writes a message of a size, including the header, into the buffer.
func (s *session) compose(to string, target int) {
	s.buf = fmt.Appendf(s.buf[:0], "From: <%s>\r\nTo: <%s>\r\nSubject: linerate %d\r\nDate: %s\r\nMessage-ID: <%d.%d.%d@linerate.invalid>\r\n\r\n",
		s.r.From, to, s.n, time.Now().UTC().Format("Mon, 02 Jan 2006 15:04:05 -0700"), s.r.Seed, s.i, s.n)
	text := s.r.bodies[target]
	if from := min(len(s.buf), len(text)); from > 0 {
		text = text[from-from%(lineLength+2):] // at the start of a line
	}
	s.buf = append(append(s.buf, text...), endOfData...)
}

// command sends a line and expects a reply code.
func (s *session) command(want int, line string) error {
	s.buf = append(append(s.buf[:0], line...), '\r', '\n')
	err := s.write(s.buf)
	if err == nil {
		_, err = s.reply(want)
	}
	return err
}

func (s *session) write(b []byte) error {
	if _, err := s.conn.Write(b); err != nil {
		return &client.Failure{At: client.Waiting, Err: err}
	}
	return nil
}

// maxReply bounds the number of lines in a reply.
const maxReply = 64

// refusal is a reply with a code of 400 or more.
type refusal struct {
	code int
	text string
}

func (r *refusal) Error() string { return r.text }

// reply reads a reply, which may have several lines.
func (s *session) reply(want int) (int, error) {
	for range maxReply {
		line, err := s.in.ReadSlice('\n')
		if err != nil {
			return 0, &client.Failure{At: client.Waiting, Err: err}
		}
		code, more, ok := parseReply(line)
		switch {
		case !ok:
			return 0, malformed("%.80q is not an SMTP reply", line)
		case more:
			continue
		case code >= 400:
			return code, &refusal{code, strings.TrimSpace(string(line))}
		case code != want:
			return code, malformed("the server said %.80q where %d was due", line, want)
		}
		return code, nil
	}
	return 0, malformed("a reply of more than %d lines", maxReply)
}

func malformed(format string, args ...any) error {
	return &client.Failure{At: client.Waiting, Err: fmt.Errorf(format, args...)}
}

// parseReply parses "250 text" or, if more lines follow, "250-text".
func parseReply(line []byte) (code int, more, ok bool) {
	if len(line) < 4 || line[0] < '2' || line[0] > '5' {
		return 0, false, false
	}
	for _, c := range line[:3] {
		if c < '0' || c > '9' {
			return 0, false, false
		}
		code = 10*code + int(c-'0')
	}
	switch line[3] {
	case '-':
		return code, true, true
	case ' ', '\r', '\n':
		return code, false, true
	}
	return 0, false, false
}

// takingLeave is how long a server may take to answer QUIT.
const takingLeave = time.Second

// quit ends the session with QUIT, outside the measured time.
func (s *session) quit() {
	conn := s.conn
	s.conn = nil
	s.r.leaving.Go(func() {
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(takingLeave))
		if _, err := conn.Write([]byte("QUIT\r\n")); err == nil {
			_, _ = conn.Read(make([]byte, 512)) // its content does not matter
		}
	})
}

func (s *session) drop() {
	if s.conn != nil {
		_ = s.conn.Close() // there is nothing left to send
		s.conn = nil
	}
}

func (s *session) Close() {
	if s.conn != nil {
		s.quit()
	}
}
