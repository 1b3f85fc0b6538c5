package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"linerate/internal/labtest"
	"linerate/internal/ledger"
	"linerate/internal/ledger/ledgertest"
	"linerate/internal/ledger/postgres"
)

// serverEnv names a server to test on, as a URL; "required" makes its absence
// a failure. Without it the tests start a private server from the system's
// package, on a socket in a temporary folder, and skip where there is none.
const serverEnv = "LINERATE_TEST_POSTGRES"

var server struct {
	once sync.Once
	url  string
	skip string
	stop func()
}

func TestMain(m *testing.M) {
	code := m.Run()
	if server.stop != nil {
		server.stop()
	}
	os.Exit(code)
}

func need(t *testing.T) string {
	t.Helper()
	server.once.Do(func() {
		env := os.Getenv(serverEnv)
		if env != "" && env != "required" {
			server.url = env
			return
		}
		server.url, server.stop, server.skip = start()
		if server.skip != "" && env == "required" {
			server.skip = "!" + server.skip
		}
	})
	if why, ok := strings.CutPrefix(server.skip, "!"); ok {
		t.Fatalf("PostgreSQL is required here, but %s", why)
	}
	if server.skip != "" {
		labtest.Lacking(t, "no PostgreSQL: %s", server.skip)
	}
	return server.url
}

// start runs a private server that no network reaches.
func start() (at string, stop func(), skip string) {
	bin := binaries()
	if bin == "" {
		return "", nil, "initdb is not installed (Debian: postgresql)"
	}
	dir, err := os.MkdirTemp("/tmp", "lnrt-pg")
	if err != nil {
		return "", nil, err.Error()
	}
	stop = func() { os.RemoveAll(dir) }
	who, err := unprivileged(dir)
	if err != nil {
		stop()
		return "", nil, err.Error()
	}
	data := filepath.Join(dir, "data")
	if out, err := run(who, filepath.Join(bin, "initdb"), "-D", data, "-U", "linerate", "-A", "trust", "-E", "UTF8", "--no-sync"); err != nil {
		stop()
		return "", nil, fmt.Sprintf("initdb: %v: %s", err, out)
	}
	cmd := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "max_connections=60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		stop()
		return "", nil, err.Error()
	}
	at = "postgres:///postgres?" + url.Values{"host": {dir}, "user": {"linerate"}}.Encode()
	stop = func() {
		cmd.Process.Signal(syscall.SIGQUIT)
		cmd.Wait()
		os.RemoveAll(dir)
	}
	for range 100 {
		if db, err := sql.Open("pgx", at); err == nil {
			err = db.Ping()
			db.Close()
			if err == nil {
				return at, stop, ""
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	stop()
	return "", nil, "the server did not come up"
}

func binaries() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
	}
	if p, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(p)
	}
	return ""
}

// unprivileged is who may run the server: PostgreSQL refuses root.
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
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

func run(who *syscall.Credential, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var count int

// fresh makes an empty database on the server and returns its URL.
func fresh(t *testing.T) string {
	t.Helper()
	at := need(t)
	db, err := sql.Open("pgx", at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	count++
	name := fmt.Sprintf("linerate_test_%d_%d", os.Getpid(), count)
	if _, err := db.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		db, err := sql.Open("pgx", at)
		if err == nil {
			db.Exec("DROP DATABASE " + name + " WITH (FORCE)")
			db.Close()
		}
	})
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

func TestConformance(t *testing.T) {
	need(t)
	ledgertest.Run(t, func(t *testing.T) ledgertest.Open {
		at := fresh(t)
		return func(t *testing.T) ledger.Store {
			s, err := postgres.Open(context.Background(), at)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return s
		}
	})
}

func TestOpenHidesThePassword(t *testing.T) {
	for _, u := range []string{"postgres://u:geheim@[bad", "postgres://u:geheim@127.0.0.1:1/x?connect_timeout=1"} {
		if _, err := postgres.Open(t.Context(), u); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("Open: %v", err)
		}
	}
}

// TestReadOnly: PostgreSQL itself refuses to write what was opened to be read.
func TestReadOnly(t *testing.T) {
	at := fresh(t)
	open := func() (ledger.Reader, error) { return postgres.OpenReadOnly(context.Background(), at) }
	ledgertest.ReadOnlyEmpty(t, open)
	s, err := postgres.Open(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ledgertest.ReadOnly(t, s, open, func() (ledger.Store, error) { return postgres.UnwrappedReadOnly(context.Background(), at) })
}
