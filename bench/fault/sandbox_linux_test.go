package fault

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/plan"
)

// Sandbox is a simulated host: files below a root directory on a small file
// system, and sysctls in a network namespace of its own. It ends with its
// thread.
type Sandbox struct {
	Root string // directory of the host's files
	Dir  string // scratch directory outside of the host
	// wasRead is the file that the last boot read before anything else of linerate's.
	wasRead string
	jobs    chan func()
	ended   chan struct{}
}

// NewSandbox creates a sandbox below an existing directory. It needs root.
func NewSandbox(dir string) (*Sandbox, error) {
	r := &Sandbox{Root: filepath.Join(dir, "root"), Dir: filepath.Join(dir, "scratch"), jobs: make(chan func()), ended: make(chan struct{})}
	for _, d := range []string{r.Root, r.Dir} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	ready := make(chan error)
	go r.serve(ready)
	if err := <-ready; err != nil {
		return nil, fmt.Errorf("make namespaces for the simulated host: %w", err)
	}
	return r, nil
}

// serve runs jobs on a locked thread that is never released: it holds the
// namespaces, which end with it.
func (r *Sandbox) serve(ready chan<- error) {
	runtime.LockOSThread()
	err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_FS)
	if err == nil {
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	if err == nil {
		err = unix.Mount("linerate", r.Root, "tmpfs", 0, "size=2m,mode=755")
	}
	ready <- err
	if err != nil {
		return
	}
	for {
		select {
		case job := <-r.jobs:
			job()
		case <-r.ended:
			return
		}
	}
}

// Close ends the sandbox; any use of it afterwards fails.
func (r *Sandbox) Close() { close(r.ended) }

// do runs f on the sandbox's thread, in its namespaces.
func (r *Sandbox) do(f func() error) error {
	done := make(chan error, 1)
	select {
	case r.jobs <- func() { done <- f() }:
		return <-done
	case <-r.ended:
		return errors.New("the sandbox has ended")
	}
}

// Start runs a command in the sandbox (localhost.Runner's Start). It starts
// the command on the sandbox's thread and waits on the caller's.
func (r *Sandbox) Start(cmd *exec.Cmd) error {
	if err := r.do(cmd.Start); err != nil {
		return err
	}
	return cmd.Wait()
}

// writable makes a full or read-only file system writable again.
func (r *Sandbox) writable() error {
	return r.do(func() error {
		err := unix.Mount("", r.Root, "", unix.MS_REMOUNT, "size=2m,mode=755")
		if rm := os.Remove(filepath.Join(r.Root, "ballast")); rm != nil && !errors.Is(rm, fs.ErrNotExist) {
			err = errors.Join(err, rm)
		}
		return err
	})
}

// sysctls of the sandbox, with their initial and planned values. The port
// range and the lowest unprivileged port must be set in order; forwarding is
// copied to every interface; the rate limit is rounded to kernel ticks.
var sysctls = []struct{ name, before, after string }{
	{"net.ipv4.ip_forward", "0", "1"},
	{"net.ipv4.tcp_rmem", "4096 131072 6291456", "4096 262144 67108864"},
	{"net.ipv4.ip_local_port_range", "32768 60999", "1024 65535"},
	{"net.ipv4.ip_unprivileged_port_start", "2048", "512"},
	{"net.ipv4.conf.lo.rp_filter", "0", "2"},
	{"net.ipv4.icmp_ratelimit", "1000", "100"},
}

// watched are sysctls that change along with those set.
var watched = []string{"net.ipv4.conf.all.forwarding", "net.ipv4.conf.lo.forwarding", "net.ipv4.conf.default.forwarding",
	"net.ipv4.conf.all.accept_redirects"}

// begin resets the host to its initial state.
func (r *Sandbox) begin() error {
	return r.do(func() error {
		if err := populate(r.Root); err != nil {
			return err
		}
		// Twice, because one value may depend on another.
		for range 2 {
			for _, s := range sysctls {
				_ = os.WriteFile(procSys(s.name), []byte(s.before), 0)
			}
		}
		return os.WriteFile(procSys("net.ipv4.conf.lo.forwarding"), []byte("0"), 0)
	})
}

// image is the complete state of a host, including linerate's own files.
type image struct {
	root    string // root of the sandbox it was taken from
	files   []entry
	sysctls map[string]string
	early   string
}

type entry struct {
	path     string
	mode     fs.FileMode
	uid, gid int
	content  []byte // content, or the target of a link
}

// save returns an image of the sandbox.
func (r *Sandbox) save() (image, error) {
	im := image{root: r.Root, sysctls: map[string]string{}, early: r.wasRead}
	err := r.do(func() error {
		for _, s := range sysctls {
			watchSysctl(im.sysctls, s.name)
		}
		return filepath.WalkDir(r.Root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || path == r.Root {
				return err
			}
			e, err := newEntry(path)
			im.files = append(im.files, e)
			return err
		})
	})
	return im, err
}

func newEntry(path string) (entry, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return entry{}, err
	}
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return entry{}, err
	}
	e := entry{path: path, mode: info.Mode(), uid: int(st.Uid), gid: int(st.Gid)}
	switch {
	case info.Mode().IsRegular():
		e.content, err = os.ReadFile(path)
	case info.Mode()&fs.ModeSymlink != 0:
		var link string
		link, err = os.Readlink(path)
		e.content = []byte(link)
	}
	return e, err
}

// load sets the sandbox to the state of an image.
func (r *Sandbox) load(im image) error {
	r.wasRead = im.early
	return r.do(func() error {
		if err := unix.Mount("", r.Root, "", unix.MS_REMOUNT, "size=2m,mode=755"); err != nil {
			return err
		}
		if err := errors.Join(clear(r.Root), clear(r.Dir)); err != nil {
			return err
		}
		for _, e := range im.files {
			if err := e.in(im.root, r.Root).write(); err != nil {
				return err
			}
		}
		for range 2 {
			for name, value := range im.sysctls {
				_ = os.WriteFile(procSys(strings.TrimPrefix(name, "sysctl ")), []byte(value), 0)
			}
		}
		return nil
	})
}

// in moves an entry to another root, also in its content: the boot entry contains the root.
func (e entry) in(from, to string) entry {
	e.path, e.content = to+strings.TrimPrefix(e.path, from), bytes.ReplaceAll(e.content, []byte(from), []byte(to))
	return e
}

func (e entry) write() error {
	switch {
	case e.mode.IsDir():
		if err := os.Mkdir(e.path, 0o700); err != nil {
			return err
		}
	case e.mode&fs.ModeSymlink != 0:
		return os.Symlink(string(e.content), e.path)
	default:
		if err := os.WriteFile(e.path, e.content, 0o600); err != nil {
			return err
		}
	}
	return errors.Join(os.Chown(e.path, e.uid, e.gid), os.Chmod(e.path, e.mode.Perm()))
}

// standing is the state of a transaction according to the agent's files, read
// independently of the agent.
type standing struct {
	state     string // pending, confirming, reverting, or "" for none
	armed     bool
	confirmed string // digest of the last confirmed transaction
}

func (r *Sandbox) standing() (s standing, err error) {
	own := filepath.Join(r.Root, "var/lib/linerate")
	err = r.do(func() error {
		for _, state := range []string{"pending", "confirming", "reverting"} {
			if !exists(filepath.Join(own, state)) {
				continue
			}
			b, _ := os.ReadFile(filepath.Join(own, state, "watcher"))
			pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
			s.state, s.armed = state, err == nil && pid > 1 && unix.Kill(pid, 0) == nil
		}
		past, err := filepath.Glob(filepath.Join(own, "history/*.confirmed/journal"))
		if err != nil || len(past) == 0 {
			return err
		}
		journal, err := os.ReadFile(past[len(past)-1])
		for line := range strings.Lines(string(journal)) {
			if digest, ok := strings.CutPrefix(line, "digest "); ok {
				s.confirmed = strings.TrimSpace(digest)
			}
		}
		return err
	})
	return s, err
}

// readEarly is the key in a state for the file that the boot read first.
const readEarly = "read by the boot"

// endAll ends all processes of the agent in this sandbox.
func (r *Sandbox) endAll() error {
	return r.do(func() error {
		for range 60_000 { // one may be starting another, and killed ones take a moment
			alive, err := r.kill()
			if err != nil || alive == 0 {
				return err
			}
			time.Sleep(time.Millisecond)
		}
		return errors.New("processes of the sandbox do not end")
	})
}

// kill sends SIGKILL to all processes that name a file of the sandbox, and counts them.
func (r *Sandbox) kill() (alive int, err error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return 0, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	for _, name := range names {
		pid, e := strconv.Atoi(name)
		if e != nil || pid <= 1 {
			continue
		}
		line, _ := os.ReadFile("/proc/" + name + "/cmdline") // empty for a zombie
		if strings.Contains(string(line), r.Root+"/") {
			alive++
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	return alive, err
}

// early returns the file that a boot reads before anything else of
// linerate's. Call it in a job of the sandbox.
func (r *Sandbox) early() string {
	b, _ := os.ReadFile(filepath.Join(r.Root, plan.LinuxModprobe))
	return string(b)
}

// boot boots the host, again if the boot requests it.
func (r *Sandbox) boot() error {
	asked := filepath.Join(r.Dir, "rebooted")
	for range 3 {
		_ = os.Remove(asked)
		if err := r.endAll(); err != nil { // no process survives a boot
			return err
		}
		if err := r.loseUnsynced(); err != nil {
			return err
		}
		if err := r.bootOnce(); err != nil || !exists(asked) {
			return err
		}
	}
	return errors.New("the host boots again and again")
}

// bootOnce simulates a boot: it first reads what FreeBSD's loader
// (loader.conf.d) or Linux's module loading (modprobe.d) reads before linerate
// runs; running values are reset to the kernel's; then the boot entry runs, if
// there is one, and sysctl.d is applied.
func (r *Sandbox) bootOnce() error {
	return r.do(func() error {
		r.wasRead = r.early()
		for range 2 {
			for _, s := range sysctls {
				_ = os.WriteFile(procSys(s.name), []byte(s.before), 0)
			}
		}
		if entry := filepath.Join(r.Root, "etc/rcS.d/S13linerate-revert"); exists(entry) {
			cmd := exec.Command("/bin/sh", entry, "start")
			cmd.Env = append(os.Environ(), "LINERATE_ROOT="+r.Root, "LINERATE_INIT=sysv", "FAULT=", "FAULT_DIR="+r.Dir)
			_ = cmd.Run() // the result is judged, not the error
		}
		file, err := os.ReadFile(filepath.Join(r.Root, plan.LinuxSysctl))
		if err != nil {
			return err
		}
		for range 2 {
			for line := range strings.Lines(string(file)) {
				name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
				if ok && strings.HasPrefix(name, "net.ipv4.") {
					_ = os.WriteFile(procSys(name), []byte(value), 0)
				}
			}
		}
		return nil
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func clear(dir string) error {
	names, err := os.ReadDir(dir)
	for _, n := range names {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, n.Name())))
	}
	return err
}

// populate writes the files of a previously tuned host. One of linerate's files has an
// unusual mode and owner.
func populate(root string) error {
	for _, d := range []string{"etc/sysctl.d", "etc/modprobe.d", "etc/init.d", "etc/rcS.d", "var/lib"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			return err
		}
	}
	for path, content := range map[string]string{
		plan.LinuxSysctl:                 plan.Marker + "\n\n#: sysctl net.core.somaxconn\n# kept\nnet.core.somaxconn=8192\n",
		"/etc/sysctl.d/99-admin.conf":    "# not linerate's\nvm.swappiness=10\n",
		"/etc/modprobe.d/blacklist.conf": "blacklist pcspkr\n",
	} {
		if err := os.WriteFile(filepath.Join(root, path), []byte(content), 0o600); err != nil {
			return err
		}
	}
	own := filepath.Join(root, plan.LinuxSysctl)
	return errors.Join(os.Chmod(own, 0o640), os.Chown(own, 1234, 5678))
}

func procSys(name string) string { return "/proc/sys/" + strings.ReplaceAll(name, ".", "/") }

// state returns the state of the whole host: each file with content, mode and
// owner, and each sysctl that may change. linerate's own records are left out.
func (r *Sandbox) state() (map[string]string, error) {
	s := map[string]string{}
	err := r.do(func() error {
		for _, c := range sysctls {
			watchSysctl(s, c.name)
		}
		for _, name := range watched {
			watchSysctl(s, name)
		}
		s[readEarly] = r.wasRead
		return filepath.WalkDir(r.Root, func(path string, d fs.DirEntry, err error) error {
			rel := strings.TrimPrefix(path, r.Root)
			if err != nil || strings.HasPrefix(rel, "/var/lib/linerate") || rel == "/ballast" {
				return err
			}
			var st unix.Stat_t
			if err := unix.Lstat(path, &st); err != nil {
				return err
			}
			content := ""
			if d.Type().IsRegular() {
				b, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				content = string(b)
			}
			s["file "+rel] = fmt.Sprintf("%o %d:%d %q", st.Mode, st.Uid, st.Gid, content)
			return nil
		})
	})
	return s, err
}

func watchSysctl(s map[string]string, name string) {
	b, err := os.ReadFile(procSys(name))
	if err != nil {
		b = []byte("unreadable: " + err.Error())
	}
	s["sysctl "+name] = strings.Join(strings.Fields(string(b)), " ")
}
