package apply

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/internal/sharedtest"

	"linerate/catalogue"
	"linerate/internal/fact"
	"linerate/internal/host/localhost"
	"linerate/internal/inspect"
	"linerate/internal/plan"
	"linerate/internal/role"
	"linerate/internal/setting"
)

// losing makes every counter move that plans look at, so that the settings planned then are tried too.
func losing(f *fact.Facts) {
	for _, c := range []string{"tcp.listen_overflows", "softnet.cpu0.dropped", "softnet.cpu0.time_squeeze", "neigh.arp.table_fulls", "neigh.ndisc.table_fulls", "udp.full_sockets", "conntrack.drop"} {
		f.AddCounter(c, 1000, "a test")
	}
	for i := range f.NICs {
		f.NICs[i].IPv4, f.NICs[i].IPv6 = 1, 1
	}
	f.Listeners = append(f.Listeners, fact.Listener{Protocol: "udp4", Port: 443})
	f.Normalise()
}

// TestPlannedIsTaken: the kernel accepts and reads back what plans for this machine set, for every role, for
// usual needs and those beyond every bound; after the rollback everything is restored. Only sysctls of a
// namespace with a veth are set; the machine itself is not changed.
func TestPlannedIsTaken(t *testing.T) {
	r := newSandbox(t)
	for _, words := range []string{"link add lr0 type veth peer name lr1", "link set lr0 up", "link set lr1 up"} {
		if err := r.run(exec.Command("ip", strings.Fields(words)...)); err != nil {
			t.Fatalf("ip %s: %v", words, err)
		}
	}
	c, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	library, err := plan.Load(sharedtest.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	f, err := inspect.Host(ctx, localhost.New(), inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	losing(f)
	m := On(r.runner())
	taken := map[string]bool{}
	for _, name := range role.Names() {
		for _, needs := range []plan.Needs{{Link: 10e9, RTT: 0.03, States: 1e5, Connections: 1e5}, {Link: 400e9, RTT: 0.5, States: 1e12, Connections: 1e12}} {
			p, err := plan.Make(plan.Input{Facts: f, Catalogue: c, Library: library, Role: name, Needs: needs, Unmeasured: true})
			if err != nil {
				t.Fatal(err)
			}
			r.take(t, m, p, taken)
		}
	}
	for _, want := range []string{"net.ipv4.ip_forward", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.core.somaxconn", "net.ipv4.tcp_mtu_probing"} {
		if !taken[want] {
			t.Errorf("no plan set %s, so it was not tried", want)
		}
	}
}

// take applies the part of a plan that a namespace has, reads it back, and reverts it.
func (r *sandbox) take(t *testing.T, m Machine, p plan.Plan, taken map[string]bool) {
	t.Helper()
	ctx := context.Background()
	p.Settings = slices.DeleteFunc(p.Settings, func(s plan.Step) bool {
		return s.Mechanism != setting.Sysctl || taken[s.Name+"="+s.Value] || !r.has(s.Name)
	})
	if len(p.Settings) == 0 {
		return
	}
	was := map[string]string{}
	for i, s := range p.Settings {
		was[s.Name] = r.sysctl(t, s.Name)
		p.Settings[i].Current.Value = text(was[s.Name])
	}
	p, err := plan.Seal(p)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Run(ctx, m, p, Options{Within: time.Minute, Say: func(string, ...any) {}}); got != Pending || err != nil {
		t.Fatalf("role %s, %v: %s, %v", p.Role, p.Needs, got, err)
	}
	for _, s := range p.Settings {
		if got := r.sysctl(t, s.Name); got != s.Value {
			t.Errorf("role %s, %v: %s is %s, planned %s", p.Role, p.Needs, s.Name, got, s.Value)
		}
		taken[s.Name], taken[s.Name+"="+s.Value] = true, true
	}
	if _, err := m.Confirm(ctx, p.Digest); err != nil {
		t.Fatal(err)
	}
	st, err := m.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	past, _ := st.Current()
	if _, err := m.Rollback(ctx, past.ID); err != nil {
		t.Fatal(err)
	}
	for name, value := range was {
		if got := r.sysctl(t, name); got != value {
			t.Errorf("%s is %s after the rollback, was %s", name, got, value)
		}
	}
}

// has reports whether the namespace has a writable sysctl.
func (r *sandbox) has(name string) bool {
	path := filepath.Join("/proc/sys", strings.ReplaceAll(name, ".", "/"))
	return strings.HasPrefix(name, "net.") && r.run(exec.Command("test", "-w", path)) == nil && r.run(exec.Command("sh", "-c", "x=$(cat "+path+") && echo \"$x\" >"+path)) == nil
}
