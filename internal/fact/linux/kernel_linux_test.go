package linux

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"linerate/internal/fact/filter"
	"linerate/internal/labtest"
	"linerate/internal/list"
)

// inside names the environment variable of the test's own copy in a network namespace.
const inside = "LINERATE_TEST_FILTER_INSIDE"

// TestAgainstTheKernel: of random rulesets the model says what the kernel does with a connection.
func TestAgainstTheKernel(t *testing.T) {
	if os.Getenv(inside) != "" {
		againstTheKernel(t)
		return
	}
	labtest.Namespaces(t)
	labtest.Program(t, "nft")
	cmd := exec.Command("unshare", "-n", os.Args[0], "-test.run", "^TestAgainstTheKernel$", "-test.v")
	cmd.Env = append(os.Environ(), inside+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

var kernelPorts = []int{22, 80, 443}

func againstTheKernel(t *testing.T) {
	const client, server = "198.18.0.1", "198.18.0.2"
	for _, args := range [][]string{{"link", "set", "lo", "up"}, {"addr", "add", client + "/32", "dev", "lo"}, {"addr", "add", server + "/32", "dev", "lo"}} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", args, err, out)
		}
	}
	for _, port := range kernelPorts {
		l, err := net.Listen("tcp4", net.JoinHostPort(server, fmt.Sprint(port)))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	r, dropped, accepted := rand.New(rand.NewPCG(1, 1)), 0, 0
	for range 80 {
		text := randomRules(r)
		cmd := exec.Command("nft", "-f", "-")
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, text)
		}
		set := nftFilter(text)
		dial := func(port int, within time.Duration) error {
			d := net.Dialer{Timeout: within, LocalAddr: &net.TCPAddr{IP: net.ParseIP(client)}}
			c, err := d.Dial("tcp4", net.JoinHostPort(server, fmt.Sprint(port)))
			if err == nil {
				c.Close()
			}
			return err
		}
		for i, err := range list.Parallel(len(kernelPorts), func(i int) error { return dial(kernelPorts[i], 40*time.Millisecond) }) {
			port := kernelPorts[i]
			_, drops := set.Drops("input", filter.Packet{filter.In: "lo", filter.Family: "4", filter.Proto: "tcp", filter.From: client, filter.To: server, filter.DPort: fmt.Sprint(port), filter.State: "new"})
			if err != nil && !drops { // a busy machine takes longer to accept; what is dropped is so however long one waits
				err = dial(port, 3*time.Second)
			}
			if err == nil {
				accepted++
			} else {
				dropped++
			}
			if drops != (err != nil) {
				t.Errorf("port %d: the kernel says %v, the model drops: %t\n%s", port, err, drops, text)
			}
		}
	}
	if dropped < 50 || accepted < 50 {
		t.Errorf("%d dropped, %d accepted: the rulesets try little", dropped, accepted)
	}
}

// randomRules is an nftables.conf with two chains, of which one is reached by jumps.
func randomRules(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	rule := func(verdicts ...string) string {
		s := pick("", "", "iifname lo ", "iifname != lo ", `iifname "l*" `) + pick("", "ip saddr 198.18.0.1 ", "ip saddr 198.18.0.0/16 ", "ip saddr != 198.18.0.0/30 ", "ip saddr { 192.0.2.1, 198.18.0.1 } ", "ip daddr 198.18.0.2 ", "ip6 saddr ::1 ") +
			pick("", "tcp dport 22 ", "tcp dport { 22, 80 } ", "tcp dport 80-500 ", "tcp dport != 443 ", "udp dport 22 ", "meta l4proto tcp ", "meta l4proto { udp, icmp } ", "th dport ssh ") + pick("", "ct state new ", "ct state { new, untracked } ", "ct state != new ", "counter ")
		return "  " + s + pick(verdicts...) + "\n"
	}
	var in, sub strings.Builder
	for range 1 + r.IntN(4) {
		sub.WriteString(rule("accept", "drop", "return", "counter"))
		in.WriteString(rule("accept", "drop", "jump sub", "goto sub", "counter"))
	}
	if r.IntN(2) == 0 {
		in.WriteString("  tcp dport vmap { 22 : " + pick("accept", "drop", "jump sub") + ", 80-90 : " + pick("accept", "goto sub") + " }\n")
	}
	return "flush ruleset\ntable inet f {\n chain sub {\n" + sub.String() + " }\n chain in {\n  type filter hook input priority 0; policy " + pick("accept", "drop") + ";\n  ct state established,related accept\n" + in.String() + " }\n}\n"
}
