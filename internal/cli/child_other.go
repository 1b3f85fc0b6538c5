//go:build !linux

package cli

import "os/exec"

// EndsWithUs has no counterpart here: a killed linerate leaves its servers.
func EndsWithUs(*exec.Cmd) {}
