package setting

import (
	"bufio"
	"io"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// MailLog is what Postfix's log says became of the mail.
type MailLog struct {
	Taken     uint64 // by smtpd
	Delivered uint64
	Deferred  uint64 // times that a delivery was put off
	Bounced   uint64
	// delays of what was delivered, from its arrival, in ms.
	delays []float64
}

var (
	logLine   = regexp.MustCompile(`postfix/[a-z-]+\[\d+\]: [0-9A-Za-z]+: to=<[^>]*>,.* delay=([0-9.]+),.* status=([a-z]+)`)
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
			slices.Sort(l.delays)
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
	switch string(m[2]) {
	case "sent":
		l.Delivered++
		if s, err := strconv.ParseFloat(string(m[1]), 64); err == nil {
			l.delays = append(l.delays, s)
		}
	case "deferred":
		l.Deferred++
	case "bounced":
		l.Bounced++
	}
}

// Delay is a quantile of the time from a message's arrival to its delivery, as
// Postfix rounds it; 0 of none.
func (l *MailLog) Delay(p float64) time.Duration {
	if len(l.delays) == 0 {
		return 0
	}
	i := min(int(p*float64(len(l.delays))), len(l.delays)-1)
	return time.Duration(l.delays[i] * float64(time.Second))
}
