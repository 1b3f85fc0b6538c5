package apply

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"linerate/internal/hint"
)

// CheckedHost is the host of a check: its name in the list of hosts, and its address (ssh://…);
// both are "" for this machine.
type CheckedHost struct{ Name, Source string }

// Fill replaces {host} in a text by the name and {address} by the address, both without user and
// port.
func (h CheckedHost) Fill(text string) string {
	return strings.NewReplacer("{host}", bracket(bare(h.Name)), "{address}", bracket(bare(h.Source))).Replace(text)
}

// Env returns the environment variables that describe the host to a command.
func (h CheckedHost) Env() []string {
	return []string{"LINERATE_HOST=" + bare(h.Name), "LINERATE_ADDRESS=" + bare(h.Source), "LINERATE_SOURCE=" + h.Source}
}

// bare returns a name without user and port.
func bare(name string) string {
	name = strings.TrimPrefix(name, "ssh://")
	name = name[strings.LastIndex(name, "@")+1:]
	if host, _, err := net.SplitHostPort(name); err == nil {
		return host
	}
	return strings.Trim(name, "[]")
}

// ParseCheck parses a check to run on this machine: HOST:PORT or tcp://HOST:PORT, which must accept
// a connection; an http:// or https:// URL, which must answer with a status below 400; or else a
// command for sh(1), which must exit with 0. In the former {host} is the host's name and {address}
// its address, both without user and port; a command gets them as LINERATE_HOST and
// LINERATE_ADDRESS, and the complete ssh://… as LINERATE_SOURCE. timeout limits one try.
func ParseCheck(text string, h CheckedHost, timeout time.Duration) (Check, error) {
	filled := h.Fill(text)
	var do func(context.Context) error
	switch scheme, rest, _ := strings.Cut(filled, "://"); {
	case scheme == "http" || scheme == "https":
		if u, err := url.Parse(filled); err != nil || u.Host == "" {
			return Check{}, hint.With(hint.Usagef("check %.200q is not an address", text), "such as https://{host}/health")
		}
		do = func(ctx context.Context) error { return get(ctx, filled) }
	case scheme == "tcp" || isAddress(filled):
		if scheme == "tcp" {
			filled = rest
		}
		if !isAddress(filled) {
			return Check{}, badCheck(text)
		}
		text, do = "tcp://"+filled, func(ctx context.Context) error { return connect(ctx, filled) }
	default:
		if word := strings.Fields(text); len(word) == 0 || len(word) == 1 && !strings.Contains(text, "/") && !found(text) {
			return Check{}, badCheck(text)
		}
		do = func(ctx context.Context) error { return command(ctx, text, h) }
	}
	return Check{Name: text, Do: func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not done in %v", timeout))
		defer cancel()
		err := do(ctx)
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}}, nil
}

func badCheck(text string) error {
	return hint.With(hint.Usagef("check %.200q is neither HOST:PORT, an address nor a command on this machine", text), "such as 192.0.2.1:443, https://{host}/health or './check.sh'")
}

func found(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// bracket adds the brackets that an IPv6 address needs before a port.
func bracket(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

func isAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	return err == nil && port != "" && !strings.ContainsAny(host+port, " /")
}

func connect(ctx context.Context, address string) error {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return c.Close()
}

// get uses a new connection: one that existed before the change proves nothing.
func get(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "linerate")
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}
	defer client.CloseIdleConnections()
	r, err := client.Do(req)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(r.Body, 1<<20)); err != nil {
		return err
	}
	if r.StatusCode >= 400 {
		return fmt.Errorf("it answers %s", r.Status)
	}
	return nil
}

// maxSaid is the maximum length, in bytes, of a command's quoted output.
const maxSaid = 200

func command(ctx context.Context, text string, h CheckedHost) error {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", text)
	cmd.Env = append(os.Environ(), h.Env()...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if said := strings.Join(strings.Fields(string(out)), " "); err != nil && said != "" {
		return fmt.Errorf("%w: %.*s", err, maxSaid, said)
	}
	return err
}
