//go:build !linux

package loop

import "time"

func nap(d time.Duration) { time.Sleep(d) }
