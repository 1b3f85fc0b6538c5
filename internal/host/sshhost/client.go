package sshhost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/lazy"
	"linerate/internal/show"
)

// Options control the connection to a host.
type Options struct {
	// Config is the ssh_config(5) file; "" means the user's and the system's.
	Config string
	// Connect limits the time until the connection and sshd's banner; 0 is 15 s.
	Connect time.Duration
	// Login limits the time for key exchange and login after that, which a busy host needs; 0 is 30
	// s.
	Login time.Duration
	// Become runs scripts as root with "sudo" or "doas", without a password.
	Become string
	// Alive closes a connection whose host has not answered for that time, in whole seconds; 0
	// never does. An overloaded host may be slow.
	Alive time.Duration
}

// Becomes lists the values of Options.Become other than "".
var Becomes = []string{"sudo", "doas"}

// Client is a connection to one host: a master ssh(1), and sessions of other ssh processes through
// its control socket.
type Client struct {
	target  Target
	become  string
	command string // that a person can use to connect
	socket  string // of ssh_config(5)'s ControlPath
	master  *exec.Cmd
	in      io.Closer // closing it ends the master, and so does the death of this process
	said    *host.FirstBytes
	over    chan struct{} // closed after the master has ended
}

// keeper becomes ssh, and kills it when standard input ends; it then removes $0, the directory of its socket.
const keeper = `exec 3<&0; { cat <&3; kill $$; sleep 1; rm -rf "$0"; } >/dev/null 2>&1 & exec ssh "$@" </dev/null 3<&-`

// always lists options that configuration cannot override: keys are verified, nothing is prompted
// for, and only sessions use the connection.
var always = []string{
	"BatchMode=yes", "StrictHostKeyChecking=yes", "UpdateHostKeys=no", "ControlMaster=yes", "ControlPersist=no", "ClearAllForwardings=yes",
	"ForwardAgent=no", "ForwardX11=no", "PermitLocalCommand=no", "RemoteCommand=none", "RequestTTY=no", "LogLevel=ERROR",
}

// Dial connects to a host with ssh(1), which verifies its key and logs in according to the user's
// configuration. Errors say which step failed, and what to do.
func Dial(ctx context.Context, t Target, o Options) (*Client, error) {
	connect, login := cmp.Or(o.Connect, 15*time.Second), cmp.Or(o.Login, 30*time.Second)
	dir, err := socketDir()
	if err != nil {
		return nil, err
	}
	c := &Client{target: t, become: o.Become, command: t.command(o.Config), socket: filepath.Join(dir, "s"), said: &host.FirstBytes{Limit: maxSaid}, over: make(chan struct{})}
	options := slices.Concat(always, []string{fmt.Sprintf("ConnectTimeout=%d", seconds(connect))})
	if o.Alive > 0 {
		every := seconds(o.Alive / 4)
		options = append(options, fmt.Sprintf("ServerAliveInterval=%d", every), fmt.Sprintf("ServerAliveCountMax=%d", max(1, seconds(o.Alive)/every)))
	}
	args := []string{"-c", keeper, dir, "-M", "-N", "-S", c.socket}
	for _, option := range options {
		args = append(args, "-o", option)
	}
	c.master = exec.Command("/bin/sh", append(args, t.args(o.Config)...)...)
	c.master.Stderr = c.said
	c.master.Env = append(os.Environ(), "SSH_ASKPASS_REQUIRE=never") // else the ssh of a jump host prompts in a window
	c.master.SysProcAttr = &syscall.SysProcAttr{Setsid: true}        // Ctrl-C on the terminal reaches only this process
	c.master.WaitDelay = time.Second
	c.in, err = c.master.StdinPipe()
	if err == nil {
		err = c.master.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("run ssh: %w", err), os.RemoveAll(dir))
	}
	go func() { _ = c.master.Wait(); close(c.over) }()
	ctx, cancel := context.WithTimeoutCause(ctx, connect+login, fmt.Errorf("it accepts connections but no login within %v", connect+login))
	defer cancel()
	if err := c.up(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// up waits until the master has logged in: then its socket exists.
func (c *Client) up(ctx context.Context) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		select {
		case <-c.over:
			return c.refusal(c.said.String())
		case <-ctx.Done():
			return hint.With(fmt.Errorf("reach %s: %w", c.target.Host, context.Cause(ctx)), "is that sshd's port, and the host not too busy to answer? Try: %s true", c.command)
		case <-time.After(pause):
		}
		if _, err := os.Lstat(c.socket); err == nil {
			return nil
		}
	}
}

// longestTemp is the maximum length of the directory path of a socket: socket addresses have at
// least 104 bytes, and ssh first creates a longer name.
const longestTemp = 50

func socketDir() (string, error) {
	base := os.TempDir()
	if len(base) > longestTemp {
		base = "/tmp"
	}
	return os.MkdirTemp(base, "linerate-ssh")
}

// seconds rounds up to whole seconds, at least one.
func seconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }

// session returns a command in a session of the connection. Its options prevent it from connecting
// by itself if the master refuses it.
func (c *Client) session(line string) *exec.Cmd {
	cmd := exec.Command("ssh", "-F", "/dev/null", "-S", c.socket, "-o", "ControlMaster=no", "-o", "ProxyCommand=false", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR", "-T", "linerate", line)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = time.Second
	return cmd
}

// exitLost is ssh's exit status for its own failures.
const exitLost = 255

// status returns the exit status of a session's command, or the error of the connection.
func (c *Client) status(err error) (int, error) {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return 0, nil
	case !errors.As(err, &exit):
		return 0, err
	case exit.ExitCode() != exitLost && exit.ExitCode() >= 0:
		return exit.ExitCode(), nil
	}
	select {
	case <-c.over:
		return 0, errLost
	case <-time.After(time.Second): // the loss may be noticed within a moment
		return exit.ExitCode(), nil
	}
}

// errLost means that a connection ended prematurely.
var errLost = errors.New("the connection was lost before the end")

// Lost reports whether the connection has ended.
func (c *Client) Lost() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}

// Close ends the connection and all its sessions.
func (c *Client) Close() error {
	_ = c.in.Close()
	select {
	case <-c.over:
	case <-time.After(2 * time.Second):
		_ = syscall.Kill(-c.master.Process.Pid, syscall.SIGKILL)
		<-c.over
	}
	return os.RemoveAll(filepath.Dir(c.socket))
}

// args returns the arguments of ssh(1) for the target, with the given configuration file or the
// default ones.
func (t Target) args(config string) (args []string) {
	if config != "" {
		args = append(args, "-F", config)
	}
	if t.Port != 0 {
		args = append(args, "-p", strconv.Itoa(t.Port))
	}
	if t.User != "" {
		return append(args, t.User+"@"+t.Host)
	}
	return append(args, t.Host)
}

// command returns the same as a command line to type.
func (t Target) command(config string) string {
	line := "ssh"
	for _, w := range t.args(config) {
		line += " " + host.Word(w)
	}
	return line
}

// ErrRefused means that the host answers but another try would fail the same way: its key does not
// match, or it denies access.
var ErrRefused = errors.New("refused")

// refused marks an error as ErrRefused without changing its text.
type refused struct{ error }

func (r refused) Unwrap() []error { return []error{r.error, ErrRefused} }

// changedKey matches ssh's message about a changed host key.
var changedKey = lazy.Regexp(`Host key for (\S+) has changed`)

// refusal turns ssh's error messages into an error for the user.
func (c *Client) refusal(said string) error {
	has := func(text string) bool { return strings.Contains(said, text) }
	changed := changedKey().FindStringSubmatch(said)
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
