//go:build !linux

package instrument

import (
	"context"

	"linerate/internal/hint"
)

// WatchSysctls returns an error: only Linux has a hook for writes to sysctls.
func WatchSysctls(context.Context, string, func(), func(*Write) error) error {
	return hint.With(hint.Usagef("writes to sysctls can be watched on Linux only"),
		"on FreeBSD as root: dtrace -n 'fbt::userland_sysctl:entry /arg6 != 0/ { printf(\"%%s (pid %%d, parent %%d)\", curpsinfo->pr_psargs, pid, ppid); }'; audit(4) keeps AUE_SYSCTL, of class ot")
}
