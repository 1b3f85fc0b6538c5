package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/host/sshhost/sshtest"
	"linerate/internal/labtest"
	"linerate/internal/port"
	"linerate/internal/server"
	"linerate/internal/setting"
	"linerate/internal/testbed"
	"linerate/internal/testbed/netnsbed"
)

// production is a serving host: a real nginx and a real sshd in namespaces, behind a link of
// 100 ms, with a number of visitors that varies threefold.
type production struct {
	t    *testing.T
	site testbed.Site
	box  *server.Box
	ssh  *sshtest.Server
	dir  string // the controller's directory, on the visitors' side
}

// hostDir is the host's root within the box, on a separate disk that can be filled up.
const hostDir = "host"

// accessLog is nginx's access log, as a path on the host.
const accessLog = setting.ServerRoot + "/" + setting.NGINXAccessLog

func newProduction(t *testing.T) *production {
	t.Helper()
	labtest.Namespaces(t)
	bed, err := netnsbed.UpSites(t.Context(), false)
	if err != nil {
		labtest.Lacking(t, "no sites here: %v", err)
	}
	t.Cleanup(func() { _ = bed.Close() })
	sites, err := bed.Raise(t.Context(), testbed.Layout{Clients: 1, Seed: 1, Link: testbed.Link{Delay: 50 * time.Millisecond, Rate: 2e8}}, []testbed.Settings{{Name: "host"}})
	if err != nil {
		t.Fatal(err)
	}
	p := &production{t: t, site: sites[0], dir: t.TempDir()}
	if p.box, err = server.NewBox(p.site.Server); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.box.Close() })
	// As on a busy server, unsent data waits in nginx rather than in the kernel, so nginx's log shows the delay.
	p.set("net/ipv4/tcp_notsent_lowat", "16384")
	// BBR may be the kernel's default, and does not restart slow start after idle.
	p.set("net/ipv4/tcp_congestion_control", "reno")
	if _, err := p.box.StartWeb(t.Context(), setting.Web{Sizes: []int{objectSize}, Log: true, Directives: map[string]string{"keepalive_requests": "1000000"}}, p.site.Address); err != nil {
		labtest.Lacking(t, "no web server here: %v", err)
	}
	if err := p.box.Mkdir(hostDir, 0o755); err != nil {
		t.Fatal(err)
	}
	root := setting.ServerRoot + "/" + hostDir
	if err := p.box.Do(func() error { return unix.Mount("host", root, "tmpfs", 0, "size=4m") }); err != nil {
		t.Fatal(err)
	}
	p.ssh = sshtest.Start(t, sshtest.Options{Listen: p.site.Address.String(), Start: p.startInBox, Env: []string{"LINERATE_ROOT=" + root, "LINERATE_INIT=none"}})
	return p
}

// calm makes the host's CPU time and run queue read as constant: a host's guardrails watch the
// whole machine, which also runs other tests, and would trip on those.
func (p *production) calm() {
	p.t.Helper()
	stat, err := os.ReadFile("/proc/stat")
	if err == nil {
		err = p.box.Write("stat", stat, 0o444)
	}
	if err == nil {
		err = p.box.Do(func() error { return unix.Mount(setting.ServerRoot+"/stat", "/proc/stat", "", unix.MS_BIND, "") })
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// startInBox starts a command in the server's namespaces. Files for sshd are copied there,
// because the box has its own /tmp.
func (p *production) startInBox(cmd *exec.Cmd) error {
	if last := cmd.Args[len(cmd.Args)-1]; filepath.Base(last) == "sshd_config" {
		dir := filepath.Dir(last)
		within, err := filepath.Rel(setting.ServerRoot, dir)
		if err != nil || !filepath.IsLocal(within) { // other paths are the same inside the box
			return errors.Join(err, p.box.Do(cmd.Start))
		}
		for _, name := range []string{"sshd_config", "host_key", "authorized_keys"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			if err := p.box.Write(filepath.Join(within, name), data, 0o600); err != nil {
				return err
			}
		}
	}
	return p.box.Do(cmd.Start)
}

// set writes a sysctl of the host; get reads it.
func (p *production) set(name, value string) {
	p.t.Helper()
	if err := p.site.Server(func() error { return os.WriteFile("/proc/sys/"+name, []byte(value), 0) }); err != nil {
		p.t.Fatalf("set %s: %v", name, err)
	}
}

func (p *production) get(name string) (value string) {
	p.t.Helper()
	if err := p.site.Server(func() error {
		v, err := os.ReadFile("/proc/sys/" + name)
		value = strings.Join(strings.Fields(string(v)), " ")
		return err
	}); err != nil {
		p.t.Fatalf("read %s: %v", name, err)
	}
	return value
}

// link takes the visitors' link, which the controller uses too, up or down.
func (p *production) link(state string) {
	p.t.Helper()
	cmd := exec.Command("ip", "link", "set", "gen0", state)
	if err := p.site.Clients(cmd.Run); err != nil {
		p.t.Fatalf("take the link %s: %v", state, err)
	}
}

// prove starts a study of the host from the visitors' side.
func (p *production) prove(args ...string) *proving {
	p.t.Helper()
	s := &proving{ended: make(chan error, 1), dir: filepath.Join(p.dir, fmt.Sprint("record", rand.Uint32()))}
	args = append([]string{"prove", "ssh://box", "--ssh-config", p.ssh.Config, "--yes", "--ledger=none", "--out", s.dir}, args...)
	// NAME=VALUE goes before the host.
	args[1], args[len(args)-1] = args[len(args)-1], args[1]
	s.cmd = exec.Command("linerate", args...)
	log, err := os.Create(s.dir + ".log")
	if err != nil {
		p.t.Fatal(err)
	}
	s.cmd.Stdout, s.cmd.Stderr = log, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that freeze reaches its children
	if err := p.site.Clients(s.cmd.Start); err != nil {
		p.t.Fatal(err)
	}
	go func() { s.ended <- s.cmd.Wait(); log.Close() }()
	p.t.Cleanup(s.kill)
	return s
}

// proving is a running study.
type proving struct {
	cmd   *exec.Cmd
	dir   string
	ended chan error
}

func (s *proving) kill() { _ = s.cmd.Process.Kill() }

// freeze stops the study with all its children, including its SSH connections, as suspending
// the machine would; thaw continues them.
func (s *proving) freeze() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGSTOP) }

func (s *proving) thaw() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGCONT) }

// said returns the study's output so far.
func (s *proving) said() string {
	text, _ := os.ReadFile(s.dir + ".log")
	return string(text)
}

// objectSize is the size of the object that visitors fetch: several round trips in slow start,
// and little more than the link's delay without it.
const objectSize = 400_000

// visitors starts n visitors: each fetches the object over a persistent connection, pauses for
// longer than TCP keeps its congestion window, and fetches again. The number of active
// visitors varies threefold within a minute. They stop when the test ends.
func (p *production) visitors(n, each int) {
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	p.t.Cleanup(func() { stop(); all.Wait() })
	begin := time.Now()
	at := netip.AddrPortFrom(p.site.Address, setting.HTTPPort)
	for i := range n {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for ctx.Err() == nil {
				visit(ctx, p.site.Clients, at, each, func() time.Duration {
					rush := 2 - math.Cos(2*math.Pi*time.Since(begin).Minutes()) // 1 to 3
					return time.Duration((1.2 + r.ExpFloat64()) * float64(3*time.Second) / rush / 2)
				})
			}
		})
	}
}

// visit fetches repeatedly over one connection, until it breaks.
func visit(ctx context.Context, from port.Place, at netip.AddrPort, times int, think func() time.Duration) {
	var conn net.Conn
	err := from(func() (err error) {
		conn, err = (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", at.String())
		return err
	})
	if err != nil {
		wait(ctx, time.Second)
		return
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	answers := bufio.NewReaderSize(conn, 64<<10)
	for range times {
		if !wait(ctx, think()) {
			return
		}
		_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: www\r\n\r\n", setting.ObjectPath(objectSize)); err != nil {
			return
		}
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			return
		}
		_, err = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if err != nil {
			return
		}
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// proxied starts a service on the host that fetches each request from an origin behind the link
// over a new connection: a small receive buffer slows it down at once, whereas existing sockets
// keep their buffers. It stops when the test ends.
func (p *production) proxied() (address string) {
	origin := p.listen(p.site.Clients, p.site.Sources[0], func(c net.Conn) error {
		_, err := c.Write(make([]byte, proxiedSize))
		return err
	})
	return p.listen(p.site.Server, p.site.Address, func(c net.Conn) error {
		var from net.Conn
		err := p.site.Server(func() (err error) {
			from, err = net.DialTimeout("tcp", origin, 10*time.Second)
			return err
		})
		if err != nil {
			return err
		}
		defer from.Close()
		_, err = io.Copy(c, from)
		return err
	})
}

// listen serves connections to a port until the test ends.
func (p *production) listen(in port.Place, at netip.Addr, serve func(net.Conn) error) string {
	p.t.Helper()
	var l net.Listener
	err := in(func() (err error) {
		l, err = net.Listen("tcp", netip.AddrPortFrom(at, 0).String())
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_ = serve(c) // the client reports short reads
			}()
		}
	}()
	return l.Addr().String()
}
