package jailbed

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/knob"
	"linerate/internal/setting"
)

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
