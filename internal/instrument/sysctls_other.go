//go:build !linux

package instrument

import (
	"context"
	"errors"

	"linerate/internal/hint"
)

// WatchSysctls returns an error: only Linux has a hook for writes to sysctls.
func WatchSysctls(context.Context, string, func(), func(*Write) error) error {
	return hint.With(hint.Usagef("writes to sysctls can be watched on Linux only"),
		"on FreeBSD as root: dtrace -n 'fbt::userland_sysctl:entry /arg6 != 0/ { printf(\"%%s (pid %%d, parent %%d)\", curpsinfo->pr_psargs, pid, ppid); }'; audit(4) keeps AUE_SYSCTL, of class ot")
}

// OpenKernelClock returns an error: FreeBSD offers nothing better than ticks without dtrace.
func OpenKernelClock() (KernelClock, error) {
	return nil, errors.New("dtrace(4) would have to be loaded")
}
