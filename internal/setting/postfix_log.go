package setting

import (
	"bufio"
	"io"
	"regexp"
)

// MailLog is the outcome of the mail according to Postfix's log.
type MailLog struct {
	Taken     uint64 // accepted by smtpd
	Delivered uint64
	Deferred  uint64 // deferred delivery attempts
	Bounced   uint64
}

var (
	logLine   = regexp.MustCompile(`postfix/[a-z-]+\[\d+\]: [0-9A-Za-z]+: to=<[^>]*>,.* status=([a-z]+)`)
	logClient = regexp.MustCompile(`postfix/smtpd\[\d+\]: [0-9A-Za-z]+: client=`)
)

// maxLine is the maximum length of a log line; longer ones are skipped.
const maxLine = 64 << 10

// ReadMailLog reads a log; it skips lines that are not about a message.
func ReadMailLog(r io.Reader) (MailLog, error) {
	var l MailLog
	in := bufio.NewReaderSize(r, maxLine)
	cut := false // the rest of a long line follows
	for {
		line, more, err := in.ReadLine()
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return l, err
		}
		if !more && !cut {
			l.add(line)
		}
		cut = more
	}
}

func (l *MailLog) add(line []byte) {
	if logClient.Match(line) {
		l.Taken++
		return
	}
	m := logLine.FindSubmatch(line)
	if m == nil {
		return
	}
	switch string(m[1]) {
	case "sent":
		l.Delivered++
	case "deferred":
		l.Deferred++
	case "bounced":
		l.Bounced++
	}
}
