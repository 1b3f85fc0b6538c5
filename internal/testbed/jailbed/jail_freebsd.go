package jailbed

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/knob"
	"linerate/internal/setting"
)

// Flags of jail_set(2) and jail_get(2), sys/jail.h.
const (
	jailCreate = 1
	jailUpdate = 2
	jailSysNew = 1 // for the parameter vnet: a new network stack
)

// jail is a vnet jail that shares the machine's files.
type jail struct {
	id     int
	name   string
	holder *exec.Cmd // keeps it alive; nil: it is persistent
}

// parameter is a parameter of jail_set(2); nil for flags without a value.
type parameter struct {
	name  string
	value []byte
}

func text(s string) []byte { return append([]byte(s), 0) }

func number(n int32) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }

// jailCall calls jail_set(2) or jail_get(2); the latter writes the values to
// the parameters' buffers.
func jailCall(call uintptr, flags int, parameters ...parameter) (int, error) {
	message := make([]byte, 256)
	parameters = append(parameters, parameter{"errmsg", message})
	var vectors []unix.Iovec
	var keep [][]byte
	for _, p := range parameters {
		name := text(p.name)
		keep = append(keep, name, p.value)
		v := unix.Iovec{Base: &name[0], Len: uint64(len(name))}
		var w unix.Iovec
		if len(p.value) > 0 {
			w = unix.Iovec{Base: &p.value[0], Len: uint64(len(p.value))}
		}
		vectors = append(vectors, v, w)
	}
	id, _, errno := unix.Syscall(call, uintptr(unsafe.Pointer(&vectors[0])), uintptr(len(vectors)), uintptr(flags))
	_ = keep
	if errno == 0 {
		return int(id), nil
	}
	if why, _, _ := bytes.Cut(message, []byte{0}); len(why) > 0 {
		return 0, fmt.Errorf("%s: %w", why, errno)
	}
	return 0, errno
}

// create creates a jail that persists until it is held or removed.
func create(name string, children int) (*jail, error) {
	id, err := jailCall(unix.SYS_JAIL_SET, jailCreate,
		parameter{"name", text(name)}, parameter{"path", text("/")},
		parameter{"host.hostname", text(strings.ReplaceAll(name, ".", "-"))},
		parameter{"vnet", number(jailSysNew)}, parameter{"children.max", number(int32(children))},
		parameter{"allow.raw_sockets", nil}, parameter{"persist", nil})
	if err != nil {
		return nil, notJailed(fmt.Errorf("make jail %s: %w", name, err))
	}
	return &jail{id: id, name: name}, nil
}

// notJailed adds advice for the usual reasons.
func notJailed(err error) error {
	switch {
	case errors.Is(err, unix.EPERM):
		return hint.With(err, "run it as root, outside of any jail")
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP):
		return hint.With(err, "does this kernel have options VIMAGE? sysctl kern.features.vimage")
	}
	return err
}

// hold keeps the jail alive as long as this process lives, and no longer.
func (j *jail) hold(life *os.File) error {
	c := exec.Command("/bin/cat")
	c.Stdin = life
	c.SysProcAttr = &syscall.SysProcAttr{Jail: j.id, Setpgid: true}
	if err := c.Start(); err != nil {
		return fmt.Errorf("hold jail %s: %w", j.name, err)
	}
	j.holder = c
	_, err := jailCall(unix.SYS_JAIL_SET, jailUpdate, parameter{"jid", number(int32(j.id))}, parameter{"nopersist", nil})
	if err != nil {
		return fmt.Errorf("let jail %s end with its last process: %w", j.name, err)
	}
	return nil
}

// remove removes the jail, with all its processes and children.
func (j *jail) remove() error {
	if j == nil {
		return nil
	}
	_, _, errno := unix.Syscall(unix.SYS_JAIL_REMOVE, uintptr(j.id), 0, 0)
	if j.holder != nil {
		_ = j.holder.Wait() // it has been killed
	}
	if errno != 0 && errno != unix.EINVAL && errno != unix.ENOENT {
		return fmt.Errorf("remove jail %s: %w", j.name, errno)
	}
	return nil
}

// answerMost bounds the output of a tool.
const answerMost = 1 << 20

// run runs a tool of the base system in the jail and returns its output.
func (j *jail) run(ctx context.Context, argv ...string) (string, error) {
	return j.feed(ctx, "", argv...)
}

// feed is run with an input.
func (j *jail) feed(ctx context.Context, input string, argv ...string) (string, error) {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.SysProcAttr = &syscall.SysProcAttr{Jail: j.id, Setpgid: true}
	out, failed := host.FirstBytes{Limit: answerMost}, host.FirstBytes{Limit: answerMost}
	c.Stdout, c.Stderr = &out, &failed
	if input != "" {
		c.Stdin = strings.NewReader(input)
	}
	if err := c.Run(); err != nil {
		what := strings.Join(argv, " ")
		if argv[0] == "/bin/sh" {
			what = "sh"
		}
		return string(out.Bytes()), fmt.Errorf("%s in jail %s: %w: %s", what, j.name, err, failed.String())
	}
	return string(out.Bytes()), nil
}

// all runs several tools in sequence, in one shell; IPv6 commands may fail,
// on a kernel without it, as may those marked by a dash.
func (j *jail) all(ctx context.Context, commands [][]string) error {
	if j == nil || len(commands) == 0 {
		return nil
	}
	_, err := j.feed(ctx, lines(commands), "/bin/sh", "-c", runLines)
	return err
}

// jails lists the jails on this machine by name, including children.
func jails() (map[string]int, error) {
	found := map[string]int{}
	for last := int32(0); ; {
		id, name := number(0), make([]byte, 1024)
		got, err := jailCall(unix.SYS_JAIL_GET, 0, parameter{"lastjid", number(last)}, parameter{"jid", id}, parameter{"name", name})
		if errors.Is(err, unix.ENOENT) {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list jails: %w", err)
		}
		n, _, _ := bytes.Cut(name, []byte{0})
		found[string(n)] = got
		last = int32(got)
	}
}

// Sweep removes what dead owners left: host settings that were not restored,
// and jails whose owner ended between creating and holding them.
func Sweep() error { return errors.Join(knob.RestoreDead(stateDir), sweepJails()) }

func sweepJails() error {
	all, err := jails()
	if err != nil {
		return err
	}
	var errs []error
	for name, id := range all {
		if pid, ok := owner(name); ok && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			errs = append(errs, (&jail{id: id, name: name}).remove())
		}
	}
	return errors.Join(errs...)
}

// stateDir is where labs that may change host settings keep their journals: a
// boot clears it, and undoes the changes too.
var stateDir = "/var/run/linerate"

// Needed returns why no lab can be created here, for the user; nil if one can.
func Needed() error {
	if os.Geteuid() != 0 {
		return hint.With(errors.New("no permission to create jails"), "run as root")
	}
	if n, err := unix.SysctlUint32("security.jail.jailed"); err == nil && n != 0 {
		return hint.With(errors.New("this is a jail, and child jails with their own network stacks need permission from the host"), "run it outside of any jail")
	}
	if n, err := unix.SysctlUint32("kern.features.vimage"); err != nil || n == 0 {
		return hint.With(errors.New("this kernel has no network stacks for jails (VIMAGE)"), "GENERIC has them since FreeBSD 12: boot it, or build with options VIMAGE")
	}
	if !loaded("if_epair") {
		return hint.With(errors.New("this kernel has no epair(4)"), "kldload if_epair")
	}
	return nil
}

// loaded reports whether the kernel has a module, built in or loaded.
func loaded(module string) bool {
	name, err := unix.BytePtrFromString(module)
	if err != nil {
		return false
	}
	_, _, errno := unix.Syscall(unix.SYS_MODFIND, uintptr(unsafe.Pointer(name)), 0, 0)
	return errno == 0
}

// Lacks returns why this kernel's jails do not support a setting, as far as
// is known without trying; "" if it can be tried.
func Lacks(s setting.Setting) string {
	if s.Mechanism == setting.Hops {
		return lacking(s.Name, loaded)
	}
	return knob.Never(s)
}
