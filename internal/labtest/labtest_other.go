//go:build !linux && !freebsd

package labtest

import "testing"

func missing() string { return "the namespace lab needs Linux" }

func hold(testing.TB, string) {} // there is no lab
