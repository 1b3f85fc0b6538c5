package sshhost

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"

	"linerate/internal/hint"
	"linerate/internal/show"
)

// Options say how a host is reached. The zero value reads ~/.ssh/config and
// waits ten seconds for a connection, and half a minute to be let in.
type Options struct {
	// Configs are the files of ssh_config(5), the first value of a key
	// counts; nil: the user's and the system's.
	Configs []string
	// Home is where ~ is; "": the user's.
	Home string
	// Connect bounds the wait for a connection, of each jump too; 0: 10 s.
	Connect time.Duration
	// Login bounds what follows it, keys and login, which a busy host takes
	// its time for; 0: 30 s.
	Login time.Duration
	// Become runs scripts as root: "sudo" or "doas", without a password.
	Become string
	// Alive ends a connection whose host has not answered for so long; 0:
	// never. A host under overload may take its time.
	Alive time.Duration
	// Shared, where given, reads files once for many connections.
	Shared *Shared
}

// Becomes are the values of Options.Become other than "".
var Becomes = []string{"sudo", "doas"}

// Client is a connection to one host.
type Client struct {
	target             Target
	become             string
	connectIn, loginIn time.Duration
	conn               *ssh.Client
	closers            []func()
	notes              []string
	lost               atomic.Bool
}

// Dial connects to a host, verifies its key and logs in. Errors say which of
// the three failed, and what to do.
func Dial(ctx context.Context, t Target, o Options) (*Client, error) {
	if o.Connect <= 0 {
		o.Connect = 10 * time.Second
	}
	if o.Login <= 0 {
		o.Login = 30 * time.Second
	}
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir()
	}
	if o.Configs == nil {
		o.Configs = []string{o.Home + "/.ssh/config", "/etc/ssh/ssh_config"}
	}
	configs, err := o.Shared.readConfigs(o.Home, o.Configs)
	if err != nil {
		return nil, err
	}
	c := &Client{target: t, become: o.Become, connectIn: o.Connect, loginIn: o.Login, notes: configs.notes}
	if err := c.connect(ctx, configs, t, 0); err != nil {
		c.Close()
		return nil, err
	}
	go c.watch(o.Alive)
	return c, nil
}

// watch ends the connection when the host does not answer, and notes its end.
func (c *Client) watch(alive time.Duration) {
	over := make(chan struct{})
	go func() {
		_ = c.conn.Wait()
		c.lost.Store(true)
		close(over)
	}()
	for alive > 0 {
		select {
		case <-over:
			return
		case <-time.After(alive / 4):
		}
		answered := time.AfterFunc(alive, func() { c.conn.Close() })
		_, _, _ = c.conn.SendRequest("keepalive@openssh.com", true, nil)
		answered.Stop()
	}
}

// Lost reports that the connection is over.
func (c *Client) Lost() bool { return c.lost.Load() }

// connect reaches a target, through its jump hosts.
func (c *Client) connect(ctx context.Context, configs *configs, t Target, depth int) error {
	s, err := configs.resolve(t)
	if err != nil {
		return err
	}
	if depth > maxJumps {
		return fmt.Errorf("reach %s: more than %d hosts on the way; does ProxyJump lead in a circle?", t, maxJumps)
	}
	for i, hop := range s.jump {
		// The first hop's configuration may name further jumps; the others are reached from
		// the one before.
		if i == 0 {
			err = c.connect(ctx, configs, hop, depth+1)
		} else {
			err = c.hop(ctx, configs, hop)
		}
		if err != nil {
			return fmt.Errorf("by way of %s: %w", hop, err)
		}
	}
	return c.login(ctx, s)
}

// hop reaches a jump host from where the client is.
func (c *Client) hop(ctx context.Context, configs *configs, t Target) error {
	s, err := configs.resolve(t)
	if err != nil {
		return err
	}
	return c.login(ctx, s)
}

// login connects from where the client is, and makes the new host the place
// where it is.
func (c *Client) login(ctx context.Context, s settings) error {
	conn, err := c.open(ctx, s)
	if err != nil {
		return reachError(s, err)
	}
	id := identify(s)
	c.closers = append(c.closers, id.Close)
	check := &hostKey{settings: s}
	config, err := check.config(id)
	if err != nil {
		conn.Close()
		return err
	}
	// The handshake knows no context: what ends it is the connection.
	ctx, cancel := context.WithTimeoutCause(ctx, c.loginIn, fmt.Errorf("it takes connections, and lets nobody in within %v", c.loginIn))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	inner, channels, requests, err := ssh.NewClientConn(conn, check.name(), config)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		if ctx.Err() != nil && check.err == nil {
			err = context.Cause(ctx)
		}
		return check.explain(err, id)
	}
	c.conn = ssh.NewClient(inner, channels, requests)
	last := c.conn
	c.closers = append(c.closers, func() { last.Close() })
	return nil
}

func (c *Client) open(ctx context.Context, s settings) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.connectIn)
	defer cancel()
	if c.conn == nil {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", s.address())
	}
	return c.conn.DialContext(ctx, "tcp", s.address())
}

func reachError(s settings, err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("no answer in time")
	} else if op != nil {
		err = op.Err // without the address, which the message already has
		var call *os.SyscallError
		if errors.As(err, &call) {
			err = call.Err
		}
	}
	var name *net.DNSError
	if errors.As(err, &name) {
		err = fmt.Errorf("the name is not known here (%s)", name.Err)
	}
	return hint.With(fmt.Errorf("reach %s (%s): %w", s.alias, s.address(), err), "is the host up, and is this its name and port? Try: %s true", s.command)
}

// ErrRefused marks that the host answers, and another try finds it as it is: its key is not the
// one that is known, or it lets us not in.
var ErrRefused = errors.New("refused")

// refused marks an error as such, and reads as before.
type refused struct{ error }

func (r refused) Unwrap() []error { return []error{r.error, ErrRefused} }

// hostKey verifies a host's key against known_hosts, and remembers why not.
type hostKey struct {
	settings settings
	err      error
}

// name is what known_hosts calls the host.
func (k *hostKey) name() string {
	if k.settings.keyAlias != "" {
		return net.JoinHostPort(k.settings.keyAlias, "22")
	}
	return k.settings.address()
}

func (k *hostKey) config(id *identity) (*ssh.ClientConfig, error) {
	known, err := k.settings.shared.knownHosts(k.settings.knownHosts)
	if err != nil {
		return nil, err
	}
	return &ssh.ClientConfig{
		User: k.settings.user,
		Auth: []ssh.AuthMethod{ssh.PublicKeys(id.signers...)},
		HostKeyCallback: func(name string, remote net.Addr, key ssh.PublicKey) error {
			err := known.HostKeyCallback()(name, remote, key)
			if err != nil {
				k.err = k.keyError(err, key)
			}
			return err
		},
		// Ask for a key of a kind that is known, else a host with several
		// kinds looks like another.
		HostKeyAlgorithms: known.HostKeyAlgorithms(k.name()),
		ClientVersion:     "SSH-2.0-linerate",
		BannerCallback:    func(string) error { return nil },
	}, nil
}

func (k *hostKey) keyError(err error, key ssh.PublicKey) error {
	s, print := k.settings, ssh.FingerprintSHA256(key)
	switch {
	case knownhosts.IsHostKeyChanged(err):
		return hint.With(refused{fmt.Errorf("%s shows another host key than known_hosts has (%s %s): somebody may be in between", s.alias, key.Type(), print)},
			"ask the host's admin; if it was set up anew, forget the old key: ssh-keygen -R %s", bracketed(s))
	case knownhosts.IsHostUnknown(err):
		return hint.With(refused{fmt.Errorf("the host key of %s is not in known_hosts (%s %s)", s.alias, key.Type(), print)},
			"compare the fingerprint with the host's own, then accept it once: %s true", s.command)
	}
	return fmt.Errorf("host key of %s: %w", s.alias, err)
}

func bracketed(s settings) string {
	if s.port == 22 {
		return s.host
	}
	return fmt.Sprintf("'[%s]:%d'", s.host, s.port)
}

// explain turns a failed handshake into words for the user.
func (k *hostKey) explain(err error, id *identity) error {
	s := k.settings
	if k.err != nil {
		return k.err
	}
	if strings.Contains(err.Error(), "unable to authenticate") {
		tried := fmt.Sprintf("%d keys were offered", len(id.signers))
		if len(id.signers) == 1 {
			tried = "one key was offered"
		}
		if len(id.tried) > 0 {
			tried += "; not used: " + strings.Join(id.tried, ", ")
		}
		return hint.With(refused{fmt.Errorf("%s refuses the login of %s: %s", s.alias, s.user, tried)},
			"put a public key into its ~/.ssh/authorized_keys and the private one into an agent (ssh-add); passwords are never asked for")
	}
	return hint.With(fmt.Errorf("log in at %s (%s): %s", s.alias, s.address(), show.Clean(err.Error())), "is that sshd's port, and the host not too busy to answer? Try: %s true", s.command)
}

// Notes say what of the user's configuration was not followed.
func (c *Client) Notes() []string { return c.notes }

// Target is what the client was asked to reach.
func (c *Client) Target() Target { return c.target }

// Close ends the connection and those it goes through.
func (c *Client) Close() error {
	for i := len(c.closers) - 1; i >= 0; i-- {
		c.closers[i]()
	}
	c.closers = nil
	return nil
}
