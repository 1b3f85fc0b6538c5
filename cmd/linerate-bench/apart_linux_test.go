package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestServerAndClientsHaveCPUsOfTheirOwn: no CPU is of both, all are of one, and this
// process keeps its own.
func TestServerAndClientsHaveCPUsOfTheirOwn(t *testing.T) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	server, clients, ok := apart()
	if !ok {
		server, clients = all, all // of one CPU there are no sides
	}
	for cpu := range 8 * len(all) {
		if ok && server.IsSet(cpu) && clients.IsSet(cpu) || all.IsSet(cpu) != (server.IsSet(cpu) || clients.IsSet(cpu)) {
			t.Errorf("CPU %d: of the server %v, of the clients %v", cpu, server.IsSet(cpu), clients.IsSet(cpu))
		}
	}
	for _, serves := range []bool{true, false} {
		var out strings.Builder
		c := exec.Command("/bin/sh", "-c", "grep Cpus_allowed_list: /proc/self/status; read wait")
		c.Stdout = &out
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := startApart(c, serves); err != nil {
			t.Fatal(err)
		}
		var has unix.CPUSet
		err = unix.SchedGetaffinity(c.Process.Pid, &has)
		in.Close()
		_ = c.Wait() // read finds the end
		if want := map[bool]unix.CPUSet{true: server, false: clients}[serves]; err != nil || has != want {
			t.Errorf("serves %v: %v, %s", serves, err, out.String())
		}
	}
	var now unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &now); err != nil || now != all {
		t.Errorf("this process's CPUs are others than before: %v", err)
	}
}
