package testbed

import (
	"strings"
	"testing"
	"time"

	"linerate/internal/hint"
)

const good = `hosts:
  dut: {ssh: ssh://root@dut, management: em0}
  generator: {ssh: ssh://root@gen:2222, management: em0}
wires:
  - {from: generator/ix0, to: dut/ix0}
  - {from: dut/ix1, to: receiver/ix1, to_ipv4: 198.19.0.1/16}
  - {from: generator/ix2, to: receiver/ix3}
power: [ipmitool, -H, dut-ipmi, chassis, power, cycle]
reboot: {wait: 10m, online: [ping, -c, "2", 198.19.0.1]}
`

func TestParse(t *testing.T) {
	f, err := Parse("lab.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if !f.OneOuter() || f.Hosts.Receiver.SSH != "ssh://root@gen:2222" || time.Duration(f.Reboot.Wait) != 10*time.Minute || f.Reboot.Attempts != 3 || f.Traffic.Tool != ToolLinerate {
		t.Errorf("%+v", f)
	}
	if p := f.Paths(); len(p) != 1 || p[0].In.Finish() != (End{DUT, "ix0"}) || p[0].Out.Start().String() != "dut/ix1" || f.Bypass() == nil {
		t.Errorf("%+v, %v", p, f.Bypass())
	}
}

// TestPaths: the n-th link to the DUT belongs to the n-th link from it.
func TestPaths(t *testing.T) {
	f, err := Parse("lab.yaml", []byte(strings.Replace(good, "  - {from: generator/ix2, to: receiver/ix3}", "  - {from: generator/ix2, to: dut/ix2}\n  - {from: dut/ix3, to: receiver/ix3}", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if p := f.Paths(); len(p) != 2 || p[1].In.From != "generator/ix2" || p[1].Out.To != "receiver/ix3" {
		t.Errorf("%+v", p)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ old, renew, want, advice string }{
		{"management: em0}\n  gen", "managed: em0}\n  gen", `lab.yaml:2: unknown key "managed" in hosts.dut`, "management"},
		{"ssh: ssh://root@dut, ", "", "the DUT cannot be this machine", "ssh"},
		{"ssh://root@dut,", "ssh://root@dut/x,", "is not a host over SSH", ""},
		{", management: em0}\n  gen", "}\n  gen", "management interface is not named", "management:"},
		{"dut/ix0", "dut/em0", "lab.yaml:5: em0 is the management interface of dut", ""},
		{"dut/ix0", "dtu/ix0", `unknown "dtu"`, "dut"},
		{"dut/ix0", "dut/ix0 -x", "is not an interface of a host", "HOST/INTERFACE"},
		{"dut/ix1, to: receiver/ix1", "dut/ix0, to: receiver/ix1", "two wires end at dut/ix0", ""},
		{"  - {from: dut/ix1, to: receiver/ix1, to_ipv4: 198.19.0.1/16}\n", "", "no way leads", "two wires"},
		{"from: generator/ix2, to: receiver/ix3", "from: receiver/ix2, to: generator/ix3", "a wire leads from receiver to generator", "follow the traffic"},
		{"198.19.0.1/16", "198.19.0.1", "is not an address with its prefix", ""},
		{"from: generator/ix2, to: receiver/ix3", "from: generator/ix2, to: dut/ix3", "2 wires lead to the DUT and 1 from it", "as many of each"},
		{"wait: 10m", "wait: 10ms", "is not within 5s and 2h", ""},
		{"power: [ipmitool,", "power: [\"a\\nb\",", "no line of text", ""},
		{"hosts:", "traffic: {generate: [-p, '2']}\nhosts:", "belong to tool: pkt-gen", ""},
		{"hosts:", "traffic: {tool: pkt-gen, generate: ['']}\nhosts:", "is empty", ""},
		{"hosts:", "services: [[service, sshd, restart]]\nhosts:", "touches sshd", ""},
		{"hosts:", "services: [[ifconfig, em0, down]]\nhosts:", "touches em0", ""},
	} {
		_, err := Parse("lab.yaml", []byte(strings.Replace(good, c.old, c.renew, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(hint.Of(err), c.advice) || !hint.IsUsage(err) {
			t.Errorf("%s: %v (hint %q), want %q", c.renew, err, hint.Of(err), c.want)
		}
	}
}

func TestForbidden(t *testing.T) {
	rc := "hostname=\"dut\"\nifconfig_em0=\"DHCP\"\nsshd_enable=\"YES\"\ngateway_enable=\"YES\"\n"
	for _, c := range []struct{ path, was, now, want string }{
		{"/etc/rc.conf", rc, strings.Replace(rc, "gateway", "ipv6_gateway", 1), ""},
		{"/etc/rc.conf", rc, "gateway_enable=\"YES\"\n", "has the line"},
		{"/etc/rc.conf", rc, strings.Replace(rc, "DHCP", "down", 1), "has the line"},
		{"/etc/rc.conf", "", "ifconfig_em0_ipv6=\"inet6\"\n", "would get the line"},
		{"/etc/sysctl.conf", "", "dev.em.0.fc=0\n", "would get"},
		{"/etc/sysctl.conf", "", "dev.em.1.fc=0\n# em0 is ours\n", ""},
		{"/etc/pf.conf", "", "set skip on em0\npass\n", ""},
		{"/etc/ssh/sshd_config", "", "", "way into the host"},
		{"/root/.ssh/authorized_keys", "", "", "way into the host"},
		{"/etc/../root/x", "", "", "plain absolute path"},
		{"etc/x", "", "", "plain absolute path"},
		{"/etc/a b", "", "", "plain absolute path"},
		{"/var/lib/linerate/agent", "", "", "way into"},
	} {
		got := Forbidden("em0", c.path, c.was, c.now)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.path, got, c.want)
		}
	}
}

// TestWayIn: no file of a variant may replace a file that logins depend on.
func TestWayIn(t *testing.T) {
	for _, path := range []string{
		"/etc/ssh/sshd_config.d/x.conf", "/usr/local/etc/ssh/sshd_config", "/root/.ssh/x", "/home/ada/.profile", "/usr/home/ada/.ssh/authorized_keys", "/var/root/.ssh/authorized_keys",
		"/etc/systemd/system/ssh.service", "/etc/systemd/system/ssh.service.d/override.conf", "/etc/systemd/system/sshd@.service.d/x.conf", "/run/systemd/system/ssh.socket", "/lib/systemd/system/ssh.socket",
		"/etc/rc.d/sshd", "/etc/init.d/ssh", "/etc/rc.conf.d/sshd", "/etc/default/ssh", "/etc/config/dropbear", "/usr/sbin/sshd",
		"/etc/passwd", "/etc/spwd.db", "/etc/pam.d/common-auth", "/etc/sudoers.d/x", "/etc/nologin", "/var/run/nologin", "/etc/hosts.allow", "/etc/security/access.conf", "/dev/null", "/proc/sys/x", "/sys/x",
	} {
		if why := Forbidden("em0", path, "", "x\n"); why == "" {
			t.Errorf("%s may be replaced", path)
		}
	}
	for _, path := range []string{"/etc/sysctl.d/90-x.conf", "/boot/loader.conf", "/etc/security/limits.conf", "/etc/systemd/system/nginx.service.d/x.conf", "/homestead", "/etc/passwd.d", "/devices"} {
		if why := Forbidden("em0", path, "", "x\n"); why != "" {
			t.Errorf("%s: %s", path, why)
		}
	}
}

// TestTouches: commands that could end the study's SSH session, and commands that only look like it.
func TestTouches(t *testing.T) {
	for _, c := range []struct {
		management, words string
		touches           bool
	}{
		{"em0", "ifconfig em0 down", true},
		{"em0", "ifconfig em1 down", false},
		{"em0", "ifconfig em01 down", false},
		{"em0", "ifconfig dem0 down", false},
		{"em1", "ifconfig_em10=up", false},
		{"em1", "ifconfig_em1=down", true},
		{"em1", "ifconfig_em1_ipv6=x", true},
		{"em0", "ipv4_addrs_em0=192.0.2.1/24", true},
		{"em0", "vlans_em0=5", true},
		{"em0", "ifconfig em0.100 create", true},
		{"em0", "sysctl dev.em.0.fc=0", true},
		{"em0", "sysctl dev.em.1.fc=0", false},
		{"em0", "hint.em.0.disabled=1", true},
		{"em0", "sysctl dev.emx.0.fc=0", false},
		{"eth0", "net.ipv4.conf.eth0.rp_filter", true},
		{"eth0", "net/ipv4/conf/eth0/rp_filter", true},
		{"eth0", "net.ipv4.conf.eth1.rp_filter", false},
		{"eth0", "tc qdisc del dev eth0 root", true},
		{"eth0", "ip link set dev eth0@if3 down", true},
		{"eth0", "/etc/network/interfaces.d/eth0", true},
		{"eth0.5", "ip link set eth0 down", true},
		{"eth0.5", "ip link set eth0.5 down", true},
		{"eth0.5", "ip link set eth1 down", false},
		{"", "ifconfig em0 down", false},
		{"em0", "systemctl stop ssh", true},
		{"em0", "systemctl stop ssh.service", true},
		{"em0", "systemctl restart sshd.service", true},
		{"em0", "systemctl stop ssh.socket", true},
		{"em0", "pkill -x sshd", true},
		{"em0", "sshd_enable=NO", true},
		{"em0", "/usr/sbin/sshd -t", true},
		{"em0", "apt-get remove openssh-server", true},
		{"em0", "/etc/init.d/dropbear restart", true},
		{"", "service sshd stop", true},
		{"em0", "service nginx restart", false},
		{"em0", "sysctl net.inet.tcp.sendspace=65536", false},
		{"lo", "sysctl net.core.somaxconn_lo_x=1", true},
		{"lo", "kern.ipc.somaxconn=1 allow flow", false},
	} {
		if why := Touches(c.management, strings.Fields(c.words)); (why != "") != c.touches {
			t.Errorf("management %q, %q: %q, want it to touch: %v", c.management, c.words, why, c.touches)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("hosts: {generator: {}}\nwires: [{from: generator/a, to: dut/b}]\ntraffic: {tool: pkt-gen, generate: [-p, '2']}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Parse("f", data)
		if err != nil {
			return
		}
		if len(b.Paths()) == 0 || b.Hosts.Generator == nil || b.Hosts.Receiver == nil {
			t.Fatal("an accepted testbed has no path through its DUT")
		}
	})
}
