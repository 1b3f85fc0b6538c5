package instrument

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// vmArm64 names an unpacked kernel package of Debian's for arm64.
const vmArm64 = "LINERATE_VM_ARM64"

// TestVirtualMachineCounters boots a machine whose emulated CPU has a PMU, with this
// package's tests as its first process:
//
//	apt-get download linux-image-…-cloud-arm64:arm64; dpkg-deb -x linux-image-….deb k
//	LINERATE_VM_ARM64=$PWD/k go test ./internal/instrument -run TestVirtualMachineCounters -v
func TestVirtualMachineCounters(t *testing.T) {
	if os.Getenv(vmArm64) == "" {
		t.Skip("set " + vmArm64 + " to an unpacked kernel package to boot a virtual machine that has counters")
	}
	kernels, err := filepath.Glob(os.Getenv(vmArm64) + "/boot/vmlinuz-*")
	if err != nil || len(kernels) == 0 {
		t.Fatalf("%s=%s has no boot/vmlinuz-*: %v", vmArm64, os.Getenv(vmArm64), err)
	}
	dir := t.TempDir()
	build := exec.Command("go", "test", "-c", "-o", dir+"/root/init", ".")
	build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	pack := exec.Command("sh", "-c", "mkdir root/proc root/sys root/tmp && cd root && find . | cpio -o -H newc >../initrd")
	pack.Dir = dir
	for _, cmd := range []*exec.Cmd{build, pack} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
	}
	out, err := exec.CommandContext(t.Context(), "qemu-system-aarch64", "-machine", "virt", "-cpu", "max,pmu=on", "-m", "512", "-net", "none", "-nodefaults", "-display", "none", "-serial", "stdio",
		"-no-reboot", "-kernel", kernels[0], "-initrd", dir+"/initrd", "-append", "console=ttyAMA0 quiet panic=-1 -- -test.v -test.run=^TestCountersOfAMachine$").CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "--- PASS: TestCountersOfAMachine") {
		t.Errorf("the test did not pass there: %v", err)
	}
}

// TestCountersOfAMachine runs as a machine's first process, with nothing beside it.
func TestCountersOfAMachine(t *testing.T) {
	if os.Getpid() != 1 {
		t.Skip("is for a machine of its own (TestVirtualMachineCounters)")
	}
	for _, m := range [][2]string{{"proc", "/proc"}, {"sysfs", "/sys"}} {
		if err := unix.Mount(m[0], m[1], m[0], 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	// QEMU's cycles are those of its clock, which knows no halt.
	if c, err := openCycles(); err == nil || !strings.Contains(err.Error(), "while the CPUs are idle") {
		t.Fatalf("counters that do not stop were taken: %v, %v", c, err)
	}
	go func() { // so that there is no idle time
		runtime.LockOSThread()
		if err := unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19); err != nil {
			t.Error(err)
		}
		for i := 0; ; i++ {
			spun = i
		}
	}()
	time.Sleep(100 * time.Millisecond)
	c, err := openCycles()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	t.Log(c.How())
	user := kernelOf(t, c, 1_000_000, func() { spun++ })
	calls := kernelOf(t, c, 1_000, func() { unix.Getppid() })
	t.Logf("of its CPU the kernel took %.3f beside a program that computes, %.3f beside one that calls", user, calls)
	if calls < 2*user || calls < 0.2 || calls > 1.05 {
		t.Error("the kernel's cycles are not those of its mode")
	}
}

// spun is written so that a loop does something, without a system call.
var spun int

// kernelOf is the kernel's share of the machine's one CPU while a thread does something
// again and again, for a second of its own time.
func kernelOf(t *testing.T, c *cycles, rounds int, do func()) float64 {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := time.Now()
	before, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	for begin := threadTime(); threadTime()-begin < time.Second; {
		for range rounds {
			do()
		}
	}
	after, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	return (after.All - before.All).Seconds() / time.Since(start).Seconds()
}
