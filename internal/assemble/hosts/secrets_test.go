package hosts

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"linerate/internal/audit"
	"linerate/internal/export"
	"linerate/internal/fact"
	"linerate/internal/fact/redact"
	"linerate/internal/plan"
)

// secretForms are how people write secrets; %s is one.
var secretForms = []string{
	"wpa-psk %s", "PASSWORD=%s", `password="%s"`, "curl -u admin:%s https://192.0.2.1/x", "wget --password=%s", "token: %s", "api_key = %s", "snmp community %s",
	"Authorization: Bearer %s", "fetch https://bob:%s@host/x", "mysql -p%s", "export TOKEN=%s", "PrivateKey = %s", "secret %s", "psk=%s", "key %s", "passphrase: '%s'",
	"net.ipv6.conf.all.stable_secret=%s", "sysctl -w kern.x.secret=%s", "preshared_key: %s", "%s", "user:%s", "a_name=%s", `say "%s"`,
}

// secretPlaces are files of a host with lines that an audit speaks of, and the comment that a
// secret can stand in on each of them.
var secretPlaces = map[string]map[string][2]string{
	fact.FreeBSD: {
		"/etc/rc.conf": {"pf_enable=\"TRU\"", " # "}, "/boot/loader.conf": {"net.isr.dispatch=\"deferred\"", " # "}, "/etc/sysctl.conf": {"net.inet.ip.ttl=300", " # "},
		"/etc/pf.conf": {"set limit states 5", " # "}, "/etc/ipfw.rules": {"ipfw add allow ip from any to any", " # "}, "/boot/device.hints": {"hint.uart.0.at=\"isa\"", " # "},
		"/usr/local/etc/nginx/nginx.conf": {"listen 80 backlog=65535;", " # "}, "/etc/fstab": {"/dev/ada0p2 / ufs rw 1 1", " # "},
	},
	fact.Linux: {
		"/etc/sysctl.d/90.conf": {"net.core.somaxconn=10", " # "}, "/etc/modprobe.d/x.conf": {"options nf_conntrack hashsize=16", " # "}, "/etc/default/grub": {"GRUB_CMDLINE_LINUX=\"nohz_full=1-99\"", " # "},
		"/etc/rc.local": {"sysctl -w vm.swappiness=200", " # "}, "/etc/network/interfaces": {"iface eth0.5 inet dhcp\n mtu 9000", "\n # "}, "/etc/netplan/1.yaml": {"network:\n  vlans:\n    v5:\n      link: eth0\n      mtu: 9000", " # "},
		"/etc/systemd/network/1.link": {"[Match]\nDriver=ixgbe\n[Link]\nRingSize=5", "\n# "}, "/etc/systemd/network/1.network": {"[Match]\nName=eth0\n[Network]\nIPv4Forwarding=yes", "\n# "},
		"/etc/systemd/system/x.service": {"[Service]\nLimitNOFILE=1x", "\n# "}, "/etc/udev/rules.d/1.rules": {"SUBSYSTEM==\"net\", ATTR{tx_queue_len}=\"1\"", " # "},
		"/etc/nftables.conf": {"table inet f {\n chain input {\n  type filter hook input priority 0; policy drop;\n  ct state new accept\n }\n}", "\n# "}, "/etc/security/limits.conf": {"nginx - nofile 65536", " # "},
		"/etc/NetworkManager/system-connections/a.nmconnection": {"[connection]\ninterface-name=eth0\n[ethernet]\nmtu=9000\n[wifi-security]", "\n# "}, "/etc/cloud/cloud.cfg.d/1.cfg": {"bootcmd:\n - sysctl -w vm.swappiness=200", " # "},
		"/etc/tuned/mine/tuned.conf": {"[sysctl]\nvm.swappiness=200", "\n# "}, "/etc/tuned/active_profile": {"mine", " "},
	},
}

// plant writes a tree in which each form of secret stands in each file, by itself and behind a
// line that an audit speaks of, and returns the secrets.
func plant(t *testing.T, dir, os string) (secrets []string) {
	for _, p := range slices.Sorted(maps.Keys(secretPlaces[os])) {
		text := secretPlaces[os][p][0] + "\n"
		for i, form := range secretForms {
			secret := fmt.Sprintf("Hunter%dx%dZq", len(secrets), i*7919)
			secrets = append(secrets, secret)
			said := fmt.Sprintf(form, secret)
			if i%2 == 0 {
				said = secretPlaces[os][p][0] + secretPlaces[os][p][1] + said
			}
			text += said + "\n"
		}
		written(t, dir, strings.TrimPrefix(p, "/"), text)
	}
	return secrets
}

// TestPlantedSecrets: of some five hundred secrets in the files of two hosts none is in
// facts, reports, SARIF, diffs and fixes, which go to machines and to others.
func TestPlantedSecrets(t *testing.T) {
	total := 0
	for os, release := range map[string]string{fact.FreeBSD: "14.3", fact.Linux: "6.12"} {
		dir := t.TempDir()
		secrets := plant(t, dir, os)
		total += len(secrets)
		for what, text := range printed(t, dir, release) {
			if len(text) < 100 {
				t.Errorf("%s, %s: there is next to nothing: %q", os, what, text)
			}
			lower := strings.ToLower(text) // a text of megabytes, for hundreds of secrets
			for _, s := range secrets {
				if i := strings.Index(lower, strings.ToLower(s)); i >= 0 {
					t.Errorf("%s, %s: %q is there: …%s…", os, what, s, text[max(0, i-80):min(len(text), i+60)])
				}
			}
		}
	}
	if total < 400 {
		t.Errorf("%d secrets, want 400", total)
	}
}

// printed is what leaves of a tree.
func printed(t *testing.T, dir, release string) map[string]string {
	s := Source{Root: dir, Release: release}
	o, err := s.Open(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	f, err := o.Facts(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	in, err := Input()
	if err != nil {
		t.Fatal(err)
	}
	in.Facts, in.Role = f, "router"
	report, err := audit.Run(in)
	if err != nil {
		t.Fatal(err)
	}
	fixes, err := plan.Fixes(f, in.Catalogue, plan.By(in))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for what, v := range map[string]any{"facts": f, "report": report, "SARIF": audit.ToSARIF("x", SARIFHost(report, "h", dir)), "plan": fixes} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		all[what] = string(b)
	}
	for _, form := range export.Names() {
		if text, err := export.Write(fixes, form); err == nil {
			all[form] = text
		}
	}
	for _, shorter := range Shorten(context.Background(), o.Reader, fixes) {
		seen, _ := redact.Text(redact.KindOf(shorter.Path, ""), shorter.Old)
		all["diff"] += plan.Unified(shorter.Path, shorter.Old, seen, shorter.Cuts)
	}
	return all
}
