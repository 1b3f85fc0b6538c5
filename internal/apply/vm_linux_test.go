package apply

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/internal/plan"
	"linerate/internal/setting"
)

//go:embed testdata/vm-init.sh
var vmInit string

// vmCommands are what the agent and the machine's init use.
var vmCommands = []string{"dash", "mv", "cp", "rm", "ln", "mkdir", "rmdir", "chmod", "chown", "sync", "cat", "sed", "ls", "stat", "cmp",
	"grep", "tail", "sort", "setsid", "flock", "sleep", "id", "uname", "ps", "mawk", "tr", "md5sum", "find", "mount", "ip", "od", "date"}

// TestReboot boots a real kernel again and again while apply, confirm and
// rollback are under way: the power goes at another moment each time, nothing
// is synced. After each boot the machine must be as it was, or as confirmed.
//
// It needs QEMU and an unpacked kernel package, and minutes:
//
//	apt-get download linux-image-…-cloud-amd64; dpkg-deb -x linux-image-….deb k
//	LINERATE_VM=$PWD/k go test ./internal/apply -run TestReboot -v
func TestReboot(t *testing.T) {
	kernel := os.Getenv("LINERATE_VM")
	if kernel == "" {
		t.Skip("set LINERATE_VM to an unpacked kernel package to boot virtual machines")
	}
	boots, _ := strconv.Atoi(os.Getenv("LINERATE_VM_BOOTS"))
	if boots < 4 {
		boots = 40
	}
	dir := t.TempDir()
	vmlinuz := vmFind(t, kernel, "vmlinuz-*")
	initrd := vmInitrd(t, dir, kernel)
	disk := vmDisk(t, dir, boots)
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(boots)*3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", "-accel", "tcg", "-m", "256", "-nographic", "-nodefaults", "-serial", "stdio",
		"-kernel", vmlinuz, "-initrd", initrd, "-append", "console=ttyS0 quiet panic=1 no_timer_check tsc=unstable", "-drive", "file="+disk+",format=raw,if=virtio,cache=writeback")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("no QEMU here: %v", err)
	}
	tally := map[string]int{}
	old, renewed := "", ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if os.Getenv("LINERATE_VM_CONSOLE") != "" {
			fmt.Fprintln(os.Stderr, lines.Text())
		}
		if len(f) != 6 || f[0] != "state" {
			continue
		}
		t.Log(lines.Text())
		// state BOOT HASH CONFIRMED PENDING WHAT-WAS-CUT
		hash, confirmed, pending := f[2], f[3] == "yes", f[4] == "yes"
		switch {
		case old == "":
			old = hash
			tally["first"]++
		case pending:
			t.Errorf("boot %s: still pending: %s", f[1], lines.Text())
		case confirmed && renewed == "" && hash != old:
			renewed = hash
			tally["new"]++
		case confirmed && hash == renewed:
			tally["new"]++
		case !confirmed && hash == old:
			tally["old"]++
		default:
			t.Errorf("boot %s: neither old nor confirmed: %s (old %s, new %s)", f[1], lines.Text(), old, renewed)
			tally["mixed"]++
		}
	}
	_ = cmd.Wait()
	t.Logf("%v", tally)
	if tally["old"] == 0 || tally["new"] == 0 || tally["old"]+tally["new"]+tally["mixed"] < boots-1 {
		t.Errorf("too little happened: %v", tally)
	}
}

func vmFind(t *testing.T, dir, pattern string) string {
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

func vmRun(t *testing.T, stdin string, argv ...string) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", argv, err, out)
	}
}

// vmInitrd loads what a virtual disk needs.
func vmInitrd(t *testing.T, dir, kernel string) string {
	root := filepath.Join(dir, "initrd")
	vmRun(t, "", "mkdir", "-p", root+"/bin", root+"/root")
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatal("busybox-static is not installed")
	}
	vmRun(t, "", "cp", busybox, root+"/bin/busybox")
	script := "#!/bin/busybox sh\n"
	for _, m := range []string{"virtio_ring.ko", "virtio.ko", "virtio_pci_modern_dev.ko", "virtio_pci_legacy_dev.ko", "virtio_pci.ko", "virtio_blk.ko"} {
		vmRun(t, "", "cp", vmFind(t, kernel, m), filepath.Join(root, m))
		script += "/bin/busybox insmod /" + m + "\n"
	}
	script += "/bin/busybox mkdir /dev; /bin/busybox mount -t devtmpfs dev /dev\n/bin/busybox mount -t ext4 /dev/vda /root || exec /bin/busybox reboot -f\nexec /bin/busybox switch_root /root /sbin/init\n"
	if err := os.WriteFile(root+"/init", []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	image := filepath.Join(dir, "initrd.img")
	vmRun(t, "", "sh", "-c", `cd "$1" && find . | busybox cpio -o -H newc > "$2"`, "sh", root, image)
	return image
}

// vmDisk is the machine: commands with their libraries, the agent, a journal.
func vmDisk(t *testing.T, dir string, boots int) string {
	root := filepath.Join(dir, "disk")
	for _, d := range []string{"bin", "sbin", "proc", "sys", "dev", "tmp", "etc/sysctl.d", "etc/modprobe.d", "etc/init.d", "etc/rcS.d", "var/lib"} {
		vmRun(t, "", "mkdir", "-p", filepath.Join(root, d))
	}
	for _, c := range vmCommands {
		path, err := exec.LookPath(c)
		if err != nil {
			t.Fatalf("%s is not installed", c)
		}
		path, _ = filepath.EvalSymlinks(path)
		vmRun(t, "", "cp", path, filepath.Join(root, "bin", c))
		libs, _ := exec.Command("sh", "-c", `ldd "$1" | grep -o '/[^ ]*'`, "sh", path).Output()
		for lib := range strings.Lines(string(libs)) {
			lib = strings.TrimSpace(lib)
			vmRun(t, "", "mkdir", "-p", filepath.Join(root, filepath.Dir(lib)))
			vmRun(t, "", "cp", "-L", lib, filepath.Join(root, lib))
		}
	}
	vmRun(t, "", "ln", "-s", "dash", root+"/bin/sh")
	vmRun(t, "", "ln", "-s", "mawk", root+"/bin/awk")
	for name, text := range map[string]string{
		"sbin/init": vmInit, "agent": Agent(), "journal": string(vmJournal(t).Journal()), "boot": "0\n", "boots": fmt.Sprintf("%d\n", boots),
		"etc/sysctl.d/99-admin.conf": "net.ipv4.tcp_fin_timeout=61\n",
		plan.LinuxSysctl:             plan.Marker + "\n\n#: sysctl net.core.somaxconn\nnet.core.somaxconn=8192\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	disk := filepath.Join(dir, "disk.img")
	vmRun(t, "", "mke2fs", "-q", "-t", "ext4", "-d", root, disk, "96M")
	return disk
}

// vmJournal sets values and writes three files, one in a directory that is not
// there.
func vmJournal(t *testing.T) Transaction {
	sysctl := func(name, was, value string) plan.Setting {
		s := setTo(name, setting.Sysctl, was, value)
		s.Where.File = plan.LinuxSysctl
		return s
	}
	p := linuxPlan(sysctl("net.ipv4.ip_forward", "0", "1"), sysctl("net.ipv4.tcp_keepalive_time", "7200", "7000"),
		plan.Setting{Name: "nf_conntrack/hashsize", Mechanism: setting.ModParam, Value: "65536", Where: plan.Where{File: plan.LinuxModprobe}},
		plan.Setting{Name: "cpu0", Mechanism: setting.Governor, Value: "performance", Where: plan.Where{File: plan.LinuxTmpfiles}})
	now := snapshot("sysctl - net.ipv4.ip_forward =0", "sysctl - net.ipv4.tcp_keepalive_time =7200")
	now.Files[plan.LinuxSysctl] = FileNow{Content: plan.Marker + "\n\n#: sysctl net.core.somaxconn\nnet.core.somaxconn=8192\n"}
	tr, err := Prepare(p, now, 10*time.Minute, false)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(tr.Journal(), []byte("somaxconn")) {
		t.Fatal("the file's own settings are lost")
	}
	return tr
}
