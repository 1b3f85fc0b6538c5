package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/user"
	"strconv"
	"time"

	"linerate/internal/setting"
)

// Postfix is Postfix' master daemon, with the package name of Debian and FreeBSD.
var Postfix = Program{Name: "master", Package: "postfix", Argv: []string{"-c", Root + "/" + setting.PostfixDir, "-s", "-d"}, Log: setting.PostfixLog, Parented: true}

// postfixDirs lists the directories of Postfix's daemons and programs in distributions.
var postfixDirs = [][2]string{{"/usr/lib/postfix/sbin", "/usr/sbin"}, {"/usr/libexec/postfix", "/usr/sbin"}, {"/usr/local/libexec/postfix", "/usr/local/sbin"}}

// postfixHere describes Postfix on this machine: its location, its user, and the group that may
// submit mail.
type postfixHere struct {
	daemons, programs  string
	owner, group, drop int
}

// MailInstalled returns an error unless Postfix is on this machine, with its user; it is a
// MissingError with a hint.
func MailInstalled() error {
	_, err := findPostfix()
	return err
}

func findPostfix() (p postfixHere, err error) {
	for _, d := range postfixDirs {
		if _, err := os.Stat(d[0] + "/master"); err == nil && p.daemons == "" {
			p.daemons, p.programs = d[0], d[1]
		}
	}
	u, noUser := user.Lookup("postfix")
	g, noGroup := user.LookupGroup("postdrop")
	if p.daemons == "" || noUser != nil || noGroup != nil {
		return p, missing(&MissingError{Program: "postfix", Package: "postfix"})
	}
	var errs [3]error
	p.owner, errs[0] = strconv.Atoi(u.Uid)
	p.group, errs[1] = strconv.Atoi(u.Gid)
	p.drop, errs[2] = strconv.Atoi(g.Gid)
	return p, errors.Join(errs[:]...)
}

// StartMail starts Postfix in the Box, with its queue and mailboxes in a directory of the Box, and
// waits until it greets at an address of its network namespace. It uses only accounts and
// parameters of m.
func (b *Box) StartMail(ctx context.Context, m setting.Mail, dir string, at netip.Addr) (*Process, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	here, err := findPostfix()
	if err != nil {
		return nil, err
	}
	m.Root, m.Disk, m.Owner, m.Group = Root, Root+"/"+dir, here.owner, here.group
	m.Daemons, m.Programs = here.daemons, here.programs
	if err := b.prepareMail(m, dir, here.drop); err != nil {
		return nil, fmt.Errorf("prepare Postfix: %w", err)
	}
	p := Postfix
	p.Name = m.Daemons + "/master"
	p.Ready = func() error { return greets(netip.AddrPortFrom(at, setting.SMTPPort)) }
	return b.Start(ctx, p)
}

// prepareMail writes the configuration and creates the queue's directories with the owners that
// Postfix requires.
func (b *Box) prepareMail(m setting.Mail, dir string, drop int) error {
	type place struct {
		name       string
		mode       os.FileMode
		owner, grp int
	}
	places := []place{{"log", 0o755, 0, 0}, {"data", 0o700, m.Owner, 0}, {dir + "/mail", 0o700, m.Owner, m.Group}, {dir + "/spool", 0o755, 0, 0}, {dir + "/spool/pid", 0o755, 0, 0},
		{dir + "/spool/public", 0o710, m.Owner, drop}, {dir + "/spool/maildrop", 0o730, m.Owner, drop}}
	for _, q := range []string{"incoming", "active", "deferred", "bounce", "defer", "corrupt", "flush", "saved", "trace", "hold", "private"} {
		places = append(places, place{dir + "/spool/" + q, 0o700, m.Owner, 0})
	}
	for _, d := range places {
		if err := b.Mkdir(d.name, d.mode); err != nil {
			return err
		}
		path, err := b.Path(d.name)
		if err != nil {
			return err
		}
		if err := os.Chown(path, d.owner, d.grp); err != nil {
			return err
		}
	}
	if err := errors.Join(b.Write(setting.PostfixMain, []byte(m.Main()), 0o644), b.Write(setting.PostfixMaster, []byte(m.Master()), 0o644), b.Write(setting.PostfixBoxes, m.Table(), 0o644)); err != nil {
		return err
	}
	return errors.Join(b.age(setting.PostfixMain), b.age(setting.PostfixBoxes))
}

// age makes a file look older: Postfix assumes that a just written file is still being written, and
// waits two seconds. Each of its processes that reads the table of accounts does that.
func (b *Box) age(name string) error {
	path, err := b.Path(name)
	if err != nil {
		return err
	}
	then := time.Now().Add(-time.Minute)
	return os.Chtimes(path, then, then)
}

// greets checks whether a mail server sends its greeting.
func greets(at netip.AddrPort) error {
	c, err := dialFor(at, 2*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	buf := make([]byte, 512)
	n, err := c.Read(buf)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(buf[:n], []byte("220 ")) {
		return fmt.Errorf("it greets with %.100q", buf[:n])
	}
	_, _ = c.Write([]byte("QUIT\r\n")) // it is closed anyway
	return nil
}

// MailLog reads Postfix's log so far.
func (b *Box) MailLog() (setting.MailLog, error) {
	path, err := b.Path(setting.PostfixLog)
	if err != nil {
		return setting.MailLog{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return setting.MailLog{}, fmt.Errorf("read Postfix's log: %w", err)
	}
	defer f.Close()
	return setting.ReadMailLog(f)
}
