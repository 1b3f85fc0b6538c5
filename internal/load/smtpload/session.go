package smtpload

import (
	"errors"
	"fmt"
	"net/textproto"
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
	text *textproto.Conn
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
	var said *textproto.Error
	switch {
	case err == nil:
		a.Kind = request.OK
		if s.sent++; s.r.PerSession > 0 && s.sent >= s.r.PerSession {
			s.quit()
		}
	case errors.As(err, &said) && said.Code >= 400:
		a.Kind, a.Code, a.Detail = request.Status, said.Code, said.Error()
		s.Close() // ending the session cancels an unfinished message
	default:
		failed := &client.Failure{At: client.Waiting, Err: err}
		if s.conn == nil {
			failed.At = client.Dialling
		}
		a.Kind, a.Detail = failed.Kind(), err.Error()
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
		return err
	}
	s.conn, s.text, s.sent = conn, textproto.NewConn(conn), 0
	_ = conn.SetDeadline(deadline)
	if _, _, err := s.text.ReadResponse(220); err != nil {
		return err
	}
	if err := s.command(250, "EHLO linerate.invalid"); err != nil {
		return err
	}
	s.tell.Connected(time.Since(begin))
	return nil
}

// message delivers one message to the server.
func (s *session) message(target int, a *client.Answer) error {
	to := strings.Replace(s.r.To, "%d", strconv.Itoa(s.r.account()), 1)
	err := s.command(250, "MAIL FROM:<"+s.r.From+">")
	if err == nil {
		err = s.command(250, "RCPT TO:<"+to+">")
	}
	if err == nil {
		err = s.command(354, "DATA")
	}
	if err != nil {
		return err
	}
	s.n++
	s.compose(to, target)
	if _, err := s.conn.Write(s.buf); err != nil {
		return err
	}
	a.Code, _, err = s.text.ReadResponse(250)
	a.Body = int64(len(s.buf) - len(endOfData))
	return err
}

// command sends a line and expects a reply code.
func (s *session) command(want int, line string) error {
	err := s.text.PrintfLine("%s", line)
	if err == nil {
		_, _, err = s.text.ReadResponse(want)
	}
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
