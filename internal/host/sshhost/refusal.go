package sshhost

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/show"
)

// ErrRefused means that the host answers but another try would fail the same way: its key does not
// match, or it denies access.
var ErrRefused = errors.New("refused")

// refused marks an error as ErrRefused without changing its text.
type refused struct{ error }

func (r refused) Unwrap() []error { return []error{r.error, ErrRefused} }

// changedKey matches ssh's message about a changed host key.
var changedKey = regexp.MustCompile(`Host key for (\S+) has changed`)

// refusal turns ssh's error messages into an error for the user.
func (c *Client) refusal(said string) error {
	has := func(text string) bool { return strings.Contains(said, text) }
	changed := changedKey.FindStringSubmatch(said)
	text := oneLine(said)
	switch {
	case has("ssh: not found"), has("ssh: No such file"):
		return hint.With(errors.New("ssh(1) is not installed"), "install OpenSSH's client (Debian: openssh-client)")
	case changed != nil:
		return hint.With(refused{fmt.Errorf("%s shows another host key than known_hosts has: somebody may be in between", c.target.Host)},
			"ask the host's admin; if it was reinstalled, forget the old key: ssh-keygen -R '%s'", show.Clean(changed[1]))
	case has("host key is known for"):
		return hint.With(refused{fmt.Errorf("the host key of %s is not in known_hosts", c.target.Host)},
			"compare the fingerprint with the host's own, then accept it once: %s true", c.command)
	case has("Host key verification failed"):
		return refused{fmt.Errorf("host key of %s: %s", c.target.Host, text)}
	case has("Permission denied"), has("Too many authentication failures"):
		return hint.With(refused{fmt.Errorf("%s refuses the login: %s", c.target.Host, text)},
			"put a public key into its ~/.ssh/authorized_keys and the private one into an agent (ssh-add), also one with a passphrase; passwords are never asked for")
	case has("Could not resolve hostname"):
		text = "the name is not known here"
	}
	return hint.With(fmt.Errorf("reach %s: %s", c.target.Host, text), "is the host up, and is this its name and port? Try: %s true", c.command)
}

// oneLine joins ssh's messages, without their frames.
func oneLine(said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		if line = strings.TrimPrefix(strings.Trim(line, "@ \r\n"), "ssh: "); line != "" {
			lines = append(lines, show.Clean(line))
		}
	}
	if len(lines) == 0 {
		return "ssh ended and said nothing"
	}
	return fmt.Sprintf("%.300s", strings.Join(lines, "; "))
}
