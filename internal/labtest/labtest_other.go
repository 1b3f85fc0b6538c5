//go:build !linux && !freebsd

package labtest

import "testing"

func missing() string { return "the namespace lab needs Linux" }

// Lock does nothing where there is no lab.
func Lock(testing.TB) { _ = lockPath }
