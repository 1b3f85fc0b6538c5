// Package pgserver runs a private PostgreSQL for tests: from the system's
// package, in its own directory, on a Unix socket only, as an unprivileged user.
// It can be killed and restarted, as after a crash.
package pgserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // for checking whether it is ready
)

// ErrMissing is returned if this machine has no PostgreSQL.
var ErrMissing = errors.New("initdb is not installed (Debian: postgresql)")

// Server is a PostgreSQL server.
type Server struct {
	URL string // of its database postgres
	bin string
	dir string
	who *syscall.Credential
	cmd *exec.Cmd
}

// New creates a server's data directory and starts it. Committed data survive a kill of the server, but not
// a crash of the machine, since nothing is synced. The error is ErrMissing if there is no PostgreSQL.
func New() (s *Server, err error) {
	bin := binaries()
	if bin == "" {
		return nil, ErrMissing
	}
	base := os.TempDir()
	if len(base) > longestBase || !public(base) {
		base = "/tmp"
	}
	dir, err := os.MkdirTemp(base, "lnrt-pg")
	if err != nil {
		return nil, err
	}
	s = &Server{bin: bin, dir: dir, URL: "postgres:///postgres?" + url.Values{"host": {dir}, "user": {"linerate"}}.Encode()}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if s.who, err = unprivileged(dir); err != nil {
		return s, err
	}
	if out, err := s.run("initdb", "-D", s.data(), "-U", "linerate", "-A", "trust", "-E", "UTF8", "--no-sync"); err != nil {
		return s, fmt.Errorf("initdb: %w: %s", err, out)
	}
	return s, s.Start()
}

// public reports whether all users can enter a directory.
func public(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// longestBase is the longest path of the directory for a server's socket: socket
// addresses have at least 104 bytes.
const longestBase = 60

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// patience is how long a server may take to start: after a kill its children must have
// ended, all files are synced to a possibly busy disk, and the log is replayed.
const patience = 2 * time.Minute

// Start starts the server again, after Kill, and waits until it answers.
func (s *Server) Start() error {
	var last error
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(50 * time.Millisecond) {
		if last = s.start(); last == nil {
			return nil
		}
	}
	return fmt.Errorf("PostgreSQL did not come up: %w", last)
}

// start tries once: the server exits at once while children of a killed one are alive.
func (s *Server) start() error {
	out, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(filepath.Join(s.bin, "postgres"), "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "max_connections=120", "-c", "fsync=off")
	cmd.SysProcAttr, cmd.Dir, cmd.Stdout, cmd.Stderr = &syscall.SysProcAttr{Credential: s.who}, s.dir, out, out
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for begun := time.Now(); time.Since(begun) < patience; {
		select {
		case err := <-ended:
			return fmt.Errorf("it ended: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
		if s.answers() {
			s.cmd = cmd
			return nil
		}
	}
	_ = cmd.Process.Kill()
	return errors.New("it does not answer")
}

func (s *Server) answers() bool {
	db, err := sql.Open("pgx", s.URL)
	if err != nil {
		return false
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return db.PingContext(ctx) == nil
}

// Kill kills the server like kill -9; its children end when they notice.
func (s *Server) Kill() error {
	if s.cmd == nil {
		return errors.New("PostgreSQL does not run")
	}
	err := s.cmd.Process.Kill()
	s.cmd = nil
	return err
}

// Stop stops the server and removes its data.
func (s *Server) Stop() error {
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(syscall.SIGQUIT)
		for i := 0; i < 100 && s.answers(); i++ {
			time.Sleep(20 * time.Millisecond)
		}
	}
	return os.RemoveAll(s.dir)
}

// Fresh creates an empty database on the server and returns its URL.
func (s *Server) Fresh(name string) (string, error) {
	db, err := sql.Open("pgx", s.URL)
	if err != nil {
		return "", err
	}
	defer db.Close()
	if _, err := db.Exec("CREATE DATABASE " + name); err != nil {
		return "", err
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), nil
}

func binaries() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is valid
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
	}
	if p, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(p)
	}
	return ""
}

// unprivileged returns the user who runs the server: PostgreSQL refuses root.
func unprivileged(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, uid, gid)
}

func (s *Server) run(name string, args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Credential: s.who}, "/"
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// drop removes a database, even one in use; one that remains is removed with the server.
func (s *Server) drop(name string) {
	db, err := sql.Open("pgx", s.URL)
	if err != nil {
		return
	}
	defer db.Close()
	_, _ = db.Exec("DROP DATABASE " + name + " WITH (FORCE)")
}
