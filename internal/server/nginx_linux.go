package server

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/user"
	"strings"
	"time"

	"linerate/internal/setting"
)

// NGINX is the program, with the package names of Debian and FreeBSD.
var NGINX = Program{Name: "nginx", Package: "nginx-light (Debian) or nginx (FreeBSD)", Argv: []string{"-p", Root, "-c", Root + "/" + setting.NGINXConf, "-e", Root + "/" + setting.NGINXErrorLog}, Log: setting.NGINXErrorLog}

// StartWeb starts nginx in the Box, for requests to an address of its network namespace, and waits
// until it listens there.
func (b *Box) StartWeb(ctx context.Context, w setting.Web, at netip.Addr) (*Process, error) {
	if err := NGINX.Installed(); err != nil {
		return nil, err
	}
	if err := w.Validate(); err != nil {
		return nil, err
	}
	w.User = workersOf()
	if err := b.prepareWeb(w, at); err != nil {
		return nil, err
	}
	p := NGINX
	p.Ready = func() error { return dial(netip.AddrPortFrom(at, setting.HTTPPort)) }
	return b.Start(ctx, p)
}

// dial checks whether something listens.
func dial(at netip.AddrPort) error {
	c, err := dialFor(at, time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

// dialFor connects; the connection has a deadline after d.
func dialFor(at netip.AddrPort, d time.Duration) (net.Conn, error) {
	c, err := net.DialTimeout("tcp", at.String(), d)
	if err == nil {
		err = c.SetDeadline(time.Now().Add(d))
	}
	return c, err
}

// prepareWeb writes the configuration, the certificate and the objects.
func (b *Box) prepareWeb(w setting.Web, at netip.Addr) error {
	for _, dir := range []string{"log", "html"} {
		if err := b.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	for _, dir := range []string{"spool", "cache"} {
		if err := b.Mkdir(dir, 0o777); err != nil { // its workers run as another user
			return err
		}
	}
	if w.TLS {
		cert, key, err := Certificate(at.AsSlice())
		if err != nil {
			return err
		}
		if err := b.Write(setting.CertFile, cert, 0o644); err != nil {
			return err
		}
		if err := b.Write(setting.KeyFile, key, 0o600); err != nil {
			return err
		}
	}
	for _, size := range w.Sizes {
		if err := b.object(size); err != nil {
			return err
		}
	}
	return b.Write(setting.NGINXConf, []byte(w.Config()), 0o644)
}

// object creates a file of a given size with incompressible content.
func (b *Box) object(size int) error {
	body := make([]byte, size)
	x := uint32(size)
	for i := range body {
		x = x*1664525 + 1013904223 // the generator of Numerical Recipes
		body[i] = byte(x >> 24)
	}
	if err := b.Write("html"+setting.ObjectPath(size), body, 0o644); err != nil {
		return fmt.Errorf("make an object of %d bytes: %w", size, err)
	}
	return nil
}

// workersOf returns the user and group of a server's workers: "nobody", or root in a user namespace
// that maps only root.
func workersOf() string {
	ids, err := os.ReadFile("/proc/self/uid_map")
	if f := strings.Fields(string(ids)); err == nil && len(f) == 3 && f[2] == "1" {
		return "root root"
	}
	if _, err := user.LookupGroup("nogroup"); err == nil {
		return "nobody nogroup"
	}
	return "nobody"
}
