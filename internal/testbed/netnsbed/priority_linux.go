package netnsbed

import (
	"linerate/internal/cputime"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// first is the highest priority of ordinary threads, as a nice value.
const first = -20

// autogroup is where the kernel keeps the priority of a session (sched(7)).
// If it divides time among sessions, the priorities of threads apply only
// within their session.
const autogroup = "/proc/self/autogroup"

// priority is the nice value of a process and of its session.
type priority struct {
	process, session int
	sessions         bool // time is divided among sessions
}

// preceding counts this process's beds that have precedence.
var preceding struct {
	sync.Mutex
	beds   int
	before priority
}

// precede gives this process's threads, including future ones, precedence over
// other programs, like that of softirqs: the generator is one of them, as is
// what starts and ends each trial. It reports whether this is permitted. If the
// process is killed before it yields, the session's priority disappears with the
// session.
func precede() bool {
	preceding.Lock()
	defer preceding.Unlock()
	if preceding.beds > 0 {
		preceding.beds++
		return true
	}
	nice, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil || unix.Setpriority(unix.PRIO_PROCESS, 0, first) != nil {
		return false
	}
	preceding.beds, preceding.before.process = 1, 20-nice // the system call returns 20 − nice
	preceding.before.session, preceding.before.sessions = cputime.SessionNice("self")
	if preceding.before.session == first {
		// Another lab of this session has it, or a killed one had: the
		// original value is unknown, and the raised one must not stay.
		preceding.before.session = 0
	}
	priority{first, first, preceding.before.sessions}.set()
	return true
}

// yield gives up the precedence of a bed, and the process's with the last bed.
func yield() {
	preceding.Lock()
	defer preceding.Unlock()
	if preceding.beds--; preceding.beds == 0 {
		preceding.before.set()
	}
}

// set applies it to all threads of this process, and to its session. It does
// so twice, for threads created meanwhile by threads not yet handled.
func (p priority) set() {
	if p.sessions {
		_ = os.WriteFile(autogroup, []byte(strconv.Itoa(p.session)), 0)
	}
	for range 2 {
		tasks, _ := os.ReadDir("/proc/self/task")
		for _, t := range tasks {
			if tid, err := strconv.Atoi(t.Name()); err == nil {
				_ = unix.Setpriority(unix.PRIO_PROCESS, tid, p.process)
			}
		}
	}
}
