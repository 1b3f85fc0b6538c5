//go:build !linux

package httpload

import (
	"syscall"
	"time"
)

func latePort(_, _ string, _ syscall.RawConn) error { return nil }

func nap(d time.Duration) { time.Sleep(d) }
