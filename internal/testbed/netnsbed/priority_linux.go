package netnsbed

import (
	"linerate/internal/cputime"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// first is the highest priority of ordinary threads, as nice(2) counts.
const first = -20

// autogroup is where the kernel keeps the priority of a session among others
// (sched(7)). Where it shares time by sessions, threads' own priorities only
// order them within theirs.
const autogroup = "/proc/self/autogroup"

// priority is what a process and its session have.
type priority struct {
	process, session int
	sessions         bool // time is shared by sessions
}

// preceding are this process's beds for which it has precedence.
var preceding struct {
	sync.Mutex
	beds   int
	before priority
}

// precede gives this process's threads, and those they will make, precedence
// over other programs, as softirqs have it: the generator is one of them, and so
// is what starts and ends each trial. It reports whether it may. Should the
// process be killed before it yields, the kernel forgets a session's priority
// with the session.
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
	preceding.beds, preceding.before.process = 1, 20-nice // the system call tells 20 − nice
	preceding.before.session, preceding.before.sessions = cputime.SessionNice("self")
	if preceding.before.session == first {
		// Another lab of this session has it, or one that was killed: what it
		// was before that is not known, and must not stay.
		preceding.before.session = 0
	}
	priority{first, first, preceding.before.sessions}.set()
	return true
}

// yield gives the precedence of a bed up, and the process's with the last.
func yield() {
	preceding.Lock()
	defer preceding.Unlock()
	if preceding.beds--; preceding.beds == 0 {
		preceding.before.set()
	}
}

// set gives it to all threads of this process, and to its session. It looks
// twice, for threads made meanwhile by such as it had not come to.
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
