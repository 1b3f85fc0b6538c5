// Package sshtest runs a real sshd(8) for tests, on a loopback address, with
// its own keys, configuration and known_hosts in a temporary directory.
package sshtest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"linerate/internal/labtest"
)

// Options of a server.
type Options struct {
	// Command replaces the login shell's command; SSH_ORIGINAL_COMMAND is the client's.
	Command string
	// Forward permits forwarded connections, as on a jump host.
	Forward bool
	// Namespace is the network namespace (ip-netns(8)) to run in, and Listen the address there; ""
	// is the current one, on 127.0.0.1.
	Namespace, Listen string
	// Start, if set, starts a command where the server is to run: in the network namespace that has
	// Listen.
	Start func(*exec.Cmd) error
	// Env is added to a login's environment: NAME=value.
	Env []string
}

// Server is a running sshd with the data that a client needs.
type Server struct {
	Dir    string // contains everything; the client's ~
	Port   int
	User   string
	Config string // ssh_config(5) with the host "box"
	listen string
	pid    int // of the sshd
	ended  <-chan struct{}
}

// Start runs an sshd until the test ends. It skips, or fails where the lab is
// required, if there is none.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	sshd, err := exec.LookPath("/usr/sbin/sshd")
	if err != nil {
		labtest.Lacking(t, "no sshd here: apt-get install openssh-server")
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Dir: t.TempDir(), User: me.Username, listen: o.Listen}
	if s.listen == "" {
		s.listen = "127.0.0.1"
	}
	s.Config = filepath.Join(s.Dir, "config")
	s.keygen(t, "host_key")
	s.keygen(t, "id")
	s.write(t, "authorized_keys", s.read(t, "id.pub"))
	if os.Getuid() == 0 { // for privilege separation
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 { // the port may be taken in between
		s.Port = freePort(t)
		if s.run(t, sshd, o) {
			s.write(t, "known_hosts", s.KnownHost(t))
			s.write(t, "config", s.ClientConfig("box"))
			return s
		}
	}
	t.Fatal("sshd did not start")
	return nil
}

func (s *Server) run(t testing.TB, sshd string, o Options) bool {
	t.Helper()
	// Without a post-quantum key exchange, of which each login would take tens of milliseconds of CPU time.
	config := fmt.Sprintf("KexAlgorithms curve25519-sha256\nPort %d\nListenAddress %s\nHostKey %s/host_key\nAuthorizedKeysFile %s/authorized_keys\nStrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\nPrintMotd no\nMaxStartups 100\nAllowTcpForwarding %s\n",
		s.Port, s.listen, s.Dir, s.Dir, map[bool]string{true: "yes", false: "no"}[o.Forward])
	if o.Command != "" {
		config += "ForceCommand " + o.Command + "\n"
	}
	// A separate home keeps the user's login scripts, such as ~/.bashrc, out of the test: they may
	// be slow.
	config += "SetEnv HOME=" + s.Dir + " " + strings.Join(o.Env, " ") + " TMPDIR=" + os.TempDir() + "\n"
	s.write(t, "sshd_config", config)
	log, err := os.Create(filepath.Join(s.Dir, "sshd.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	argv := []string{sshd, "-D", "-e", "-f", filepath.Join(s.Dir, "sshd_config")}
	if o.Namespace != "" {
		argv = append([]string{"ip", "netns", "exec", o.Namespace}, argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = ownSession()
	start := cmd.Start
	if o.Start != nil {
		start = func() error { return o.Start(cmd) }
	}
	if err := start(); err != nil {
		t.Fatal(err)
	}
	s.pid = cmd.Process.Pid
	over := s.watch(t)
	ended := make(chan struct{})
	s.ended = ended
	go func() { _ = cmd.Wait(); close(ended) }()
	for range 1500 {
		select {
		case <-ended:
			over()
			return false
		case <-time.After(20 * time.Millisecond):
		}
		if s.answers(o) {
			t.Cleanup(func() {
				over()
				_ = s.kill() // connections survive their server
				<-ended
			})
			return true
		}
	}
	over()
	_ = cmd.Process.Kill()
	<-ended
	t.Logf("sshd says: %s", s.read(t, "sshd.log"))
	return false
}

// ownSession protects an sshd and its watch from signals to the test's process group, as Ctrl-C
// sends: a login runs in its own session and would survive both.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// watch ends the sshd if this process ends without doing so, for example when killed; over ends the
// watch.
func (s *Server) watch(t testing.TB) (over func()) {
	t.Helper()
	w := exec.Command("/bin/sh", "-c", `read x; kill -STOP "$1"; pkill -9 -P "$1"; kill -9 "$1"`, "sh", strconv.Itoa(s.pid))
	w.SysProcAttr = ownSession()
	ours, err := w.StdinPipe() // it closes when we exit
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		t.Fatalf("watch over the sshd: %v", err)
	}
	return func() {
		_ = w.Process.Kill()
		_ = w.Wait()
		_ = ours.Close()
	}
}

// answers reports whether the server listens; it checks a namespace from inside.
func (s *Server) answers(o Options) bool {
	if o.Start != nil {
		ask := exec.Command("ss", "-Hltn", "sport", "=", ":"+strconv.Itoa(s.Port))
		var out strings.Builder
		ask.Stdout = &out
		return o.Start(ask) == nil && ask.Wait() == nil && out.Len() > 0
	}
	if namespace := o.Namespace; namespace != "" {
		out, err := exec.Command("ip", "netns", "exec", namespace, "ss", "-Hltn", "sport", "=", ":"+strconv.Itoa(s.Port)).Output()
		return err == nil && len(out) > 0
	}
	conn, err := net.Dial("tcp", s.Address())
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// ClientConfig returns a Host block of ssh_config(5) for the server.
func (s *Server) ClientConfig(alias string) string {
	return fmt.Sprintf("Host %s\n  HostName %s\n  Port %d\n  User %s\n  IdentityFile %s/id\n  IdentityAgent none\n  UserKnownHostsFile %s/known_hosts\n  GlobalKnownHostsFile none\n",
		alias, s.listen, s.Port, s.User, s.Dir, s.Dir)
}

// KnownHost returns the server's known_hosts line.
func (s *Server) KnownHost(t testing.TB) string {
	fields := strings.Fields(s.read(t, "host_key.pub"))
	return fmt.Sprintf("[%s]:%d %s %s\n", s.listen, s.Port, fields[0], fields[1])
}

// Cut ends all connections; new ones are accepted.
func (s *Server) Cut(t testing.TB) {
	t.Helper()
	if out, err := exec.Command("pkill", "-KILL", "-P", strconv.Itoa(s.pid)).CombinedOutput(); err != nil {
		t.Errorf("cut the connections: %v: %s", err, out)
	}
}

// Stop ends the server and all connections.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.kill(); err != nil {
		t.Errorf("stop the sshd: %v", err)
	}
}

// kill ends the server and all connections, unless it has ended: its PID may be reused.
func (s *Server) kill() error {
	select {
	case <-s.ended:
		return nil
	default:
	}
	_ = syscall.Kill(s.pid, syscall.SIGSTOP) // no new connections meanwhile
	_ = exec.Command("pkill", "-KILL", "-P", strconv.Itoa(s.pid)).Run()
	return syscall.Kill(s.pid, syscall.SIGKILL)
}

// PID returns the PID of the sshd, whose mounts its logins see.
func (s *Server) PID() int { return s.pid }

// Address returns the address and port on which the server listens.
func (s *Server) Address() string { return net.JoinHostPort(s.listen, strconv.Itoa(s.Port)) }

func (s *Server) keygen(t testing.TB, name string) {
	t.Helper()
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(s.Dir, name)).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
}

func (s *Server) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.Dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) read(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
