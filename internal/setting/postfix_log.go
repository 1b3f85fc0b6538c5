package setting

import (
	"bufio"
	"io"
	"regexp"
)

// MailLog is what Postfix's log says became of the mail.
type MailLog struct {
	Taken     uint64 // by smtpd
	Delivered uint64
	Deferred  uint64 // times that a delivery was put off
	Bounced   uint64
}

var (
	logLine   = regexp.MustCompile(`postfix/[a-z-]+\[\d+\]: [0-9A-Za-z]+: to=<[^>]*>,.* status=([a-z]+)`)
	logClient = regexp.MustCompile(`postfix/smtpd\[\d+\]: [0-9A-Za-z]+: client=`)
)

// maxLine bounds a line of the log; longer ones are skipped.
const maxLine = 64 << 10

// ReadMailLog reads a log; what is no line of a message is skipped.
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
