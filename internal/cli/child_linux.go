package cli

import (
	"os/exec"
	"syscall"
)

// EndsWithUs has the kernel end a server when this process does, however it
// does (prctl(2), PR_SET_PDEATHSIG).
func EndsWithUs(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
