package apply

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/internal/host/localhost"
	"linerate/internal/labtest"
	"linerate/internal/plan"
)

// passing is a clock in tenths of a second that advances only while the switch sleeps. It records what the
// switch starts.
const passing = `
NOTED=$ROOT/started
start_guard() { :; }
started() { case $ME in watch) echo "$1" >>"$NOTED" ;; esac; }
ME=${1-}
tenths() { read -r tenths <"$ROOT/clock"; }
sleep() {
	[ "$ME" = watch ] || { command sleep "$1"; return; }
	started sleep && tenths
	case $1 in 0.1) n=1 ;; *) n=$((10 * $1)) ;; esac
	echo $((tenths + n)) >"$ROOT/clock"
}
`

const passingLinux = `since_boot() { tenths && up=$((tenths / 10)); }
`

const passingFreeBSD = `date() { started date && tenths && echo $((1800000000 + tenths / 10)); }
uname() { echo FreeBSD; }
od() { started od; command od "$@"; }
tr() { started tr; command tr "$@"; }
`

// TestSwitchKeepsItsTime: a switch fires within the last second of the window and never later, although it
// reads the time only every five seconds until then.
func TestSwitchKeepsItsTime(t *testing.T) {
	t.Parallel()
	const window = 100
	for _, c := range []struct {
		name, before, os string
		most             int // programs
	}{
		{"Linux", passing + passingLinux, "linux", 33},
		{"FreeBSD", freebsdCommands + passing + passingFreeBSD, "freebsd", 3*2 + 2*33},
	} {
		for _, start := range []int{0, 9} {
			t.Run(fmt.Sprintf("%s from 0.%d s", c.name, start), func(t *testing.T) {
				root := t.TempDir()
				clock := filepath.Join(root, "clock")
				if err := os.WriteFile(clock, []byte(strconv.Itoa(start)+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				text := Script(c.before)
				if c.os == "freebsd" {
					text = strings.Replace(text, "OS=$(uname -s)", "OS=FreeBSD", 1)
				}
				m := OnWith(&localhost.Runner{Env: []string{"LINERATE_ROOT=" + root, "LINERATE_INIT=none", "FAKE=" + root}}, text)
				if _, _, err := m.Apply(t.Context(), Transaction{Plan: plan.Plan{Digest: AsIs}, Window: window * time.Second}); err != nil {
					t.Fatal(err)
				}
				if !labtest.Eventually(func() bool { st, err := m.Status(t.Context()); return err == nil && st.State == "idle" }) {
					t.Fatal("the switch never fired")
				}
				now, _ := os.ReadFile(clock)
				tenths, _ := strconv.Atoi(strings.TrimSpace(string(now)))
				if after := tenths - start; after > 10*window || after <= 10*(window-1) {
					t.Errorf("fired after %d tenths of a second, in a window of %d s", after, window)
				}
				started, _ := os.ReadFile(filepath.Join(root, "started"))
				if n := strings.Count(string(started), "\n"); n > c.most || n < window/5 {
					t.Errorf("started %d programs, want at most %d: %s", n, c.most, started)
				}
			})
		}
	}
}

// succeeded is a switch after which another transaction is applied while it sleeps: it has the same id, and
// a time that is over at once by this clock.
const succeeded = passing + passingLinux + `
sleep() {
	[ "$ME" = watch ] || { command sleep "$1"; return; }
	echo 1 >"$S/pending/watcher" && echo 999999 >"$ROOT/clock" && echo $$ >"$ROOT/slept"
}
`

// TestSwitchLeavesLaterTransactions: a switch reverts only the transaction that it was armed for.
func TestSwitchLeavesLaterTransactions(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "clock"), []byte("0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := OnWith(&localhost.Runner{Env: []string{"LINERATE_ROOT=" + root, "LINERATE_INIT=none", "FAKE=" + root}}, Script(succeeded))
	id, _, err := m.Apply(t.Context(), Transaction{Plan: plan.Plan{Digest: AsIs}, Window: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if !labtest.Eventually(func() bool {
		pid, _ := os.ReadFile(filepath.Join(root, "slept"))
		if len(pid) == 0 {
			return false
		}
		stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(pid)), "stat"))
		return err != nil || strings.Contains(string(stat), ") Z")
	}) {
		t.Fatal("the switch never ended")
	}
	if st, err := m.Status(t.Context()); err != nil || st.State != "pending" || st.ID != id {
		t.Errorf("%+v, %v; want %s pending", st, err, id)
	}
	if _, err := m.Revert(t.Context(), id, "the test is over"); err != nil {
		t.Error(err)
	}
}
