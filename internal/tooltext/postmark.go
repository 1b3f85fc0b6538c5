package tooltext

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// Postmark is what PostMark 1.5 says of a run, in its verbose report.
type Postmark struct {
	Transactions uint64 // done: each creates or deletes a file
	PerSecond    uint64 // of them, by a clock of whole seconds
	// Of the transactions and of making and removing the files.
	Created, Read, Appended, Deleted uint64
	Removed                          uint64 // of the deleted, those that were left at the end
	ReadBytes, WrittenBytes          uint64 // to three digits or so
}

// What PostMark prints: numbers after names that come once, but for those of files
// that were mixed with transactions, first the created and then the deleted.
var (
	postmarkFiles = map[string]*regexp.Regexp{
		"did transactions": regexp.MustCompile(`(?m)^\t\d+ seconds? of transactions \((\d+) per second\)`),
		"created":          regexp.MustCompile(`(?m)^\t(\d+) created \(`), "read": regexp.MustCompile(`(?m)^\t(\d+) read \(`),
		"appended": regexp.MustCompile(`(?m)^\t(\d+) appended \(`), "deleted": regexp.MustCompile(`(?m)^\t(\d+) deleted \(`),
		"removed": regexp.MustCompile(`(?m)^\t\tDeletion alone: (\d+) files`),
	}
	postmarkMixed = regexp.MustCompile(`(?m)^\t\tMixed with transactions: (\d+) files`)
	postmarkBytes = regexp.MustCompile(`(?m)^\t(\d+(?:\.\d+)?) (bytes|kilobytes|megabytes|gigabytes) (read|written) \(`)
	postmarkUnits = map[string]float64{"bytes": 1, "kilobytes": 1 << 10, "megabytes": 1 << 20, "gigabytes": 1 << 30}
)

// maxPostmarkBytes is more than any run moves.
const maxPostmarkBytes = 1 << 60

// ReadPostmark reads PostMark's report of one run.
func ReadPostmark(text string) (p Postmark, err error) {
	counts := map[string]*uint64{"did transactions": &p.PerSecond, "created": &p.Created, "read": &p.Read, "appended": &p.Appended, "deleted": &p.Deleted, "removed": &p.Removed}
	for name, to := range counts {
		m := postmarkFiles[name].FindStringSubmatch(text)
		if m == nil {
			return Postmark{}, fmt.Errorf("postmark does not say how many it %s: %s", name, tail(text))
		}
		if *to, err = files(m[1]); err != nil {
			return Postmark{}, err
		}
	}
	mixed := postmarkMixed.FindAllStringSubmatch(text, 3)
	if len(mixed) != 2 {
		return Postmark{}, errors.New("postmark's report is not of one run")
	}
	for _, m := range mixed {
		n, err := files(m[1])
		if err != nil {
			return Postmark{}, err
		}
		p.Transactions += n
	}
	for _, m := range postmarkBytes.FindAllStringSubmatch(text, 2) {
		v, err := number(m[1], "bytes", maxPostmarkBytes/postmarkUnits[m[2]])
		if err != nil {
			return Postmark{}, err
		}
		to := &p.ReadBytes
		if m[3] == "written" {
			to = &p.WrittenBytes
		}
		*to = uint64(v * postmarkUnits[m[2]])
	}
	return p, nil
}

// The words by which PostMark says what it does next, as it begins it.
const (
	PostmarkTransacts = "Performing transactions"
	PostmarkRemoves   = "Deleting files"
)

func files(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > maxPackets {
		return 0, fmt.Errorf("%.40q is no number of files", text)
	}
	return n, nil
}
