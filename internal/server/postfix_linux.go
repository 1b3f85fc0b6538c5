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

// Postfix is its master daemon, as Debian and FreeBSD call its package.
var Postfix = Program{Name: "master", Package: "postfix", Argv: []string{"-c", Root + "/" + setting.PostfixDir, "-s", "-d"}, Log: setting.PostfixLog, Parented: true}

// postfixDirs are where distributions have Postfix's daemons, and its programs.
var postfixDirs = [][2]string{{"/usr/lib/postfix/sbin", "/usr/sbin"}, {"/usr/libexec/postfix", "/usr/sbin"}, {"/usr/local/libexec/postfix", "/usr/local/sbin"}}

// MailInstalled tells whether Postfix is on this machine, with its user; the
// error is a MissingError with a hint.
func MailInstalled() error {
	if _, _, ok := postfixAt(); !ok {
		return missing(&MissingError{Program: "postfix", Package: "postfix"})
	}
	_, err := postfixIDs()
	return err
}

func postfixAt() (daemons, programs string, ok bool) {
	for _, d := range postfixDirs {
		if _, err := os.Stat(d[0] + "/master"); err == nil {
			return d[0], d[1], true
		}
	}
	return "", "", false
}

// ids of whom Postfix runs as, and of who may submit mail.
type ids struct{ owner, group, drop int }

func postfixIDs() (out ids, err error) {
	u, err := user.Lookup("postfix")
	if err != nil {
		return out, missing(&MissingError{Program: "postfix", Package: "postfix"})
	}
	g, err := user.LookupGroup("postdrop")
	if err != nil {
		return out, missing(&MissingError{Program: "postfix", Package: "postfix"})
	}
	var errs [3]error
	out.owner, errs[0] = strconv.Atoi(u.Uid)
	out.group, errs[1] = strconv.Atoi(u.Gid)
	out.drop, errs[2] = strconv.Atoi(g.Gid)
	return out, errors.Join(errs[:]...)
}

// StartMail starts Postfix in the Box, with its queue and mailboxes in a
// directory of it, and waits until it greets at an address of its network
// namespace. Only accounts and parameters of m are looked at.
func (b *Box) StartMail(ctx context.Context, m setting.Mail, dir string, at netip.Addr) (*Process, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if err := MailInstalled(); err != nil {
		return nil, err
	}
	who, err := postfixIDs()
	if err != nil {
		return nil, err
	}
	m.Root, m.Disk, m.Owner, m.Group = Root, Root+"/"+dir, who.owner, who.group
	m.Daemons, m.Programs, _ = postfixAt()
	if err := b.prepareMail(m, dir, who); err != nil {
		return nil, fmt.Errorf("prepare Postfix: %w", err)
	}
	p := Postfix
	p.Name = m.Daemons + "/master"
	p.Ready = func() error { return greets(netip.AddrPortFrom(at, setting.SMTPPort)) }
	return b.Start(ctx, p)
}

// prepareMail writes the configuration and makes the queue's directories as
// Postfix wants them owned.
func (b *Box) prepareMail(m setting.Mail, dir string, who ids) error {
	type place struct {
		name       string
		mode       os.FileMode
		owner, grp int
	}
	places := []place{{"log", 0o755, 0, 0}, {"data", 0o700, who.owner, 0}, {dir + "/mail", 0o700, who.owner, who.group}, {dir + "/spool", 0o755, 0, 0}, {dir + "/spool/pid", 0o755, 0, 0},
		{dir + "/spool/public", 0o710, who.owner, who.drop}, {dir + "/spool/maildrop", 0o730, who.owner, who.drop}}
	for _, q := range []string{"incoming", "active", "deferred", "bounce", "defer", "corrupt", "flush", "saved", "trace", "hold", "private"} {
		places = append(places, place{dir + "/spool/" + q, 0o700, who.owner, 0})
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

// age makes a file look older than it is: Postfix takes one that was just
// written for one that is being written, and waits two seconds for its end.
// Each of its processes that reads the table of accounts does.
func (b *Box) age(name string) error {
	path, err := b.Path(name)
	if err != nil {
		return err
	}
	then := time.Now().Add(-time.Minute)
	return os.Chtimes(path, then, then)
}

// greets tries whether a mail server says who it is.
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
	_, _ = c.Write([]byte("QUIT\r\n")) // it is closed in any case
	return nil
}

// MailLog reads what Postfix has logged so far.
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
