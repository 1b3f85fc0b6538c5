package tooltext

import (
	"bufio"
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

// PostalFailed counts what postal complained of, with the first complaint.
func PostalFailed(text string) (messages, sessions uint64, first string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, postalComplaint):
			messages++
			line = strings.TrimPrefix(line, postalComplaint)
		case strings.HasPrefix(line, postalConnect):
			sessions++
		default:
			continue
		}
		if first == "" {
			first = fmt.Sprintf("%.200s", line)
		}
	}
	return messages, sessions, first
}
