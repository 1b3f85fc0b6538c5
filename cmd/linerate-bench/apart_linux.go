package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/cputime"
)

// apart divides the CPUs that this process may use: the first is a server's, the
// others are its clients'. ok is false where there is only one.
func apart() (server, clients unix.CPUSet, ok bool) {
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil || all.Count() < 2 {
		return all, all, false
	}
	clients = all
	for cpu := 0; server.Count() == 0; cpu++ {
		if all.IsSet(cpu) {
			server.Set(cpu)
			clients.Clear(cpu)
		}
	}
	return server, clients, true
}

// startApart starts a server, or a client, on its side of the CPUs; without sides,
// wherever.
func startApart(c *exec.Cmd, serves bool) error {
	server, clients, ok := apart()
	if !ok {
		return c.Start()
	}
	side := clients
	if serves {
		side = server
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("read the CPUs of a thread: %w", err)
	}
	if err := unix.SchedSetaffinity(0, &side); err != nil { // the child inherits it
		return fmt.Errorf("give a thread its CPUs: %w", err)
	}
	defer func() { _ = unix.SchedSetaffinity(0, &before) }() // it was so before
	return c.Start()
}

// apartWords say on which CPUs a bench's server and clients are.
func apartWords() string {
	if _, clients, ok := apart(); ok {
		return fmt.Sprintf("the server has one CPU to itself, the clients %d", clients.Count())
	}
	return "on one CPU"
}

// childrensCPU is the time of a process's children, as far as each is one thread.
func childrensCPU(pid int) (sum time.Duration) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)) // a process that is gone has none
	for _, child := range strings.Fields(string(text)) {
		if n, err := strconv.Atoi(child); err == nil {
			sum += cputime.Thread(n).Ran
		}
	}
	return sum
}
