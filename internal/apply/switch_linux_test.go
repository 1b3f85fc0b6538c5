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

// passing is a clock of tenths of a second that goes on while the switch sleeps, and at no
// other time. What the switch starts is noted.
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

// TestSwitchKeepsItsTime: a switch strikes within the last second of the window, never
// later, though it asks for the time but once in five seconds until then.
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
					t.Fatal("it never struck")
				}
				now, _ := os.ReadFile(clock)
				tenths, _ := strconv.Atoi(strings.TrimSpace(string(now)))
				if after := tenths - start; after > 10*window || after <= 10*(window-1) {
					t.Errorf("struck after %d tenths of a second, of a window of %d s", after, window)
				}
				started, _ := os.ReadFile(filepath.Join(root, "started"))
				if n := strings.Count(string(started), "\n"); n > c.most || n < window/5 {
					t.Errorf("started %d programs, want at most %d: %s", n, c.most, started)
				}
			})
		}
	}
}
