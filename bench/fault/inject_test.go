// Package fault injects faults into the agent while it changes a simulated
// host, at every step, and checks the state in which the host ends: old or
// new, never in between.
package fault

import (
	"fmt"
	"strings"

	"linerate/internal/apply"
)

// Kind is the kind of a fault.
type Kind string

// The kinds of faults. All but IO and Lie happen for real: processes are killed,
// the file system is full or read-only, another transaction is applied.
const (
	Kill     Kind = "kill"      // the agent is killed with SIGKILL
	Cut      Kind = "cut"       // the connection is lost for good
	IO       Kind = "io"        // one command fails, as with EIO or EPERM
	Full     Kind = "full"      // the disk is full from here on
	ReadOnly Kind = "read-only" // the file system is read-only from here on
	Lie      Kind = "lie"       // settings read back wrong
	Clock    Kind = "clock"     // the wall clock jumps by a year
	Second   Kind = "second"    // somebody else applies another plan
	Boot     Kind = "boot"      // killed, and the host boots
	Unsynced Kind = "unsynced"  // the power is cut: what was not synced is lost, and the host boots
)

// Kinds lists all kinds.
func Kinds() []Kind { return []Kind{Kill, Cut, IO, Full, ReadOnly, Lie, Clock, Second, Boot, Unsynced} }

// commands are the commands of the agent that can fail or be interrupted.
var commands = []string{"mv", "cp", "rm", "ln", "mkdir", "chmod", "chown", "fsync", "cat", "sed", "ls", "stat",
	"cmp", "grep", "tail", "sort", "rmdir", "flock", "lockf", "sleep", "id", "uname", "ps"}

// prelude counts steps and injects a fault at one, as FAULT, FAULT_AT and FAULT_DIR in the
// environment say. The dead man's switch is not counted, because it runs concurrently.
const prelude = `
case ${1-} in watch | guard) FAULT= ;; esac
strike() {
	[ -n "${FAULT-}" ] || return 0
	until read -r fault_n <"$FAULT_DIR/count"; do :; done # two of a pipeline may count at once
	fault_n=$((fault_n + 1))
	echo "$fault_n" >"$FAULT_DIR/count"
	[ "$FAULT" != count ] || note "step $1 $(command find "$ROOT" -printf '%p %i %m %U %G %s %T@ %C@\t')"
	[ "$fault_n" -eq "$FAULT_AT" ] || return 0
	echo "$1" >"$FAULT_DIR/struck"
	case $FAULT in
	kill | boot | unsynced) command kill -9 $$; exit 137 ;;
	cut) exec >/dev/full 2>&1 ;;
	io) echo "$1: Input/output error" >&2; return 1 ;;
	full) command dd if=/dev/zero of="$ROOT/ballast" bs=65536 2>/dev/null ;;
	read-only) command mount -o remount,ro "$ROOT" ;;
	lie) echo lying >"$FAULT_DIR/lie" ;;
	clock) echo jumped >"$FAULT_DIR/clock" ;;
	second) (unset LINERATE_LOCKED; FAULT=''; export FAULT; (locked apply now <"$FAULT_DIR/journal") >"$FAULT_DIR/second" 2>&1; echo >"$FAULT_DIR/second-done") >/dev/null 2>&1 & ;; # holds no pipe of its parent
	esac
	return 0
}
setsid() { strike setsid && exec setsid "$@"; }
say() { strike say && printf '%s\n' "$*"; }
knob_write() { strike knob_write && real_knob_write "$@"; }
note() { [ "${FAULT-}" != count ] || echo "$1" >>"$FAULT_DIR/trace"; }
# A sync of everything is one of the sandbox: the machine's disk is none of it.
sync() { strike sync || return; case $# in 0) command sync -f "$ROOT" ;; *) command sync "$@" ;; esac; }
knob_read() {
	real_knob_read "$@" || return
	note read
	if [ -s "$FAULT_DIR/lie" ]; then value=${value}9; fi
}
shutdown() { echo "$*" >"$FAULT_DIR/rebooted"; } # the sandbox boots itself
date() { note date; if [ -s "$FAULT_DIR/clock" ]; then echo $(($(command date +%s) + 31536000)); else command date "$@"; fi; }
`

// keepSynced keeps a copy of what has been synced to disk, by inode.
const keepSynced = `
durable() { real_durable "$@" && keep_synced "$@"; }
keep_synced() {
	[ -d "$FAULT_DIR/synced" ] || return 0
	for fault_f; do
		[ ! -f "$fault_f" ] || command cp "$fault_f" "$FAULT_DIR/synced/$(command stat -c %i "$fault_f")"
	done
}
`

// Sabotage is a defect added to the agent to test that the check finds it.
type Sabotage string

// The defects.
const (
	BreakRevert Sabotage = "revert" // the revert does nothing and reports success
	BreakSync   Sabotage = "sync"   // the notes of when and why a change ended are not synced
)

var sabotages = map[Sabotage]string{BreakRevert: `
restore_file() { return 0; }
undone() { return 0; }
enlist() { [ -d "$S/reverting" ] || todo="$todo$1 $2 $3 =$4$NL"; }
`, BreakSync: `
durable() {
	for fault_f; do
		case $fault_f in */when | */why) continue ;; esac
		real_durable "$fault_f" && keep_synced "$fault_f" || return
	done
}
`}

// script returns the agent's script with the prelude.
func script(defect Sabotage) string {
	var b strings.Builder
	b.WriteString(prelude)
	for _, c := range commands {
		fmt.Fprintf(&b, "%s() { strike %s && command %s \"$@\"; }\n", c, c, c)
	}
	b.WriteString(keepSynced)
	b.WriteString(sabotages[defect])
	return strings.NewReplacer("\ndurable() { case", "\nreal_durable() { case", "\nknob_write() {\n", "\nreal_knob_write() {\n", "\nknob_read() {\n\tif knob_file", "\nreal_knob_read() {\n\tif knob_file").
		Replace(apply.Script(b.String()))
}
