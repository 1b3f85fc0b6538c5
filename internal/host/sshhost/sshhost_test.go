package sshhost_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/host/hosttest"
	"linerate/internal/host/sshhost"
	"linerate/internal/host/sshhost/sshtest"
	"linerate/internal/labtest"
)

func dial(t *testing.T, s *sshtest.Server, o sshhost.Options) (*sshhost.Client, error) {
	t.Helper()
	o.Config = s.Config
	target, err := sshhost.ParseTarget("ssh://box")
	if err != nil {
		t.Fatal(err)
	}
	c, err := sshhost.Dial(context.Background(), target, o)
	if err == nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, err
}

func mustDial(t *testing.T, s *sshtest.Server) *sshhost.Client {
	t.Helper()
	c, err := dial(t, s, sshhost.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoginShells(t *testing.T) {
	for name, command := range map[string]string{
		"sh":            "",
		"csh":           `/bin/csh -c "$SSH_ORIGINAL_COMMAND"`, // root's on FreeBSD before 14
		"banner noise":  `echo 'Welcome!'; printf 'no newline'; echo; eval "$SSH_ORIGINAL_COMMAND"`,
		"half a line":   `printf "no newline"; eval "$SSH_ORIGINAL_COMMAND"`,
		"stderr noise":  `echo 'Welcome!' >&2; eval "$SSH_ORIGINAL_COMMAND"`,
		"carriage":      `printf 'hello\r\n'; eval "$SSH_ORIGINAL_COMMAND"`,
		"noise without": `printf 'x%.0s' $(seq 5000); echo; eval "$SSH_ORIGINAL_COMMAND"`,
	} {
		t.Run(name, func(t *testing.T) {
			if name == "csh" {
				if _, err := os.Stat("/bin/csh"); err != nil {
					labtest.Lacking(t, "no csh here: apt-get install tcsh")
				}
			}
			c := mustDial(t, sshtest.Start(t, sshtest.Options{Command: command}))
			out, err := c.Run(context.Background(), sshhost.Script{Name: "test", Text: `printf '%s|' "$@" "$0"; cat; echo "done"`, Args: []string{"-o", "-"}})
			if err != nil || !strings.HasPrefix(string(out), "-o|-|") || !strings.HasSuffix(string(out), "done\n") {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
}

func TestRunFailures(t *testing.T) {
	for _, c := range []struct{ name, command, text, want string }{
		{"own failure", "", `echo half; echo 'no such \033[2Jthing' >&2; exit 3`, "test ended with status 3: no such"},
		{"syntax", "", `if then`, "test ended with status 2"},
		{"endless noise", "yes", `echo hi`, "prints more than 65536 bytes before"},
		{"huge answer", "", `cat /dev/zero`, "larger than the limit"},
		{"nologin", "echo 'This account is not available.'; false", `echo hi`, "status 1"},
		{"no shell", "true", `echo hi`, "did not begin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := mustDial(t, sshtest.Start(t, sshtest.Options{Command: c.command}))
			out, err := client.Run(context.Background(), sshhost.Script{Name: "test", Text: c.text, Limit: 100_000})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if err != nil && strings.ContainsRune(err.Error(), 0x1b) {
				t.Errorf("an escape sequence of the host reaches the terminal: %q", err)
			}
			if len(out) > 100_000 {
				t.Errorf("%d bytes were read", len(out))
			}
		})
	}
}

func TestSlowHostIsGivenUp(t *testing.T) {
	c := mustDial(t, sshtest.Start(t, sshtest.Options{}))
	ctx, cancel := context.WithTimeoutCause(context.Background(), 300*time.Millisecond, errors.New("not done in 300 ms"))
	defer cancel()
	start := time.Now()
	if _, err := c.Run(ctx, sshhost.Script{Name: "test", Text: "sleep 600"}); err == nil || !strings.Contains(err.Error(), "not done in 300 ms") {
		t.Errorf("error %v", err)
	}
	if time.Since(start) > 5*time.Minute {
		t.Errorf("it took %v", time.Since(start))
	}
}

// TestRunnerTimesOut: a runner's own limit ends a script whose context has none, and the next script gets a
// new connection.
func TestRunnerTimesOut(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	r := &sshhost.Runner{Name: "ssh://box", Timeout: 2 * time.Second, Dial: func(context.Context) (*sshhost.Client, error) { return dial(t, s, sshhost.Options{}) }}
	defer r.Close()
	if _, err := r.Run(context.Background(), "sleep 600", nil, nil); err == nil || !strings.Contains(err.Error(), "no answer in 2s") {
		t.Errorf("error %v", err)
	}
	r.Timeout = time.Minute
	if out, err := r.Run(context.Background(), "echo here", nil, nil); err != nil || string(out) != "here\n" {
		t.Errorf("after it: %q, %v", out, err)
	}
}

// TestSilentHostIsGivenUp: a host that accepts a connection and never answers must not block.
func TestSilentHostIsGivenUp(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := &sshtest.Server{Dir: t.TempDir(), Port: l.Addr().(*net.TCPAddr).Port, User: "nobody"}
	s.Config = filepath.Join(s.Dir, "config")
	config := strings.Replace(s.ClientConfig("box"), "HostName ", "HostName 127.0.0.1", 1)
	if err := os.WriteFile(s.Config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := dial(t, s, sshhost.Options{Connect: time.Second}); err == nil || !strings.Contains(err.Error(), "timed out") || hint.Of(err) == "" {
		t.Errorf("error %v", err)
	}
	l.Close()
	if _, err := dial(t, s, sshhost.Options{}); err == nil || !strings.Contains(err.Error(), "refused") || hint.Of(err) == "" {
		t.Errorf("error %v", err)
	}
}

// TestCutInTheMiddle: a proxy cuts the connection after a number of bytes.
func TestCutInTheMiddle(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var left atomic.Int64
	left.Store(1 << 30)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go cut(conn, s.Address(), &left)
		}
	}()
	config := strings.Replace(s.ClientConfig("box"), "  Port ", "  HostKeyAlias real\n  Port ", 1)
	config = replacePort(config, l.Addr().(*net.TCPAddr).Port)
	known := strings.Fields(s.KnownHost(t))
	write(t, filepath.Join(s.Dir, "known_hosts"), "real "+known[1]+" "+known[2]+"\n")
	write(t, s.Config, config)
	c := mustDial(t, s)
	left.Store(20_000)
	out, err := c.Run(context.Background(), sshhost.Script{Name: "test", Text: "head -c 1000000 /dev/zero; echo done"})
	if err == nil || !strings.Contains(err.Error(), "lost before the end") {
		t.Errorf("%d bytes and error %v, want a lost connection", len(out), err)
	}
}

func replacePort(config string, port int) string {
	lines := strings.Split(config, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "  Port ") {
			lines[i] = "  Port " + strconv.Itoa(port)
		}
	}
	return strings.Join(lines, "\n")
}

func cut(a net.Conn, to string, left *atomic.Int64) {
	b, err := net.Dial("tcp", to)
	if err != nil {
		a.Close()
		return
	}
	go func() { _, _ = io.Copy(b, a) }()
	buf := make([]byte, 4096)
	for {
		n, err := b.Read(buf)
		if err != nil || left.Add(-int64(n)) < 0 {
			a.Close()
			b.Close()
			return
		}
		_, _ = a.Write(buf[:n])
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestHostKeys(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	other := sshtest.Start(t, sshtest.Options{})
	known := s.KnownHost(t)
	wrong := strings.Fields(known)[0] + " " + strings.Join(strings.Fields(other.KnownHost(t))[1:], " ") + "\n"
	for _, c := range []struct{ name, known, want, hint string }{
		{"unknown", "", "is not in known_hosts", "compare the fingerprint"},
		{"changed", wrong, "another host key than known_hosts has", "ssh-keygen -R '[127.0.0.1]:"},
		{"revoked", "@revoked " + known, "host key of box", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, filepath.Join(s.Dir, "known_hosts"), c.known)
			// Keys are verified whatever the configuration says.
			write(t, s.Config, s.ClientConfig("box")+"  StrictHostKeyChecking no\n")
			_, err := dial(t, s, sshhost.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(hint.Of(err), c.hint) {
				t.Errorf("error %v, hint %q", err, hint.Of(err))
			}
		})
	}
	t.Run("the hint goes where the target does", func(t *testing.T) {
		config := s.ClientConfig("box")
		write(t, filepath.Join(s.Dir, "known_hosts"), "")
		write(t, s.Config, replacePort(config, 1))
		defer write(t, s.Config, config)
		_, err := sshhost.Dial(context.Background(), sshhost.Target{User: "root", Host: "box", Port: s.Port}, sshhost.Options{Config: s.Config})
		if want := "ssh -F " + s.Config + " -p " + strconv.Itoa(s.Port) + " root@box true"; !strings.Contains(hint.Of(err), want) {
			t.Errorf("error %v, hint %q, want %q", err, hint.Of(err), want)
		}
	})
	t.Run("no file", func(t *testing.T) {
		if err := os.Remove(filepath.Join(s.Dir, "known_hosts")); err != nil {
			t.Fatal(err)
		}
		if _, err := dial(t, s, sshhost.Options{}); err == nil || !strings.Contains(err.Error(), "is not in known_hosts") {
			t.Errorf("error %v", err)
		}
	})
}

func TestLogins(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	t.Run("wrong key", func(t *testing.T) {
		other := sshtest.Start(t, sshtest.Options{})
		write(t, s.Config, strings.Replace(s.ClientConfig("box"), s.Dir+"/id", other.Dir+"/id", 1))
		_, err := dial(t, s, sshhost.Options{})
		if err == nil || !strings.Contains(err.Error(), "refuses the login") || !strings.Contains(hint.Of(err), "authorized_keys") {
			t.Errorf("error %v, hint %q", err, hint.Of(err))
		}
	})
	t.Run("passphrase", func(t *testing.T) {
		key := filepath.Join(s.Dir, "locked")
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", key).CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
		write(t, s.Config, strings.Replace(s.ClientConfig("box"), s.Dir+"/id", key, 1))
		if _, err := dial(t, s, sshhost.Options{}); err == nil || !strings.Contains(err.Error(), "refuses the login") || !strings.Contains(hint.Of(err), "passphrase") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("agent", func(t *testing.T) {
		socket := startAgent(t, filepath.Join(s.Dir, "id"))
		config := strings.Replace(s.ClientConfig("box"), "IdentityAgent none", "IdentityAgent "+socket, 1)
		write(t, s.Config, strings.Replace(config, s.Dir+"/id\n", s.Dir+"/none\n", 1))
		if _, err := dial(t, s, sshhost.Options{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("only these identities", func(t *testing.T) {
		other := sshtest.Start(t, sshtest.Options{})
		socket := startAgent(t, filepath.Join(s.Dir, "id"))
		config := strings.Replace(s.ClientConfig("box"), "IdentityAgent none", "IdentitiesOnly yes\n  IdentityAgent "+socket, 1)
		write(t, s.Config, strings.Replace(config, s.Dir+"/id\n", other.Dir+"/id\n", 1))
		if _, err := dial(t, s, sshhost.Options{}); err == nil {
			t.Error("a key of the agent was used that the configuration does not name")
		}
	})
}

func startAgent(t *testing.T, key string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "agent") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Process.Kill(); _ = agent.Wait(); os.RemoveAll(dir) })
	// The agent's socket exists before the agent listens.
	labtest.Eventually(func() bool {
		c, err := net.Dial("unix", socket)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	add := exec.Command("ssh-add", "-q", key)
	add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+socket)
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	return socket
}

func TestProxyJump(t *testing.T) {
	far := sshtest.Start(t, sshtest.Options{})
	gate := sshtest.Start(t, sshtest.Options{Forward: true})
	config := far.ClientConfig("box") + "  ProxyJump gate\n" + gate.ClientConfig("gate")
	write(t, far.Config, config)
	c := mustDial(t, far)
	out, err := c.Run(context.Background(), sshhost.Script{Name: "test", Text: `echo "$SSH_CONNECTION"`})
	if err != nil || !strings.Contains(string(out), " "+strconv.Itoa(far.Port)) {
		t.Errorf("%q, %v", out, err)
	}
	t.Run("refused", func(t *testing.T) {
		closed := sshtest.Start(t, sshtest.Options{})
		write(t, far.Config, far.ClientConfig("box")+"  ProxyJump gate\n"+closed.ClientConfig("gate"))
		if _, err := dial(t, far, sshhost.Options{}); err == nil || !strings.Contains(err.Error(), "reach box") {
			t.Errorf("error %v", err)
		}
	})
}

// TestConfiguration: options of ssh(1) are honoured, and an unreadable configuration is reported.
func TestConfiguration(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	t.Run("match blocks", func(t *testing.T) {
		write(t, s.Config, "Match host box exec true\n  Port "+strconv.Itoa(s.Port)+"\n"+replacePort(s.ClientConfig("box"), 1))
		mustDial(t, s)
	})
	t.Run("broken", func(t *testing.T) {
		write(t, s.Config, "Host box\n  Port twentytwo\n")
		if _, err := dial(t, s, sshhost.Options{}); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("error %v", err)
		}
	})
}

// TestNothingStays: when a connection is closed or lost, or its owner is killed, no ssh and no socket is left.
func TestNothingStays(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	left := func() bool {
		files, err := os.ReadDir(tmp)
		return err == nil && len(files) == 0 && exec.Command("pgrep", "-f", "ssh -M -N .*"+s.Dir).Run() != nil
	}
	c := mustDial(t, s)
	if c.Close(); !labtest.Eventually(left) {
		t.Error("something is left after closing")
	}
	c = mustDial(t, s)
	s.Cut(t)
	if !labtest.Eventually(c.Lost) {
		t.Error("a lost connection is not noticed")
	}
	if c.Close(); !labtest.Eventually(left) {
		t.Error("something is left of a lost connection")
	}
}

func TestBecomeIsOneOfTwo(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	c, err := dial(t, s, sshhost.Options{Become: "su"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(context.Background(), sshhost.Script{Name: "test", Text: "id"}); err == nil {
		t.Error("an unknown way to become root was tried")
	}
	fake := filepath.Join(t.TempDir(), "bin")
	if err := os.MkdirAll(fake, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ said, want string }{
		{"sudo: a password is required", "NOPASSWD: /bin/sh"},
		{"sh: 1: sudo: not found", "install sudo there"},
		{"sudo: unable to resolve host box: Name or service not known\nsudo: a password is required", "NOPASSWD: /bin/sh"},
	} {
		last := c.said[strings.LastIndex(c.said, "\n")+1:]
		write(t, filepath.Join(fake, "sudo"), "#!/bin/sh\necho '"+c.said+"' >&2\nexit 1\n")
		if err := os.Chmod(filepath.Join(fake, "sudo"), 0o755); err != nil {
			t.Fatal(err)
		}
		s := sshtest.Start(t, sshtest.Options{Command: "PATH=" + fake + ":$PATH; eval \"$SSH_ORIGINAL_COMMAND\""})
		connect := func(context.Context) (*sshhost.Client, error) { return dial(t, s, sshhost.Options{Become: "sudo"}) }
		if client, err := connect(t.Context()); err != nil {
			t.Fatal(err)
		} else if _, err := client.Run(t.Context(), sshhost.Script{Name: "test", Text: "id"}); err == nil || !strings.Contains(hint.Of(err), c.want) {
			t.Errorf("error %v, hint %q", err, hint.Of(err))
		}
		r := &sshhost.Runner{Name: "there", Dial: connect}
		defer r.Close()
		if _, err := r.Run(t.Context(), "id", nil, nil); err == nil || !strings.Contains(err.Error(), last) || !strings.Contains(hint.Of(err), c.want) {
			t.Errorf("a script: error %v, hint %q", err, hint.Of(err))
		}
		p, err := r.Pipe(t.Context(), "id")
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if _, err := io.ReadAll(p); err == nil || !strings.Contains(err.Error(), last) || !strings.Contains(hint.Of(err), c.want) {
			t.Errorf("a pipe: error %v, hint %q", err, hint.Of(err))
		}
	}
}

// TestBusyHost: a host that accepts the connection at once but is slow to log in is waited for.
func TestBusyHost(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		time.Sleep(2 * time.Second)
		left := new(atomic.Int64)
		left.Store(1 << 30)
		cut(conn, s.Address(), left)
	}()
	config := strings.Replace(s.ClientConfig("box"), "  Port ", "  HostKeyAlias real\n  Port ", 1)
	known := strings.Fields(s.KnownHost(t))
	write(t, filepath.Join(s.Dir, "known_hosts"), "real "+known[1]+" "+known[2]+"\n")
	write(t, s.Config, replacePort(config, l.Addr().(*net.TCPAddr).Port))
	if _, err := dial(t, s, sshhost.Options{}); err != nil {
		t.Error(err)
	}
}

func TestArgumentsArePlain(t *testing.T) {
	c := mustDial(t, sshtest.Start(t, sshtest.Options{}))
	for _, bad := range []string{"", "a b", "$(id)", "a;b", "a'b", "ä"} {
		if _, err := c.Run(context.Background(), sshhost.Script{Name: "test", Text: "id", Args: []string{bad}}); err == nil {
			t.Errorf("argument %q was passed on", bad)
		}
	}
}

func TestOutputIsBoundedByDefault(t *testing.T) {
	c := mustDial(t, sshtest.Start(t, sshtest.Options{}))
	out, err := c.Run(context.Background(), sshhost.Script{Name: "test", Text: "cat /dev/zero"})
	if !errors.Is(err, host.ErrTooLarge) || len(out) != host.MaxOutput {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func TestPiper(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	hosttest.Piper(t, &sshhost.Runner{Name: "there", Dial: func(context.Context) (*sshhost.Client, error) { return mustDial(t, s), nil }}, false)
}

// TestLoginHasAHomeOfItsOwn: the files of the user who runs the tests are not read.
func TestLoginHasAHomeOfItsOwn(t *testing.T) {
	s := sshtest.Start(t, sshtest.Options{})
	out, err := mustDial(t, s).Run(t.Context(), sshhost.Script{Name: "home", Text: "echo $HOME"})
	if err != nil || string(out) != s.Dir+"\n" {
		t.Errorf("its home is %q, %v; want %s", out, err, s.Dir)
	}
}
