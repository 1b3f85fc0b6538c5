//go:build !linux

package loop

import "time"

var nap = time.Sleep
