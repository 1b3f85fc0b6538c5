package server_test

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/internal/labtest"
	"linerate/internal/server"
	"linerate/internal/setting"
)

// TestPostfixComesAndGoesAtOnce: Postfix waits two seconds for a main.cf or table that looks freshly written, and
// for a second if it cannot signal its process group.
func TestPostfixComesAndGoesAtOnce(t *testing.T) {
	need(t)
	if err := server.MailInstalled(); err != nil {
		labtest.Lacking(t, "%v", err)
	}
	box := newBox(t)
	if err := box.MakeDisk(disk("tmpfs", ""), nil); err != nil {
		t.Fatal(err)
	}
	p, err := box.StartMail(t.Context(), setting.Mail{Accounts: 3}, server.DiskDir, loopback)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{setting.PostfixMain, setting.PostfixBoxes} {
		path, err := box.Path(name)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := os.Stat(path); err != nil || time.Since(s.ModTime()) < 10*time.Second {
			t.Errorf("%s looks new: %v, %v", name, s, err)
		}
	}
	if err := box.SyncDisk(); err != nil {
		t.Error(err)
	}
	// It takes mail before its log is written, by a process that it starts for that.
	said := func(what string) bool {
		log, err := box.Read(setting.PostfixLog)
		return err == nil && bytes.Contains(log, []byte(what))
	}
	labtest.Eventually(func() bool { return said("daemon started") })
	p.Stop()
	if log, err := box.Read(setting.PostfixLog); err != nil || bytes.Contains(log, []byte("fatal:")) || !bytes.Contains(log, []byte("daemon started")) {
		t.Errorf("%v, the log:\n%s", err, log)
	}
}

// TestTimeOfTheDeadCounts: the CPU time of exited processes is the server's.
func TestTimeOfTheDeadCounts(t *testing.T) {
	need(t)
	box := newBox(t)
	const burn = `sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; touch /tmp/done; sleep 100; :`
	p, err := box.Start(t.Context(), server.Program{Name: "sh", Argv: []string{"-c", burn}, Ready: func() error {
		_, err := os.Stat("/tmp/done")
		return err
	}})
	if err != nil {
		t.Fatal(err)
	}
	if took := p.CPU(); took < 30*time.Millisecond {
		t.Errorf("300,000 rounds took %v", took)
	}
	p.Stop()
}

// TestServersPrecedeAsTheirClients: a server's session has the same autogroup priority as linerate's.
func TestServersPrecedeAsTheirClients(t *testing.T) {
	labtest.Namespaces(t)
	if !labtest.OwnSession(t) {
		return
	}
	need(t)
	nice := func(pid string) string {
		text, err := os.ReadFile("/proc/" + pid + "/autogroup")
		if err != nil {
			t.Fatal(err)
		}
		_, n, _ := strings.Cut(strings.TrimSpace(string(text)), " nice ")
		return n
	}
	if err := os.WriteFile("/proc/self/autogroup", []byte("-3"), 0); err != nil {
		t.Fatalf("the session's priority cannot be set: %v", err)
	}
	box := newBox(t)
	p, err := box.Start(t.Context(), server.Program{Name: "sleep", Argv: []string{"100"}, Ready: func() error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range p.PIDs() {
		if n := nice(strconv.Itoa(pid)); n != "-3" {
			t.Errorf("the server's session has nice %s", n)
		}
	}
	p.Stop()
}
