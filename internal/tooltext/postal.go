package tooltext

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// postalLine is what postal 0.7 writes to postal.log of each message that was taken.
var postalLine = regexp.MustCompile(`^[0-9a-f]{32} <\S*> <\S*>$`)

// maxPostalLine is longer than any such line.
const maxPostalLine = 4096

// PostalTaken counts the messages in postal's log. A last line that it was kept from
// ending counts for nothing.
func PostalTaken(log io.Reader) (n uint64, err error) {
	sc := bufio.NewScanner(log)
	sc.Buffer(nil, maxPostalLine)
	sc.Split(wholeLines)
	for sc.Scan() {
		if !postalLine.MatchString(sc.Text()) {
			return n, fmt.Errorf("line %d of postal's log is %.60q", n+1, sc.Text())
		}
		n++
	}
	if err := sc.Err(); err != nil {
		return n, fmt.Errorf("read postal's log: %w", err)
	}
	return n, nil
}

// wholeLines are those that end.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	advance, token, err = bufio.ScanLines(data, false)
	if atEOF && token == nil {
		return len(data), nil, err
	}
	return advance, token, err
}

// postalComplaint begins the lines in which postal says that a message failed, and
// postalConnect those of a session that did.
const (
	postalComplaint = "Server error:"
	postalConnect   = "Can't connect to "
)

// PostalSaid counts what postal complains of as it is written: of a server that takes
// nothing it says far more than is to be kept.
type PostalSaid struct {
	Messages, Sessions uint64 // that failed
	First              string // complaint
	Text               string // how all of it began
	line               []byte // that has not ended
}

// mostSaid bounds what is kept of postal's words.
const mostSaid = 1000

// Write takes a part of what it says.
func (p *PostalSaid) Write(b []byte) (int, error) {
	p.Text += string(b[:min(len(b), mostSaid-len(p.Text))])
	n := len(b)
	for {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		p.line = append(p.line, line[:min(len(line), maxPostalLine-len(p.line))]...)
		if !whole {
			return n, nil
		}
		p.End()
		b = rest
	}
}

// End takes the last line, which may have no end.
func (p *PostalSaid) End() {
	line := strings.TrimSpace(string(p.line))
	p.line = p.line[:0]
	switch {
	case strings.HasPrefix(line, postalComplaint):
		p.Messages++
		line = strings.TrimPrefix(line, postalComplaint)
	case strings.HasPrefix(line, postalConnect):
		p.Sessions++
	default:
		return
	}
	if p.First == "" {
		p.First = fmt.Sprintf("%.200s", line)
	}
}
