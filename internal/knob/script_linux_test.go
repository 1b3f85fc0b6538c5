package knob

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linerate/internal/labtest"
	"linerate/internal/setting"
)

// namespace returns a host for the script: a network namespace with its own /sys and both ends of a veth pair.
func namespace(t *testing.T) func(script string, args ...string) (string, error) {
	t.Helper()
	if os.Getuid() != 0 {
		labtest.Lacking(t, "needs root: it makes a network namespace")
	}
	name := fmt.Sprintf("%s-knob-%d", labtest.Prefix, os.Getpid())
	must := func(argv ...string) {
		t.Helper()
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			labtest.Lacking(t, "%v: %v: %s", argv, err, out)
		}
	}
	must("ip", "netns", "add", name)
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", name).Run() })
	must("ip", "-n", name, "link", "add", "left", "numtxqueues", "2", "numrxqueues", "2", "type", "veth", "peer", "name", "right", "numtxqueues", "2", "numrxqueues", "2")
	must("ip", "-n", name, "link", "set", "left", "up")
	must("ip", "-n", name, "link", "set", "right", "up")
	must("ip", "-n", name, "addr", "add", "198.18.0.1/24", "dev", "left")
	must("ip", "-n", name, "addr", "add", "2001:2::1/64", "dev", "left", "nodad")
	for _, line := range []string{"add table inet filter", "add chain inet filter input { type filter hook input priority 0; policy accept; }"} {
		// A kernel without nftables has no chain: its case says so.
		_ = exec.Command("ip", append([]string{"netns", "exec", name, "nft"}, strings.Fields(line)...)...).Run()
	}
	return func(script string, args ...string) (string, error) {
		// ip netns exec mounts a /sys of the namespace.
		cmd := exec.Command("ip", append([]string{"netns", "exec", name, shell(), "-s", "--"}, args...)...)
		cmd.Stdin = strings.NewReader(Script + script)
		out, err := cmd.Output()
		return strings.TrimSuffix(string(out), "\n"), err
	}
}

// shell returns the strictest available shell: dash, which reads what FreeBSD's sh reads.
func shell() string {
	if p, err := exec.LookPath("dash"); err == nil {
		return p
	}
	return "/bin/sh"
}

const (
	readScript  = `knob_read "$@" || exit 9; printf '%s\n' "$value"`
	writeScript = `knob_write "$@"`
	namesScript = `knob_names "$@"`
)

// TestScript checks for every mechanism that a written value reads back as the same setting, and that writing
// the old value restores the old reading.
func TestScript(t *testing.T) {
	run := namespace(t)
	for _, c := range []struct{ mechanism, device, name, value, want string }{
		{"sysctl", "-", "net.ipv4.ip_forward", "1", "1"},
		{"sysctl", "-", "net.ipv4.tcp_rmem", "4096 16384\t8388608", "4096 16384 8388608"},
		{"sysctl", "-", "net.ipv4.conf.left.rp_filter", "2", "2"},
		{"sysctl", "-", "net.ipv4.icmp_ratelimit", "1", ""}, // as the kernel's ticks are
		{"sysctl", "-", "net.ipv4.ip_local_port_range", "2048 65535", "2048 65535"},
		{"link", "left", "mtu", "1400", "1400"},
		{"link", "left", "txqueuelen", "500", "500"},
		{"offload", "left", "gro", "on", "on"},
		{"offload", "left", "tso", "off", "off"},
		{"offload", "left", "tx", "off", "off"},
		{"channels", "left", "rx", "1", "1"},
		{"napi", "left", "defer-hard-irqs", "3", "3"},
		{"napi", "left", "gro-flush-timeout", "20000", "20000"},
		{"rps", "left", "rx-0", "3", "3"},
		{"rfs", "left", "rx-0", "100", "128"},
		{"xps", "left", "tx-0", "1", "1"},
		{"route", "-", "198.18.7.0/24", "via 198.18.0.2 dev left", "via 198.18.0.2 dev left"},
		{"route", "-", "0.0.0.0/0", "via 198.18.0.2 dev left onlink", "via 198.18.0.2 dev left onlink"},
		{"route", "-", "::/0", "via 2001:2::2 dev left", ""},
		{"route", "-", "198.18.0.0/24", "absent", "absent"},
		{"nft", "-", "inet/filter/input", "drop", "drop"},
		{"link", "left", "state", "down", "down"},
	} {
		k := key(c.mechanism, c.device, c.name)
		before, err := run(readScript, c.mechanism, c.device, c.name)
		if err != nil {
			t.Logf("%v: this kernel has none (%v)", k, err)
			continue
		}
		if _, err := run(writeScript, c.mechanism, c.device, c.name, c.value); err != nil {
			t.Errorf("%v: writing %q: %v", k, c.value, err)
			continue
		}
		got, err := run(readScript, c.mechanism, c.device, c.name)
		if err != nil || (c.want != "" && strings.Trim(got, "0,") != strings.Trim(c.want, "0,")) || !Same(k, c.value, got) {
			t.Errorf("%v: %q reads back as %q (%v), same: %v", k, c.value, got, err, Same(k, c.value, got))
		}
		if _, err := run(writeScript, c.mechanism, c.device, c.name, before); err != nil {
			t.Errorf("%v: writing %q back: %v", k, before, err)
		}
		if again, _ := run(readScript, c.mechanism, c.device, c.name); again != before {
			t.Errorf("%v was %q and is %q", k, before, again)
		}
	}
}

func key(mechanism, device, name string) Key {
	if device == "-" {
		device = ""
	}
	return Key{setting.Mechanism(mechanism), device, name}
}

// TestScriptRefuses: what does not exist is neither read nor created, and no name is ever executed.
func TestScriptRefuses(t *testing.T) {
	run := namespace(t)
	for _, c := range [][3]string{
		{"sysctl", "-", "net.ipv4.no_such"}, {"sysctl", "-", "net.ipv4.conf"}, {"link", "nosuch", "mtu"},
		{"offload", "left", "nosuch"}, {"module-param", "-", "nosuch/param"}, {"governor", "-", "cpu99"},
		{"loader", "-", "hw.x"}, {"rc", "-", "x_enable"}, {"nosuch", "-", "x"},
		{"nft", "-", "inet/filter/nosuch"}, {"nft", "-", "inet/filter"}, {"nft", "-", "inet/a b/c"}, {"link", "nosuch", "state"},
		{"sysctl", "-", "$(touch /tmp/linerate-was-here)"}, {"sysctl", "-", "x; touch /tmp/linerate-was-here"},
	} {
		if out, err := run(readScript, c[:]...); err == nil {
			t.Errorf("reading %v gave %q", c, out)
		}
		if _, err := run(writeScript, c[0], c[1], c[2], "1"); err == nil {
			t.Errorf("writing %v was accepted", c)
		}
	}
	if _, err := os.Stat("/tmp/linerate-was-here"); err == nil {
		t.Error("a name was executed")
	}
}

// TestLinkDown: a link that goes down loses routes and IPv6 addresses; they are found before, and restored.
func TestLinkDown(t *testing.T) {
	run := namespace(t)
	for _, c := range [][3]string{{"route", "0.0.0.0/0", "via 198.18.0.2 dev left"}, {"route", "::/0", "via 2001:2::2 dev left"}, {"route", "198.18.7.0/24", "via 198.18.0.3 dev left metric 7"}} {
		if _, err := run(writeScript, c[0], "-", c[1], c[2]); err != nil {
			t.Fatalf("%v: %v", c, err)
		}
	}
	keys := []Key{{setting.Link, "left", "state"}}
	for _, c := range Companions(keys[0]) {
		names, err := run(namesScript, string(c.Mechanism), c.Device, c.Name)
		if err != nil {
			t.Fatal(err)
		}
		for n := range strings.FieldsSeq(names) {
			keys = append(keys, Key{c.Mechanism, c.Device, n})
		}
	}
	if len(keys) != 5 {
		t.Fatalf("found %v", keys)
	}
	state := func() (values []string) {
		for _, k := range keys {
			v, _ := run(readScript, string(k.Mechanism), k.Device, k.Name)
			values = append(values, v)
		}
		return values
	}
	before := state()
	if _, err := run(writeScript, "link", "left", "state", "down"); err != nil {
		t.Fatal(err)
	}
	if down := state(); slices.Equal(down, before) || down[1] != "absent" {
		t.Errorf("down: %q", down)
	}
	for i, k := range keys {
		if _, err := run(writeScript, string(k.Mechanism), k.Device, k.Name, before[i]); err != nil {
			t.Errorf("%v back to %q: %v", k, before[i], err)
		}
	}
	if after := state(); !slices.Equal(after, before) {
		t.Errorf("was %q and is %q", before, after)
	}
}

// TestCompanions: side effects of a write on other names are found and restored with it.
func TestCompanions(t *testing.T) {
	run := namespace(t)
	names, err := run(namesScript, "sysctl", "-", "net.ipv4.conf.*.forwarding")
	if err != nil || !strings.Contains(names, "net.ipv4.conf.left.forwarding\n") && !strings.Contains(names, "net.ipv4.conf.left.forwarding") {
		t.Fatalf("names: %q, %v", names, err)
	}
	features, err := run(namesScript, "offload", "left", "*")
	if err != nil || !strings.Contains(features, "generic-receive-offload") || strings.Contains(features, "fixed") {
		t.Errorf("offloads: %q, %v", features, err)
	}
	if queues, err := run(namesScript, "rps", "left", "*"); err != nil || queues != "rx-0\nrx-1" {
		t.Errorf("queues: %q, %v", queues, err)
	}
	// Disabling tx also disables tso and others; they are restored.
	state := func() string {
		var b strings.Builder
		for f := range strings.Lines(features) {
			v, _ := run(readScript, "offload", "left", strings.TrimSpace(f))
			b.WriteString(strings.TrimSpace(f) + "=" + v + " ")
		}
		return b.String()
	}
	before := state()
	if _, err := run(writeScript, "offload", "left", "tx", "off"); err != nil {
		labtest.Lacking(t, "tx cannot be switched here: %v", err)
	}
	if state() == before {
		t.Error("switching off tx changed nothing")
	}
	for range 3 {
		for pair := range strings.FieldsSeq(before) {
			name, value, _ := strings.Cut(pair, "=")
			_, _ = run(writeScript, "offload", "left", name, value)
		}
	}
	if after := state(); after != before {
		t.Errorf("offloads were\n%s\nand are\n%s", before, after)
	}
	// What the kernel copies from conf.all to an interface is known to be copied.
	copied, err := run(`set +f; cd /proc/sys/net/ipv6/conf && for f in all/*; do
		v=$(cat $f 2>/dev/null) || continue
		case $v in 0) w=1 ;; 1) w=0 ;; *) continue ;; esac
		was='' # a shell reads the first digit of a number: enough
		{ read -r was <left/${f#*/}; now=$was; echo $w >$f && read -r now <left/${f#*/}; } 2>/dev/null
		[ "$now" = "$was" ] || echo "${f#*/}"
		{ echo $v >$f; } 2>/dev/null
	done`)
	if err != nil || !strings.Contains(copied, "forwarding") {
		t.Errorf("%q, %v", copied, err)
	}
	for _, name := range strings.Fields(copied) {
		if !slices.ContainsFunc(Companions(Key{Mechanism: setting.Sysctl, Name: "net.ipv6.conf.all." + name}), func(k Key) bool { return k.Name == "net.ipv6.conf.*."+name }) {
			t.Errorf("writing net.ipv6.conf.all.%s changes an interface's, which is no companion", name)
		}
	}
}

// TestOffloadsAreAskedForOnce: all offloads of a device are read at once, until one is written.
func TestOffloadsAreAskedForOnce(t *testing.T) {
	const fake = `ethtool() { case $1 in
	-k) echo asked >>"$STATE.asked" && printf 'Features for %s:\nrx-checksumming: on\n\ttx-checksum-ipv4: off [fixed]\ngeneric-receive-offload: %s\n' "$2" "$(cat "$STATE")" ;;
	-K) echo "$4" >"$STATE" ;;
	esac; }
for n in rx tx-checksum-ipv4 gro rx; do knob_read offload v0 $n && echo "$n $value"; done
knob_read offload v0 none || echo none
knob_write offload v0 gro off && knob_read offload v0 gro && echo "gro $value"
`
	state := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(state, []byte("on\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(shell(), "-s")
	cmd.Stdin = strings.NewReader(Script + fake)
	cmd.Env = append(os.Environ(), "STATE="+state)
	out, err := cmd.Output()
	if want := "rx on\ntx-checksum-ipv4 off\ngro on\nrx on\nnone\ngro off\n"; err != nil || string(out) != want {
		t.Errorf("%q, %v, want %q", out, err, want)
	}
	if asked, _ := os.ReadFile(state + ".asked"); string(asked) != "asked\nasked\n" {
		t.Errorf("ethtool was %q", asked)
	}
}
