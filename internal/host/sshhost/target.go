// Package sshhost reaches a host with the user's ssh(1), requiring only sshd, sh and
// the base system there. It runs fixed scripts, passed on standard input to a plain
// /bin/sh, so that no login shell interprets them; host keys are always verified
// against known_hosts, whatever the configuration says, and it never prompts for a password.
package sshhost

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"linerate/internal/hint"
)

// Scheme is the prefix of sources that are hosts over SSH.
const Scheme = "ssh://"

// Target is a host as named by the user; ssh_config(5) supplies what is missing.
type Target struct {
	User string // "" if not given
	Host string // a name, an alias of ssh_config, or an address
	Port int    // 0 if not given
}

// ParseTarget parses ssh://[user@]host[:port]. It rejects a password, a path and a query, which
// have no meaning here.
func ParseTarget(s string) (Target, error) {
	usage := func(why string) error {
		return hint.With(hint.Usagef("%.200q: %s", withoutPassword(s), why), "write ssh://host, ssh://user@host or ssh://user@host:port")
	}
	u, err := url.Parse(s)
	if err != nil || !strings.HasPrefix(s, Scheme) {
		return Target{}, usage("not a host over SSH")
	}
	t := Target{Host: u.Hostname(), User: u.User.Username()}
	_, password := u.User.Password()
	switch {
	case password:
		return Target{}, usage("a password in a command line is read by others; use a key")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return Target{}, usage("nothing may follow the host and its port")
	case !plainHost(t.Host) || t.User != "" && !plainUser(t.User):
		return Target{}, usage("not a name of a host or user")
	}
	if p := u.Port(); p != "" {
		if t.Port, err = strconv.Atoi(p); err != nil || t.Port < 1 || t.Port > 65535 {
			return Target{}, usage("not a port")
		}
	}
	return t, nil
}

// withoutPassword removes what may be a password in ssh://user:password@host.
func withoutPassword(s string) string {
	user, host, ok := strings.Cut(s, "@")
	if name, _, secret := strings.Cut(strings.TrimPrefix(user, Scheme), ":"); ok && secret {
		if i := strings.LastIndexByte(host, '@'); i >= 0 { // the password contained @
			host = host[i+1:]
		}
		return Scheme + name + ":…@" + host
	}
	return s
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// plainUser reports whether s is a user name, not an option, a token of ssh_config or white space.
func plainUser(s string) bool {
	return s != "" && len(s) <= 64 && s[0] != '-' && strings.Trim(s, letters+"._-+") == ""
}

// plainHost reports whether s is a name or an address; an IPv6 address may have a zone.
func plainHost(s string) bool {
	if strings.Contains(s, ":") {
		a, err := netip.ParseAddr(s)
		return err == nil && (a.Zone() == "" || plainUser(a.Zone()))
	}
	return s != "" && len(s) <= 255 && s[0] != '-' && strings.Trim(s, letters+"._-") == ""
}

// String returns the target as it was given.
func (t Target) String() string {
	host := t.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if t.User != "" {
		host = t.User + "@" + host
	}
	if t.Port != 0 {
		host = fmt.Sprintf("%s:%d", host, t.Port)
	}
	return Scheme + host
}
