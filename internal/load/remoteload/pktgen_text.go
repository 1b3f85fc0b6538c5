package remoteload

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"linerate/internal/hint"
)

// account is what pkt-gen says of one run; a time that it does not know is 0.
type account struct {
	packets uint64
	seconds float64
}

// Bounds of what is believed: no program of these years counts further.
const (
	maxPackets = 1 << 53
	maxSeconds = 30 * 24 * 3600
)

// pktGenEnd is the account that pkt-gen closes with: of FreeBSD 10 (with
// commas) and since (with bytes and events). What it writes of its intervals may
// stand on the same line.
var pktGenEnd = regexp.MustCompile(`(?:Sent|Received) (\d+) packets,?(?: \d+ bytes \d+ events)? \d+ bytes each,? in (-?[0-9.]+) seconds`)

// pktGenNone is that account of nothing at all.
var pktGenNone = regexp.MustCompile(`(?m)^(?:Sent|Received) nothing\.`)

// pktGenFailed is what pkt-gen says of each of its threads that could not go on.
var pktGenFailed = regexp.MustCompile(`ouch, thread \d+ exited with error`)

// pktGenWhy are complaints that may stand before that.
var pktGenWhy = regexp.MustCompile(`(?m)^[0-9.]+ \w+ \[\d+\] (.*\b(?:err|error)\b.*)$`)

// pktGenError is what kept a thread of pkt-gen's from its work; nil where none was.
// The account is then of the other threads, and its time of none.
func pktGenError(text string) error {
	at := pktGenFailed.FindStringIndex(text)
	if at == nil {
		return nil
	}
	why := "for an unknown reason"
	if all := pktGenWhy.FindAllStringSubmatch(text[:at[0]], -1); len(all) > 0 {
		why = all[len(all)-1][1]
	}
	return hint.With(fmt.Errorf("a thread of pkt-gen's could not go on: %.120s", why), "is the interface still there, up, and free?")
}

// errUnclosed says that pkt-gen ended without its account: it was killed, and
// what it counted last is not known.
var errUnclosed = hint.With(errors.New("pkt-gen ended without a summary"), "it gives one when it ends by itself or is interrupted (SIGINT); is the interface free, and has it netmap?")

// readPktGen reads the account in the output of netmap's pkt-gen, sender or receiver.
func readPktGen(text string) (account, error) {
	if err := pktGenError(text); err != nil {
		return account{}, err
	}
	if all := pktGenEnd.FindAllStringSubmatch(text, -1); len(all) > 0 {
		m := all[len(all)-1]
		n, err := strconv.ParseUint(m[1], 10, 64)
		seconds, err2 := strconv.ParseFloat(m[2], 64)
		if m[2][0] == '-' { // a receiver that saw nothing for a while subtracts more than it had
			seconds, err2 = 0, nil
		}
		if err != nil || err2 != nil || n > maxPackets || seconds > maxSeconds {
			return account{}, fmt.Errorf("pkt-gen's summary is of no run: %.120q", m[0])
		}
		return account{n, seconds}, nil
	}
	if pktGenNone.MatchString(text) {
		return account{}, nil
	}
	return account{}, errUnclosed
}

// pktGenReady is what pkt-gen prints when the link is up and it begins.
const pktGenReady = "Ready..."
