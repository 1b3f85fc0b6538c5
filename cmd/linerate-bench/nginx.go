package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"linerate/internal/wait"

	"linerate/internal/cli"
	"linerate/internal/hint"
	"linerate/internal/server"
)

// nginx is a server of this command's own, in a temporary directory and on
// loopback. The machine's own configuration and servers are left alone.
type nginx struct {
	dir, plain, secure string
	cmd                *exec.Cmd
}

const nginxConf = `daemon off; worker_processes 1; pid %[1]s/pid; error_log %[1]s/error.log;
events { worker_connections 4096; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;
  client_body_temp_path %[1]s/tmp; proxy_temp_path %[1]s/tmp; fastcgi_temp_path %[1]s/tmp; uwsgi_temp_path %[1]s/tmp; scgi_temp_path %[1]s/tmp;
  server {
    listen %[2]s; listen %[3]s ssl http2; root %[1]s/html;
    ssl_certificate %[1]s/cert.pem; ssl_certificate_key %[1]s/key.pem;
  }
}
`

// startNginx starts one, with objects /600, /24k and /350k.
func startNginx(ctx context.Context) (*nginx, error) {
	path, err := exec.LookPath("nginx")
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/nginx") // not on everybody's PATH
	}
	if err != nil {
		return nil, hint.With(errors.New("nginx is not installed"), "install the package nginx-light (Debian) or nginx (FreeBSD)")
	}
	n := &nginx{}
	if err := n.prepare(); err != nil {
		n.stop()
		return nil, err
	}
	n.cmd = exec.CommandContext(ctx, path, "-p", n.dir, "-c", filepath.Join(n.dir, "nginx.conf"), "-e", filepath.Join(n.dir, "error.log"))
	cli.EndsWithUs(n.cmd)
	n.cmd.Cancel = func() error { return n.cmd.Process.Signal(syscall.SIGTERM) }
	if err := startApart(n.cmd, true); err != nil {
		n.cmd = nil
		n.stop()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	if err := n.answers(ctx); err != nil {
		n.stop()
		return nil, err
	}
	return n, nil
}

// prepare writes the configuration, the certificate and the objects.
func (n *nginx) prepare() (err error) {
	if n.dir, err = os.MkdirTemp("", "linerate-nginx"); err != nil {
		return err
	}
	html := filepath.Join(n.dir, "html")
	plain, err1 := freeAddress()
	secure, err2 := freeAddress()
	// nginx's worker is another user and reads the objects.
	err = errors.Join(err1, err2, os.Chmod(n.dir, 0o755), os.Mkdir(html, 0o755), selfSigned(n.dir))
	for name, size := range map[string]int{"600": 600, "24k": 24_000, "350k": 350_000} {
		err = errors.Join(err, os.WriteFile(filepath.Join(html, name), make([]byte, size), 0o644))
	}
	n.plain, n.secure = "http://"+plain, "https://"+secure
	return errors.Join(err, os.WriteFile(filepath.Join(n.dir, "nginx.conf"), fmt.Appendf(nil, nginxConf, n.dir, plain, secure), 0o644))
}

// freeAddress is a loopback address with a port that was free a moment ago.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// answers waits until the server listens.
func (n *nginx) answers(ctx context.Context) error {
	for range 100 {
		c, err := net.Dial("tcp", n.plain[len("http://"):])
		if err == nil {
			return c.Close()
		}
		if err := wait.For(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	log, _ := os.ReadFile(filepath.Join(n.dir, "error.log")) // what there is of it
	return fmt.Errorf("nginx does not listen after five seconds: %.500s", log)
}

// busy is the CPU time of its worker so far.
func (n *nginx) busy() time.Duration { return childrensCPU(n.cmd.Process.Pid) }

// stop ends the server and removes its directory.
func (n *nginx) stop() {
	if n.cmd != nil {
		_ = n.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = n.cmd.Wait()                          // it was signalled to
	}
	if n.dir != "" {
		_ = os.RemoveAll(n.dir) // temporary
	}
}

// selfSigned writes key.pem and cert.pem, of loopback and for a day.
func selfSigned(dir string) error {
	cert, key, err := server.Certificate(net.IPv4(127, 0, 0, 1))
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(dir, "cert.pem"), cert, 0o600), os.WriteFile(filepath.Join(dir, "key.pem"), key, 0o600))
}
