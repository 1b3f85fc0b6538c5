// Package smtpload sends messages to a mail server over SMTP (RFC 5321), in an
// open loop (messages are due by a schedule) or a closed one (each session
// sends again when its message has been taken). A message's latency runs to
// the reply that takes it, and none is cut off; what the server does with it then is the server's
// own affair, and to be asked of its queue.
//
// net/smtp hides how far a message came and cannot be told where to dial from,
// and is frozen; the few commands are written here.
package smtpload

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/load/client"
)

// Bounds of a Spec.
const (
	MaxSessions = 20_000
	MaxAccounts = 10_000_000
	MaxSize     = 64 << 20
	MaxSizes    = 1000
)

// Spec is a load of messages.
type Spec struct {
	client.Load
	Server string // HOST or HOST:PORT
	From   string // envelope's sender
	// To is the envelope's recipient; %d in it is a number from 1 to Accounts:
	// each once, in an order that the seed draws, before any comes again.
	To         string
	Accounts   int
	Sizes      []int // of messages in bytes, header included, each as often as it is listed
	Sessions   int   // at once; in an open loop as many as are needed, up to it
	PerSession int   // messages after which a session ends; 0: no limit
	Sources    []netip.Addr
	Enter      client.Enter // where given
}

// Validate refuses what cannot be sent.
func (s *Spec) Validate() error {
	if err := s.addresses(); err != nil {
		return err
	}
	switch {
	case len(s.Sizes) == 0 || len(s.Sizes) > MaxSizes:
		return hint.Usagef("%d sizes of messages: from 1 to %d", len(s.Sizes), MaxSizes)
	case s.Sessions < 1 || s.Sessions > MaxSessions:
		return hint.Usagef("%d sessions: from 1 to %d", s.Sessions, MaxSessions)
	case s.PerSession < 0:
		return hint.Usagef("%d messages in a session", s.PerSession)
	}
	for _, n := range s.Sizes {
		if n < 0 || n > MaxSize {
			return hint.Usagef("a message of %d bytes: at most %d", n, MaxSize)
		}
	}
	return s.Load.Validate("messages")
}

func (s *Spec) addresses() error {
	for _, a := range []string{s.From, s.To} {
		if !plain(a) || strings.Count(a, "@") != 1 {
			return hint.With(hint.Usagef("%q is no address of mail", a), "for instance user%%d@example.org, where %%d is a number")
		}
	}
	switch n := strings.Count(s.To, "%d"); {
	case s.Accounts < 1 || s.Accounts > MaxAccounts:
		return hint.Usagef("%d accounts: from 1 to %d", s.Accounts, MaxAccounts)
	case n > 1 || strings.Count(s.To, "%") != n || strings.Contains(s.From, "%"):
		return hint.Usagef("%s: %%d may stand once in a recipient, and no other %%", s.To)
	case s.Accounts > 1 && n == 0:
		return hint.With(hint.Usagef("%d accounts have one address, %s", s.Accounts, s.To), "write %%d where its number is to be: user%%d@example.org")
	}
	_, _, err := s.server()
	return err
}

// plain reports printable ASCII that cannot end a command or an address.
func plain(s string) bool {
	return s != "" && len(s) < 250 && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("<>\"\\,;:", r)
	})
}

// server is the host and the port, 25 unless given.
func (s *Spec) server() (host, port string, err error) {
	if _, err := netip.ParseAddr(s.Server); err == nil || !strings.Contains(s.Server, ":") {
		host, port = s.Server, "25"
	} else if host, port, err = net.SplitHostPort(s.Server); err != nil {
		return "", "", hint.With(hint.Usagef("%q is no HOST or HOST:PORT", s.Server), "an IPv6 address with a port is written [2001:2::1]:25")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 || host == "" {
		return "", "", hint.Usagef("%q is no HOST or HOST:PORT", s.Server)
	}
	return host, port, nil
}
