package apply

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/internal/labtest"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

//go:embed testdata/vm-init.sh
var vmInit string

// vmCommands are the commands that the agent and the machine's init use.
var vmCommands = []string{"dash", "mv", "cp", "rm", "ln", "mkdir", "rmdir", "chmod", "chown", "sync", "cat", "sed", "ls", "stat", "cmp",
	"grep", "tail", "sort", "setsid", "flock", "sleep", "id", "uname", "ps", "mawk", "tr", "md5sum", "find", "mount", "ip", "od", "date"}

// TestReboot boots a real kernel repeatedly while apply, confirm and rollback are running: the power is cut
// at a different moment each time, without a sync. After each boot the machine must be as before, or as
// confirmed.
//
// It needs QEMU and an unpacked kernel package, and minutes:
//
//	apt-get download linux-image-…-cloud-amd64; dpkg-deb -x linux-image-….deb k
//	LINERATE_VM=$PWD/k go test ./internal/apply -run TestReboot -v
func TestReboot(t *testing.T) {
	labtest.NeedVM(t)
	boots, _ := strconv.Atoi(os.Getenv("LINERATE_VM_BOOTS"))
	if boots < 4 {
		boots = 40
	}
	image := labtest.NewVMImage(t, t.TempDir(), nil, labtest.VMRoot{
		Size: "96M", Commands: vmCommands, Dirs: []string{"etc/sysctl.d", "etc/modprobe.d", "etc/init.d", "etc/rcS.d", "var/lib"},
		Files: map[string]string{
			"sbin/init": vmInit, "agent": Agent(), "journal": string(vmJournal(t).Journal()), "boot": "0\n", "boots": fmt.Sprintf("%d\n", boots),
			"etc/sysctl.d/99-admin.conf": "net.ipv4.tcp_fin_timeout=61\n",
			plan.LinuxSysctl:             plan.Marker + "\n\n#: sysctl net.core.somaxconn\nnet.core.somaxconn=8192\n",
		},
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(boots)*3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", append([]string{"-accel", "tcg", "-m", "256", "-nographic", "-nodefaults", "-serial", "stdio"}, image.Argv()...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("cannot start QEMU: %v", err)
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
		t.Errorf("too few outcomes were seen: %v", tally)
	}
}

// vmJournal sets values and writes three files, one of them in a directory that does not exist.
func vmJournal(t *testing.T) Transaction {
	sysctl := func(name, was, value string) plan.Step {
		s := setTo(name, setting.Sysctl, was, value)
		s.Where.File = plan.LinuxSysctl
		return s
	}
	p := linuxPlan(sysctl("net.ipv4.ip_forward", "0", "1"), sysctl("net.ipv4.tcp_keepalive_time", "7200", "7000"),
		plan.Step{Name: "nf_conntrack/hashsize", Mechanism: setting.ModParam, Value: "65536", Where: plan.Where{File: plan.LinuxModprobe}},
		plan.Step{Name: "cpu0", Mechanism: setting.Governor, Value: "performance", Where: plan.Where{File: plan.LinuxTmpfiles}})
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
