package filehost

import (
	"testing"

	"linerate/internal/fact"
	"linerate/internal/host/hosttest"
)

func bytesOf(files map[string]string) map[string][]byte {
	all := map[string][]byte{}
	for p, text := range files {
		all[p] = []byte(text)
	}
	return all
}

func TestMemory(t *testing.T) { hosttest.Reader(t, "", New(bytesOf(hosttest.Files()), "")) }

func TestRecognise(t *testing.T) {
	for _, c := range []struct{ name, text, os, path, want string }{
		{"sysctl.conf", "net.inet.tcp.sendspace=65536\nkern.ipc.somaxconn=1024\n", "", "/etc/sysctl.conf", fact.FreeBSD},
		{"sysctl.conf", "net.ipv4.ip_forward = 1\nvm.swappiness=10\n", "", "/etc/sysctl.d/sysctl.conf", fact.Linux},
		{"/backup/etc/sysctl.d/90-x.conf", "# nothing\n", "", "/etc/sysctl.d/90-x.conf", fact.Linux},
		{"-", "net/core/somaxconn=1\n", "", "/etc/sysctl.d/input.conf", fact.Linux},
		{"-", "if_vlan_load=\"YES\"\nnet.isr.maxthreads=\"-1\"\n", "", "/boot/loader.conf", fact.FreeBSD},
		{"-", "gateway_enable=\"YES\"\nifconfig_em0=\"DHCP\"\n", "", "/etc/rc.conf", fact.FreeBSD},
		{"-", "set skip on lo0\nblock all\npass out\n", "", "/etc/pf.conf", fact.FreeBSD},
		{"-", "[main]\ninclude=x\n[sysctl]\nvm.dirty_ratio=40\n", "", "/etc/tuned/this/tuned.conf", fact.Linux},
		{"-", "BOOT_IMAGE=/vmlinuz root=/dev/vda1 ro quiet mitigations=off\n", "", "/etc/kernel/cmdline", fact.Linux},
		{"-", "options nf_conntrack hashsize=65536\n", "", "/etc/modprobe.d/input.conf", fact.Linux},
		{"-", "flush ruleset\ntable inet filter {\n}\n", "", "/etc/nftables.conf", fact.Linux},
		{"fw1-nftables.conf", "define wan = eth0\n", "", "/etc/nftables.conf", fact.Linux},
		{"-", "*filter\n:INPUT DROP [0:0]\nCOMMIT\n", "", "/etc/iptables/rules.v4", fact.Linux},
		{"-", "GRUB_CMDLINE_LINUX=\"quiet\"\n", "", "/etc/default/grub", fact.Linux},
		{"-", "ACTION==\"add\", SUBSYSTEM==\"net\", ATTR{tx_queue_len}=\"1\"\n", "", "/etc/udev/rules.d/input.rules", fact.Linux},
		{"klaver.conf", "kernel.pid_max = 65536\nnet.ipv4.tcp_syncookies = 1\n", "", "/etc/sysctl.d/klaver.conf", fact.Linux},
		{"sysctl.conf", "# nothing yet\n", fact.FreeBSD, "/etc/sysctl.conf", fact.FreeBSD},
		{"loader.conf.local", "# nothing yet\n", "", "/boot/loader.conf.local", fact.FreeBSD},
		{"boot/loader.conf.d/zfs.conf", "zfs_load=\"YES\"\n", "", "/boot/loader.conf.d/zfs.conf", fact.FreeBSD},
		{"rc.conf.local", "pf_enable=YES\n", "", "/etc/rc.conf.local", fact.FreeBSD},
		{"etc/rc.conf.d/pf", "pf_enable=YES\n", "", "/etc/rc.conf.d/pf", fact.FreeBSD},
		{"loader.conf.sample", "zfs_load=\"YES\"\n", "", "/boot/loader.conf", fact.FreeBSD},
		{"x", "vm.overcommit=1\nkern.maxfiles=1\n", fact.FreeBSD, "/etc/sysctl.conf", fact.FreeBSD},
		{"sysctl.conf", "# nothing yet\n", fact.FreeBSD, "/etc/sysctl.conf", fact.FreeBSD},
		{"etc/sysctl.conf", "# nothing yet\n", fact.Linux, "/etc/sysctl.d/sysctl.conf", fact.Linux},
		{"sysctl.conf", "# nothing yet\n", "", "", ""},
		{"x", "Dear reader,\n", "", "", ""},
		{"jail-www.conf", "www {\n  exec.start = \"/bin/sh /etc/rc\";\n  mount.devfs;\n}\n", fact.FreeBSD, "", ""},
		{"zfs.conf", "notify 10 {\n  match \"system\" \"ZFS\";\n};\n", fact.FreeBSD, "", ""},
		{"x", "match out on em0 scrub (no-df)\n", fact.FreeBSD, "/etc/pf.conf", fact.FreeBSD},
		{"fw.conf", "/sbin/ipfw add 100 allow ip from any to any\nnat 1 tcp from any to me\n/sbin/ipfw nat 1 config if em0\n", fact.FreeBSD, "/etc/ipfw.rules", fact.FreeBSD},
		{"x.tex", "Forwarding:\nnet.ipv4.ip_forward = 1\n", "", "", ""},
		{"http/ks.cfg", "bootloader --append=\"quiet\"\nselinux --enforcing\n", fact.Linux, "", ""},
		{"bash_completion.d/iptables", "_iptables()\n{\n", fact.Linux, "", ""},
		{"fail2ban/action.d/nftables.conf", "[Definition]\n", "", "", ""},
		{"ufw/sysctl.conf", "net/ipv4/tcp_syncookies=0\n", fact.Linux, "/etc/sysctl.d/ufw.conf", fact.Linux},
		{"sysctl.conf", "sysctl -w vm.swappiness=1\nvm.swappiness=1\n", fact.Linux, "/etc/sysctl.d/sysctl.conf", fact.Linux},
		{"x.txt", "sysctl -w vm.swappiness=1\n", "", "/etc/rc.d/rc.local", fact.Linux},
		{"files/rc.local", "sysctl -w vm.swappiness=1\n", "", "/etc/rc.local", fact.Linux},
	} {
		p, ok := Recognise(c.name, c.text, c.os)
		if ok != (c.path != "") || ok && (p.Path != c.path || p.OS != c.want) {
			t.Errorf("%s %q: %+v, %v", c.name, c.text, p, ok)
		}
	}
}
