package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/internal/audit"
	"linerate/internal/fact/redact"
	"linerate/internal/labtest"
)

// everyPlace maps every kind of file that the Linux audit reads to a line that the audit
// reports on; secrets are planted in the same directories.
var everyPlace = map[string]string{
	"os-release": "ID=rhel\n", "sysctl.conf": "net.ipv4.tcp_tw_recycle=1\n", "sysctl.d/90-a.conf": "net.ipv4.tcp_sack=0\n", "sysctl.d/95-forgotten": "net.ipv4.tcp_timestamps=0\n",
	"modprobe.d/a.conf": "options ixgbe InterruptThrottleRate=1\n", "modules-load.d/a.conf": "nf_conntrack\n", "default/grub": "GRUB_CMDLINE_LINUX=\"pcie_aspm=off\"\n", "default/grub.d/a.cfg": "GRUB_CMDLINE_LINUX=\"mitigations=off\"\n",
	"systemd/network/10-a.link": "[Match]\nOriginalName=eth9\n[Link]\nGenericReceiveOffload=false\nLargeReceiveOffload=true\n", "systemd/network/20-a.network": "[Match]\nName=eth9\n[Network]\nIPv4ReversePathFilter=strict\nIPForward=yes\n",
	"udev/rules.d/90-a.rules": "ACTION==\"add\", SUBSYSTEM==\"net\", KERNEL==\"eth9\", ATTR{gro_flush_timeout}=\"20000\", RUN+=\"/sbin/ethtool -K eth9 gro off\"\n",
	"network/interfaces":      "auto eth8\niface eth8 inet dhcp\n wpa-psk hunter2secret\n post-up ethtool -K eth8 gro off\n", "rc.d/rc.local": "sysctl -w net.ipv4.tcp_low_latency=1\n",
	"tuned/active_profile": "mine\n", "tuned/mine/tuned.conf": "[sysctl]\nnet.ipv4.tcp_fack=1\n",
	"NetworkManager/system-connections/lan.nmconnection":   "[connection]\nid=lan\ninterface-name=eth7\n[wifi-security]\npsk=hunter2secret\nwep-key0=hunter2secret\n[802-1x]\npassword=hunter2secret\n[macsec]\nmka-cak=hunter2secret\n[wireguard]\nprivate-key=yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\n[ethtool]\nfeature-gro=false\nring-rx=4096\n",
	"netplan/60-lan.yaml":                                  "network:\n  version: 2\n  ethernets:\n    eth6: # lan\n      dhcp4: true\n      addresses: [198.18.0.2/24]\n      mtu: 9000\n      generic-receive-offload: false\n      auth:\n        key-management: psk\n        password: hunter2secret\n  wifis:\n    wl0:\n      access-points:\n        \"home\":\n          password: |\n            hunter2secret\n  tunnels:\n    wg0:\n      mode: wireguard\n      key: 4GgaQCy68nzNsUE5aJ9fuLzHhB65tAlwbmA72MWnOm8=\n",
	"sysconfig/network-scripts/ifcfg-x":                    "DEVICE=eth5\nKEY_PASSPHRASE1=hunter2secret\nMTU=9000\nETHTOOL_OPTS=\"-K ${DEVICE} gro off\"\n",
	"cloud/cloud.cfg.d/90-a.cfg":                           "password: hunter2secret\nchpasswd:\n  list: |\n    root:hunter2secret\nbootcmd:\n  - sysctl -w net.ipv4.tcp_fack=1\nruncmd:\n  - sysctl -w net.ipv4.tcp_low_latency=1\n",
	"systemd/networkd.conf":                                "[Network]\nIPv4Forwarding=yes\n",
	"systemd/system/multi-user.target.wants/nginx.service": "",
}

// plantedPlaces are files of every kind in which administrators leave secrets.
var plantedPlaces = []string{"sysctl.d/97-planted.conf", "modprobe.d/planted.conf", "modules-load.d/planted.conf", "default/grub.d/planted.cfg", "systemd/network/30-planted.network",
	"udev/rules.d/91-planted.rules", "network/interfaces.d/planted", "rc.local", "tuned/planted/tuned.conf", "NetworkManager/system-connections/planted.nmconnection", "netplan/61-planted.yaml",
	"sysconfig/network-scripts/ifcfg-planted", "cloud/cloud.cfg.d/91-planted.cfg", "fstab", "nftables.conf", "kernel/cmdline"}

// plant returns the secrets that package keep's test data plants in a file under /etc.
func plant(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../../internal/fact/redact/testdata/planted-by-kind.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut("\n"+string(data), "\n["+redact.KindOf("/etc/"+name, "")+"]\n")
	if !ok {
		t.Fatalf("nothing is planted in files such as %s", name)
	}
	if at := plantedHead.FindStringIndex(text); at != nil {
		text = text[:at[0]+1]
	}
	return text
}

// plantedHead matches the header of the next kind; the sections of the files themselves look similar.
var plantedHead = regexp.MustCompile(`\n\[(` + strings.Join([]string{redact.Loader, redact.RC, redact.Grub, redact.BootLine, redact.Modprobe, redact.Modules, redact.Systemd, redact.Tuned, redact.Networks, redact.Netplan, redact.Ifcfg,
	redact.Ifupdown, redact.Script, redact.Cloud, redact.Udev, redact.Fstab, redact.PF, redact.NFT, redact.IPTables}, "|") + `)\]\n`)

// TestCaptureTellsWhatTheHostTells audits a host and its capture: both must read the same
// lines and give the same findings, and no secret may appear in the capture or in the output
// of either audit.
func TestCaptureTellsWhatTheHostTells(t *testing.T) {
	t.Parallel()
	labtest.Namespaces(t)
	dir := t.TempDir()
	texts := maps.Clone(everyPlace)
	for _, name := range plantedPlaces {
		texts[name] += plant(t, name)
	}
	for name, text := range texts {
		p := filepath.Join(dir, "etc", name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("unshare", "-m", "sh", "-ec", `cp -a /etc/alternatives etc/ 2>/dev/null || :
mount --bind etc /etc
linerate audit --json --role router >host.json
linerate capture -o bundle.tar.gz
linerate audit bundle.tar.gz --json --role router >bundle.json
mkdir all
tar -C all -xzf bundle.tar.gz
for of in "" bundle.tar.gz; do
	linerate audit $of --role router >all/audit$of.txt
	linerate audit $of --role router --json >all/audit$of.json
	linerate audit $of --role router --sarif >all/audit$of.sarif
	linerate inspect $of >all/inspect$of.txt
	linerate inspect $of --json >all/inspect$of.json
	linerate plan $of --role router >all/plan$of.txt 2>&1 || :
done
test $(ls all/*.json | wc -l) -eq 4`)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	host, bundle := linesJudged(t, filepath.Join(dir, "host.json")), linesJudged(t, filepath.Join(dir, "bundle.json"))
	if d := cmp.Diff(host, bundle); d != "" {
		t.Errorf("the audit of the capture differs from that of the host (-host +capture)\n%s", d)
	}
	for name := range everyPlace {
		if quiet := map[string]bool{"os-release": true, "modules-load.d/a.conf": true, "tuned/active_profile": true, "systemd/networkd.conf": true,
			"systemd/network/20-a.network": true, "systemd/system/multi-user.target.wants/nginx.service": true}; !quiet[name] && !strings.Contains(strings.Join(host.Said, "\n"), "/etc/"+name) {
			t.Errorf("no audited line comes from /etc/%s: the test does not cover it", name)
		}
	}
	if out, err := exec.Command("grep", "-rnE", "hunter2|yAnz5TF|4GgaQCy|swordfish|8675309", filepath.Join(dir, "all")).CombinedOutput(); err == nil {
		t.Errorf("secrets are in %s", out)
	}
}

type judgedLines struct {
	Lines, Set, Known int
	Said              []string
}

func linesJudged(t *testing.T, file string) judgedLines {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r audit.Report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	j := judgedLines{Lines: r.Lines, Set: r.Coverage.Set, Known: r.Coverage.SetKnown}
	for _, f := range r.Findings {
		// These judge words, and of masked ones nothing is said.
		ofMasked := strings.HasPrefix(f.ID, "LR-LINUX-TWO-MANAGERS:") || strings.HasPrefix(f.ID, "LR-SLIP:fstab-option") || strings.HasPrefix(f.ID, "LR-SLIP:") && (strings.Contains(f.File, "planted") || f.File == "/etc/rc.local") || strings.HasPrefix(f.ID, "LR-WORD:") && strings.Contains(f.ID, redact.Mark)
		if f.File != "" && !ofMasked {
			j.Said = append(j.Said, f.ID+" "+f.File+" "+f.Message)
		}
	}
	return j
}
