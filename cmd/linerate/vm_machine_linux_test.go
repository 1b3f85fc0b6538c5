package main

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"linerate/internal/labtest"
)

// vm is a router that really boots, emulated by QEMU, between two namespaces:
//
//	Generator gen0 198.18.0.1/16 ── eth1 198.18.255.254 VM
//	VM eth2 198.19.255.254/16 ── rx0 198.19.0.1 Receiver
//
// Its eth0 leads to an sshd that listens on Port of this machine's loopback address.
type vm struct {
	Generator, Receiver string // names of the namespaces
	Port                int
	Dir                 string
}

// vmNet are the kernel modules that the interfaces need.
var vmNet = []string{"failover", "net_failover", "virtio_net"}

// vmCommands are the commands that a testbed runs on its DUT, and those of its init and sshd.
var vmCommands = []string{"dash", "mv", "cp", "rm", "ln", "mkdir", "rmdir", "chmod", "chown", "sync", "cat", "sed", "ls", "stat", "cmp", "grep", "tail", "head", "sort",
	"setsid", "flock", "sleep", "id", "uname", "ps", "mawk", "tr", "md5sum", "find", "mount", "ip", "od", "date", "mktemp", "sysctl", "cut", "wc", "timeout", "env", "dd", "ethtool", "touch", "readlink", "hostname", "sshd"}

// vmInit is the machine's init: of a Debian boot it does what a testbed depends on.
const vmInit = `#!/bin/sh
PATH=/bin:/sbin
export PATH
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
mount -o remount,rw /
mkdir -p /run/sshd /dev/pts
ip link set lo up
ip addr add 10.0.2.15/24 dev eth0 && ip link set eth0 up
ip route add default via 10.0.2.2
for e in "1 198.18.255.254/16" "2 198.19.255.254/16"; do
	set -- $e
	ip addr add "$2" dev "eth$1" && ip link set "eth$1" up
done
echo 1 >/proc/sys/net/ipv4/ip_forward
for s in /etc/rcS.d/S*; do [ ! -e "$s" ] || sh "$s" start; done
for f in /etc/sysctl.d/*.conf; do [ ! -e "$f" ] || sysctl -q -p "$f"; done
/bin/sshd -D -e -f /etc/sshd_config &
until grep -q ":0016 " /proc/net/tcp; do sleep 0.1; done
echo "vm: up $(cat /proc/sys/kernel/random/boot_id)"
# Whoever writes here wants another boot.
while [ ! -e /run/boot ]; do sleep 1; done
echo "vm: going down"
sync
echo s >/proc/sysrq-trigger
sleep 1
echo b >/proc/sysrq-trigger
sleep 100
`

// newVM boots a virtual machine that is stopped when t ends; it skips t where VMs are not
// enabled. With entries, GRUB boots the machine: each has a title and what it adds to the
// kernel command line, and the first is the default.
func newVM(t testing.TB, entries ...[2]string) *vm {
	t.Helper()
	labtest.NeedVM(t)
	labtest.Namespaces(t)
	id := os.Getpid() % 100_000
	v := &vm{Generator: fmt.Sprintf(labtest.Prefix+"v%d-g", id), Receiver: fmt.Sprintf(labtest.Prefix+"v%d-r", id), Dir: t.TempDir(), Port: vmPort(t)}
	for _, ns := range []string{v.Generator, v.Receiver} {
		vmSetUp(t, "ip", "netns", "add", ns)
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", ns).Run() })
		vmSetUp(t, "ip", "-n", ns, "link", "set", "lo", "up")
	}
	vmSetUp(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", v.Dir+"/host")
	vmSetUp(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", v.Dir+"/key")
	root := v.root(t)
	root.Entries = entries
	v.start(t, labtest.NewVMImage(t, v.Dir, vmNet, root), id)
	return v
}

func vmPort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// vmSetUp runs a command that prepares the machine.
func vmSetUp(t testing.TB, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v: %s", argv, err, out)
	}
}

func (v *vm) start(t testing.TB, image labtest.VMImage, id int) {
	t.Helper()
	taps := []string{fmt.Sprintf(labtest.Prefix+"v%dg", id), fmt.Sprintf(labtest.Prefix+"v%dr", id)}
	for _, p := range []string{".in", ".out"} {
		vmSetUp(t, "mkfifo", v.Dir+"/monitor"+p)
	}
	argv := []string{"-accel", "tcg", "-m", "256", "-nodefaults", "-display", "none", "-serial", "file:" + v.Console(), "-monitor", "pipe:" + v.Dir + "/monitor",
		"-netdev", fmt.Sprintf("user,id=m,hostfwd=tcp:127.0.0.1:%d-10.0.2.15:22", v.Port), "-device", "virtio-net-pci,netdev=m,romfile=,addr=4"}
	argv = append(argv, image.Argv()...)
	for i, tap := range taps {
		argv = append(argv, "-netdev", fmt.Sprintf("tap,id=t%d,ifname=%s,script=no,downscript=no", i, tap),
			"-device", fmt.Sprintf("virtio-net-pci,netdev=t%d,mac=52:54:00:00:0%d:fe,romfile=,addr=%d", i, i+1, 5+i))
	}
	cmd := exec.Command("qemu-system-x86_64", argv...)
	log, err := os.Create(v.Dir + "/qemu.log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatalf("cannot start QEMU: %v", err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	for i, e := range [][3]string{{v.Generator, "gen0", "198.18.0.1/16"}, {v.Receiver, "rx0", "198.19.0.1/16"}} {
		for range 500 { // until QEMU has created it
			if exec.Command("ip", "link", "show", taps[i]).Run() == nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		vmSetUp(t, "ip", "link", "set", taps[i], "netns", e[0], "name", e[1])
		vmSetUp(t, "ip", "-n", e[0], "addr", "add", e[2], "dev", e[1])
		vmSetUp(t, "ip", "-n", e[0], "link", "set", e[1], "up")
	}
	vmSetUp(t, "ip", "-n", v.Generator, "route", "add", "198.19.0.0/16", "via", "198.18.255.254")
	vmSetUp(t, "ip", "-n", v.Receiver, "route", "add", "198.18.0.0/16", "via", "198.19.255.254")
}

// Console returns the file with the machine's console output.
func (v *vm) Console() string { return v.Dir + "/console" }

// Power returns a command that power-cycles the machine.
func (v *vm) Power() []string {
	return []string{"/bin/sh", "-c", "echo system_reset >" + v.Dir + "/monitor.in"}
}

// SSHConfig writes an ssh_config(5) in which the machine is called dut.
func (v *vm) SSHConfig(t testing.TB) string {
	t.Helper()
	host, err := os.ReadFile(v.Dir + "/host.pub")
	if err != nil {
		t.Fatal(err)
	}
	v.write(t, "known", fmt.Sprintf("[127.0.0.1]:%d %s", v.Port, host), 0o600)
	return v.write(t, "ssh_config", fmt.Sprintf("Host dut\n  HostName 127.0.0.1\n  Port %d\n  User root\n  IdentityFile %s/key\n  IdentitiesOnly yes\n  UserKnownHostsFile %s/known\n", v.Port, v.Dir, v.Dir), 0o600)
}

// Run runs a command on the machine.
func (v *vm) Run(t testing.TB, command string) string {
	t.Helper()
	out, err := exec.Command("ssh", "-F", v.SSHConfig(t), "dut", "PATH=/bin:/sbin; "+command).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	return string(out)
}

func (v *vm) write(t testing.TB, name, text string, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(v.Dir, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// root returns the machine's root file system: commands and an sshd.
func (v *vm) root(t testing.TB) labtest.VMRoot {
	t.Helper()
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(v.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	return labtest.VMRoot{
		Size: "128M", Commands: vmCommands,
		Dirs:  []string{"run", "var/lib", "var/empty", "usr", "etc/sysctl.d", "etc/init.d", "etc/rcS.d"},
		Links: map[string]string{"usr/bin": "../bin", "usr/sbin": "../bin"},
		Files: map[string]string{
			"sbin/init": vmInit, "bin/shutdown": "#!/bin/sh\n: >/run/boot\n",
			"etc/passwd": "root:x:0:0:root:/root:/bin/sh\nsshd:x:101:65534::/run/sshd:/bin/false\n", "etc/group": "root:x:0:\nnogroup:x:65534:\n", "etc/inittab": "# as of sysvinit\n",
			"etc/nsswitch.conf": "passwd: files\ngroup: files\n",
			"etc/sshd_config":   "HostKey /etc/host_key\nStrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\nPermitRootLogin yes\nMaxStartups 100\nUseDNS no\n",
			"etc/kept.conf":     "ours\n", "etc/host_key": read("host"), "root/.ssh/authorized_keys": read("key.pub"),
		},
		Private: []string{"etc/host_key"},
	}
}
