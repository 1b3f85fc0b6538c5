package changes

import (
	"os"
	"strconv"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/sharedtest"
)

// TestChangesAreSafe: the changes offered for any tree do no harm. LINERATE_CASES is the number of generated
// trees, LINERATE_TREES a directory of further ones.
func TestChangesAreSafe(t *testing.T) {
	cases, err := strconv.Atoi(os.Getenv("LINERATE_CASES"))
	if err != nil {
		cases = 200
	}
	b, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Read("../../internal/audit/testdata"); err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("LINERATE_TREES"); dir != "" {
		if err := b.Read(dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("generated", func(t *testing.T) { b.run(t, 0, cases) })
	t.Run("published", func(t *testing.T) {
		if err := b.Read(sharedtest.Dir(t, "data", "netbenches")); err != nil {
			t.Fatal(err)
		}
		if len(b.Trees) < 50 {
			t.Fatalf("only %d trees", len(b.Trees))
		}
		b.run(t, cases, cases+len(b.Trees))
	})
}

func (b *Bench) run(t *testing.T, from, to int) {
	t.Helper()
	changes := 0
	for seed := from; seed < to; seed++ {
		h := b.Host(uint64(seed))
		problems, n, err := b.Check(h, uint64(seed))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		changes += n
		for _, p := range problems {
			t.Errorf("seed %d, %s %s, %s: %s", seed, h.OS, h.Release, h.Role, p)
		}
	}
	t.Logf("%d changes of %d trees", changes, to-from)
}

// TestHarmIsSeen: the checks detect known harm.
func TestHarmIsSeen(t *testing.T) {
	b, err := New()
	if err != nil {
		t.Fatal(err)
	}
	h := Host{OS: fact.FreeBSD, Release: "14.3", Role: "firewall", Files: Tree{"/etc/rc.conf": "pf_enable=\"YES\"\ngateway_enable=\"YES\"\n"}}
	before, err := b.facts(h, h.Files)
	if err != nil {
		t.Fatal(err)
	}
	after, err := b.facts(h, Tree{"/etc/rc.conf": "hostname=\"x\"\nnet.inet.tcp.nothing=\"1\"\n", "/etc/sysctl.conf": "net.inet.ip.redirect=7\n"})
	if err != nil {
		t.Fatal(err)
	}
	if lost := b.losses(h, Offer{}, before, after); len(lost) != 4 {
		t.Errorf("lost: %q", lost)
	}
	if len(drift(before, after)) < 4 {
		t.Errorf("drift: %q", drift(before, after))
	}
	was, err := b.judge(h)(before)
	if err != nil {
		t.Fatal(err)
	}
	is, err := b.judge(h)(after)
	if err != nil {
		t.Fatal(err)
	}
	if len(harm(was, is)) == 0 {
		t.Error("a value out of range is not detected")
	}
}
