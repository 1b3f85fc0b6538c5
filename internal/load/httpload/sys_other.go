//go:build !linux

package httpload

import "syscall"

func latePort(_, _ string, _ syscall.RawConn) error { return nil }
