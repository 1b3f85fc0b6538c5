package export

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/labtest"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// TestOpenWrtScript runs the script by busybox's ash and its applets in a network and a
// mount namespace of its own, and the MTU's part where there is a uci(1): what try sets
// goes back by the wait and by back, and nothing is written before keep.
func TestOpenWrtScript(t *testing.T) {
	if os.Getuid() != 0 {
		labtest.Lacking(t, "root, for namespaces of its own")
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		labtest.Lacking(t, "busybox")
	}
	p := sample(t, "linux")
	p.Settings = []plan.Step{step(setting.Sysctl, "linux", "net.ipv4.tcp_rmem", "", "4096 65536 1048576"), step(setting.Sysctl, "linux", "net.ipv4.ip_default_ttl", "", "77")}
	uci, noUCI := exec.LookPath("uci")
	if noUCI == nil {
		p.Settings = append(p.Settings, step(setting.Link, "linux", "mtu", "eth9", "1400"), step(setting.Link, "linux", "mtu", "eth8", "1300"))
	}
	p.Digest = ""
	if p, err = plan.Seal(p); err != nil {
		t.Fatal(err)
	}
	text, err := Write(p, "openwrt")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bin, etc := filepath.Join(dir, "bin"), filepath.Join(dir, "etc")
	for name, content := range map[string]string{"plan.sh": text, "etc/sysctl.conf": "# yours\n", "etc/config/network": "config device 'mine'\n\toption name 'eth9'\n\toption mtu '1500'\n", "steps.sh": openwrtSteps} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, applet := range []string{"sh", "cat", "sysctl", "ip", "sleep", "mkdir", "mv", "rm", "sed", "head", "tr", "mount", "grep", "ls"} {
		if err := os.Symlink(busybox, filepath.Join(bin, applet)); err != nil {
			t.Fatal(err)
		}
	}
	iproute, err := exec.LookPath("ip")
	if err != nil {
		labtest.Lacking(t, "ip(8)")
	}
	if err := os.Symlink(iproute, filepath.Join(bin, "realip")); err != nil {
		t.Fatal(err)
	}
	if noUCI == nil {
		if err := os.Symlink(uci, filepath.Join(bin, "uci")); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "-mnpf", "--kill-child", busybox, "ash", filepath.Join(dir, "steps.sh"))
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + bin, "ETC=" + etc}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, text)
	}
	kept, err := os.ReadFile(filepath.Join(etc, "sysctl.conf"))
	if err != nil || !strings.HasPrefix(string(kept), "# yours\n") || !strings.Contains(string(kept), "\nnet.ipv4.ip_default_ttl=77\n") {
		t.Errorf("%s, %v", kept, err)
	}
	if noUCI != nil {
		t.Log("no uci(1) here: the MTU's part did not run")
		return
	}
	network, err := os.ReadFile(filepath.Join(etc, "config/network"))
	if err != nil || strings.Count(string(network), "config device") != 2 || !strings.Contains(string(network), "option mtu '1400'") || !strings.Contains(string(network), "option mtu '1300'") {
		t.Errorf("%s, %v", network, err)
	}
}

// openwrtSteps tries, waits, tries, takes back, tries and keeps.
const openwrtSteps = `set -eu
mount --bind "$ETC" /etc
# The directory may lie in /tmp, which is about to be another.
mount --bind . /mnt && cd /mnt && PATH=/mnt/bin
mount -t tmpfs none /tmp 2>/dev/null || mount -t tmpfs tmpfs /tmp
realip link add eth9 type veth peer name eth8
state() { sysctl -n net.ipv4.tcp_rmem net.ipv4.ip_default_ttl; cat /sys/class/net/eth9/mtu /sys/class/net/eth8/mtu; cat /etc/sysctl.conf /etc/config/network; }
mount -t sysfs none /sys
was=$(state)
gone() { n=0; while [ -d /tmp/linerate-plan ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n + 1)); done; [ ! -d /tmp/linerate-plan ]; }
must() { "$@" || { echo "failed: $*"; state; exit 1; }; }
same() { [ "$(state)" = "$was" ]; }

WAIT=1 must sh plan.sh try
must gone
must same
must sh plan.sh try
! sh plan.sh try || { echo "a second try went on"; exit 1; }
[ "$(sysctl -n net.ipv4.ip_default_ttl)" = 77 ] || { echo "not set"; exit 1; }
! grep -q ttl /etc/sysctl.conf || { echo "written before keep"; exit 1; }
must sh plan.sh back
must same
! sh plan.sh keep || { echo "kept what nobody tried"; exit 1; }
WAIT=1 must sh plan.sh try # whose wait ends while another try is under way
must sh plan.sh back
must sh plan.sh try
sleep 1.5
must sh plan.sh keep
[ "$(sysctl -n net.ipv4.ip_default_ttl)" = 77 ] || { echo "not kept"; exit 1; }
must sh plan.sh try
must sh plan.sh keep # writes over what it wrote before
[ "$(grep -c ip_default_ttl= /etc/sysctl.conf)" = 1 ] || { echo "written twice"; exit 1; }
`
