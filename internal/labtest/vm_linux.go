package labtest

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// VMKernel is the environment variable that names an unpacked kernel package of
// Debian's, for tests that boot virtual machines.
const VMKernel = "LINERATE_VM"

// VM is a router that really boots, emulated by QEMU, between two namespaces:
//
//	Generator gen0 198.18.0.1/16 ── eth1 198.18.255.254 VM
//	VM eth2 198.19.255.254/16 ── rx0 198.19.0.1 Receiver
//
// Its eth0 leads to an sshd, at Port of this machine's loopback address.
type VM struct {
	Generator, Receiver string // names of the namespaces
	Port                int
	Dir                 string
}

// vmModules are what a root on a virtual disk and the interfaces need, in order.
var vmModules = []string{"virtio_ring", "virtio", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci", "virtio_blk", "failover", "net_failover", "virtio_net"}

// vmCommands are what a testbed asks of its DUT, an init and an sshd.
var vmCommands = []string{"dash", "mv", "cp", "rm", "ln", "mkdir", "rmdir", "chmod", "chown", "sync", "cat", "sed", "ls", "stat", "cmp", "grep", "tail", "head", "sort",
	"setsid", "flock", "sleep", "id", "uname", "ps", "mawk", "tr", "md5sum", "find", "mount", "ip", "od", "date", "mktemp", "sysctl", "cut", "wc", "timeout", "env", "dd", "ethtool", "touch", "readlink", "hostname", "sshd"}

// vmInit is the machine's first process: it does what a boot of Debian's does as
// far as a testbed depends on it.
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

// NewVM boots a virtual machine that ends with t; where nobody asked for one, t
// is skipped.
func NewVM(t testing.TB) *VM {
	t.Helper()
	kernel := os.Getenv(VMKernel)
	if kernel == "" {
		t.Skip("set " + VMKernel + " to an unpacked kernel package to boot virtual machines")
	}
	Namespaces(t)
	id := os.Getpid() % 100_000
	v := &VM{Generator: fmt.Sprintf(Prefix+"v%d-g", id), Receiver: fmt.Sprintf(Prefix+"v%d-r", id), Dir: t.TempDir(), Port: freePort(t)}
	for _, ns := range []string{v.Generator, v.Receiver} {
		sh(t, "ip", "netns", "add", ns)
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", ns).Run() })
		sh(t, "ip", "-n", ns, "link", "set", "lo", "up")
	}
	sh(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", v.Dir+"/host")
	sh(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", v.Dir+"/key")
	v.start(t, vmFind(t, kernel, "vmlinuz-*"), v.initrd(t, kernel), v.disk(t), id)
	return v
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (v *VM) start(t testing.TB, vmlinuz, initrd, disk string, id int) {
	t.Helper()
	taps := []string{fmt.Sprintf(Prefix+"v%dg", id), fmt.Sprintf(Prefix+"v%dr", id)}
	for _, p := range []string{".in", ".out"} {
		sh(t, "mkfifo", v.Dir+"/monitor"+p)
	}
	argv := []string{"-accel", "tcg", "-m", "256", "-nodefaults", "-display", "none", "-serial", "file:" + v.Console(), "-monitor", "pipe:" + v.Dir + "/monitor",
		"-kernel", vmlinuz, "-initrd", initrd, "-append", "console=ttyS0 quiet panic=1 no_timer_check tsc=unstable net.ifnames=0",
		"-drive", "file=" + disk + ",format=raw,if=virtio,cache=writeback",
		"-netdev", fmt.Sprintf("user,id=m,hostfwd=tcp:127.0.0.1:%d-10.0.2.15:22", v.Port), "-device", "virtio-net-pci,netdev=m,romfile=,addr=4"}
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
		t.Fatalf("no QEMU here: %v", err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	for i, e := range [][3]string{{v.Generator, "gen0", "198.18.0.1/16"}, {v.Receiver, "rx0", "198.19.0.1/16"}} {
		for range 500 { // until QEMU has made it
			if exec.Command("ip", "link", "show", taps[i]).Run() == nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		sh(t, "ip", "link", "set", taps[i], "netns", e[0], "name", e[1])
		sh(t, "ip", "-n", e[0], "addr", "add", e[2], "dev", e[1])
		sh(t, "ip", "-n", e[0], "link", "set", e[1], "up")
	}
	sh(t, "ip", "-n", v.Generator, "route", "add", "198.19.0.0/16", "via", "198.18.255.254")
	sh(t, "ip", "-n", v.Receiver, "route", "add", "198.18.0.0/16", "via", "198.19.255.254")
}

// Console is the file of what the machine prints.
func (v *VM) Console() string { return v.Dir + "/console" }

// Power is a command that cycles the machine's power.
func (v *VM) Power() []string {
	return []string{"/bin/sh", "-c", "echo system_reset >" + v.Dir + "/monitor.in"}
}

// SSHConfig is a ssh_config(5) in which the machine's name is dut.
func (v *VM) SSHConfig(t testing.TB) string {
	t.Helper()
	host, err := os.ReadFile(v.Dir + "/host.pub")
	if err != nil {
		t.Fatal(err)
	}
	v.write(t, "known", fmt.Sprintf("[127.0.0.1]:%d %s", v.Port, host), 0o600)
	return v.write(t, "ssh_config", fmt.Sprintf("Host dut\n  HostName 127.0.0.1\n  Port %d\n  User root\n  IdentityFile %s/key\n  IdentitiesOnly yes\n  UserKnownHostsFile %s/known\n", v.Port, v.Dir, v.Dir), 0o600)
}

// Run runs a command on the machine.
func (v *VM) Run(t testing.TB, command string) string {
	t.Helper()
	out, err := exec.Command("ssh", "-F", v.SSHConfig(t), "dut", "PATH=/bin:/sbin; "+command).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	return string(out)
}

func (v *VM) write(t testing.TB, name, text string, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(v.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func vmFind(t testing.TB, dir, pattern string) string {
	t.Helper()
	found := ""
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if ok, _ := filepath.Match(pattern, filepath.Base(p)); err == nil && ok && !d.IsDir() {
			found = p
		}
		return nil
	})
	if found == "" {
		t.Fatalf("no %s under %s", pattern, dir)
	}
	return found
}

// initrd loads modules and goes on with the disk.
func (v *VM) initrd(t testing.TB, kernel string) string {
	t.Helper()
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatal("busybox-static is not installed")
	}
	root := filepath.Join(v.Dir, "initrd")
	sh(t, "mkdir", "-p", root+"/bin", root+"/root", root+"/dev")
	sh(t, "cp", busybox, root+"/bin/busybox")
	script := "#!/bin/busybox sh\n"
	for _, m := range vmModules {
		sh(t, "cp", vmFind(t, kernel, m+".ko"), root+"/"+m+".ko")
		script += "/bin/busybox insmod /" + m + ".ko\n"
	}
	script += "/bin/busybox mount -t devtmpfs dev /dev\n/bin/busybox mount -t ext4 /dev/vda /root || exec /bin/busybox reboot -f\n/bin/busybox mount -t devtmpfs dev /root/dev\nexec /bin/busybox switch_root /root /sbin/init\n"
	v.write(t, "initrd/init", script, 0o755)
	image := v.Dir + "/initrd.img"
	sh(t, "sh", "-c", `cd "$1" && find . | busybox cpio -o -H newc >"$2"`, "sh", root, image)
	return image
}

// disk is the machine's root: commands with their libraries, and an sshd.
func (v *VM) disk(t testing.TB) string {
	t.Helper()
	for _, d := range []string{"bin", "sbin", "proc", "sys", "dev", "tmp", "run", "root/.ssh", "etc/sysctl.d", "etc/init.d", "etc/rcS.d", "var/lib", "var/empty", "usr"} {
		sh(t, "mkdir", "-p", filepath.Join(v.Dir, "disk", d))
	}
	root := filepath.Join(v.Dir, "disk")
	for _, c := range vmCommands {
		path, err := exec.LookPath(c)
		if err != nil {
			t.Fatalf("%s is not installed", c)
		}
		path, _ = filepath.EvalSymlinks(path)
		sh(t, "cp", path, filepath.Join(root, "bin", c))
		libs, _ := exec.Command("sh", "-c", `ldd "$1" | grep -o '/[^ ]*'`, "sh", path).Output()
		for lib := range strings.Lines(string(libs)) {
			lib = strings.TrimSpace(lib)
			sh(t, "mkdir", "-p", filepath.Join(root, filepath.Dir(lib)))
			sh(t, "cp", "-L", lib, filepath.Join(root, lib))
		}
	}
	for _, l := range [][2]string{{"dash", "/bin/sh"}, {"mawk", "/bin/awk"}, {"../bin", "/usr/bin"}, {"../bin", "/usr/sbin"}} {
		sh(t, "ln", "-s", l[0], root+l[1])
	}
	sh(t, "cp", v.Dir+"/host", root+"/etc/host_key")
	sh(t, "cp", v.Dir+"/key.pub", root+"/root/.ssh/authorized_keys")
	for name, text := range map[string]string{
		"sbin/init": vmInit, "bin/shutdown": "#!/bin/sh\n: >/run/boot\n",
		"etc/passwd": "root:x:0:0:root:/root:/bin/sh\nsshd:x:101:65534::/run/sshd:/bin/false\n", "etc/group": "root:x:0:\nnogroup:x:65534:\n", "etc/inittab": "# as of sysvinit\n",
		"etc/nsswitch.conf": "passwd: files\ngroup: files\n",
		"etc/sshd_config":   "HostKey /etc/host_key\nStrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\nPermitRootLogin yes\nMaxStartups 100\nUseDNS no\n",
		"etc/kept.conf":     "ours\n",
	} {
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		v.write(t, "disk/"+name, text, mode)
	}
	sh(t, "chmod", "600", root+"/etc/host_key")
	disk := v.Dir + "/disk.img"
	sh(t, "mke2fs", "-q", "-t", "ext4", "-d", root, disk, "128M")
	return disk
}
