package remoteload

import (
	"errors"
	"fmt"
	"strconv"

	"linerate/internal/hint"
	"linerate/internal/lazy"
)

// account is pkt-gen's account of one run; an unknown time is 0.
type account struct {
	packets uint64
	seconds float64
}

// Limits of plausible values.
const (
	maxPackets = 1 << 53
	maxSeconds = 30 * 24 * 3600
)

// pktGenEnd matches the account at the end of pkt-gen's output: of FreeBSD 10
// (with commas) and later (with bytes and events). An interval report may
// precede it on the same line.
var pktGenEnd = lazy.Regexp(`(?:Sent|Received) (\d+) packets,?(?: \d+ bytes \d+ events)? \d+ bytes each,? in (-?[0-9.]+) seconds`)

// pktGenNone matches the account of a run without frames.
var pktGenNone = lazy.Regexp(`(?m)^(?:Sent|Received) nothing\.`)

// pktGenFailed matches pkt-gen's message for a thread that failed.
var pktGenFailed = lazy.Regexp(`ouch, thread \d+ exited with error`)

// pktGenWhy matches error messages that may precede it.
var pktGenWhy = lazy.Regexp(`(?m)^[0-9.]+ \w+ \[\d+\] (.*\b(?:err|error)\b.*)$`)

// pktGenError returns why a thread of pkt-gen failed; nil if none did. The account
// then covers only the other threads, and its time is invalid.
func pktGenError(text string) error {
	at := pktGenFailed().FindStringIndex(text)
	if at == nil {
		return nil
	}
	why := "for an unknown reason"
	if all := pktGenWhy().FindAllStringSubmatch(text[:at[0]], -1); len(all) > 0 {
		why = all[len(all)-1][1]
	}
	return hint.With(fmt.Errorf("a thread of pkt-gen failed: %.120s", why), "is the interface still there, up, and free?")
}

// errUnclosed is returned if pkt-gen ended without an account: it was killed,
// and its last counts are unknown.
var errUnclosed = hint.With(errors.New("pkt-gen ended without a summary"), "it prints one when it exits or is interrupted (SIGINT); is the interface free, and does it support netmap?")

// readPktGen parses the account in pkt-gen's output, of a sender or receiver.
func readPktGen(text string) (account, error) {
	if err := pktGenError(text); err != nil {
		return account{}, err
	}
	if all := pktGenEnd().FindAllStringSubmatch(text, -1); len(all) > 0 {
		m := all[len(all)-1]
		n, err := strconv.ParseUint(m[1], 10, 64)
		seconds, err2 := strconv.ParseFloat(m[2], 64)
		if m[2][0] == '-' { // a receiver that saw nothing for a while subtracts more time than it ran
			seconds, err2 = 0, nil
		}
		if err != nil || err2 != nil || n > maxPackets || seconds > maxSeconds {
			return account{}, fmt.Errorf("pkt-gen's summary does not describe a run: %.120q", m[0])
		}
		return account{n, seconds}, nil
	}
	if pktGenNone().MatchString(text) {
		return account{}, nil
	}
	return account{}, errUnclosed
}

// pktGenReady is what pkt-gen prints when the link is up and it starts.
const pktGenReady = "Ready..."
