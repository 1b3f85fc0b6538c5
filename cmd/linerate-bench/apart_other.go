//go:build !linux

package main

import (
	"os/exec"
	"time"
)

// startApart starts a server or a client wherever the system puts it.
func startApart(c *exec.Cmd, _ bool) error { return c.Start() }

func apartWords() string { return "server and clients share all CPUs" }

// childrensCPU is not known here.
func childrensCPU(int) time.Duration { return 0 }
