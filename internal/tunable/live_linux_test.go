package tunable_test

import (
	"bufio"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/labtest"
	"linerate/internal/tunable"
)

const procSys = "/proc/sys/"

// live is one sysctl of the running kernel as it appears in a namespace.
type live struct {
	path  string // below /proc/sys
	mode  fs.FileMode
	value string
	read  bool // it could be read
}

// newest is the last release that the catalogue covers; it may lack names of later ones.
var newest = release.MustParse("6.18")

// oneWay are sysctls that a test must not write, because the effect is permanent.
var oneWay = map[string]string{
	"net.netfilter.nf_hooks_lwtunnel": "switched on once, for the whole host",
	"net.vsock.child_ns_mode":         "written once",
}

// otherDefault are sysctls whose default depends on the kernel's configuration.
var otherDefault = map[string]string{
	"net.ipv4.tcp_congestion_control": "CONFIG_DEFAULT_TCP_CONG",
	"net.ipv6.conf.IF.mtu":            "the device's",
	"net.core.bpf_jit_enable":         "CONFIG_BPF_JIT_DEFAULT_ON",
}

// dependent are sysctls whose bounds are the values of other settings.
var dependent = []string{
	"net.ipv4.ip_unprivileged_port_start", "net.ipv4.ipfrag_low_thresh", "net.ipv4.ipfrag_high_thresh",
	"net.ipv6.ip6frag_low_thresh", "net.ipv6.ip6frag_high_thresh", "net.ipv6.conf.IF.mtu",
	"net.netfilter.nf_conntrack_frag6_low_thresh", "net.netfilter.nf_conntrack_frag6_high_thresh",
}

// TestLiveKernel compares the catalogue with the running kernel: every name in a fresh network
// namespace and in this one, its default there, the numbers it accepts, and whether each namespace
// has its own.
func TestLiveKernel(t *testing.T) {
	if testing.Short() {
		labtest.Lacking(t, "it writes some thousand settings")
	}
	labtest.Need(t)
	k := newKernel(t)
	before := k.names(t)
	var fresh []live
	inNamespace(t, func() {
		fresh = k.names(t)
		for _, l := range fresh {
			k.checkDefault(t, l)
		}
		for _, l := range fresh {
			k.checkAll(t, l)
		}
		for _, l := range fresh {
			k.probe(t, l)
		}
	})
	for _, l := range slices.Concat(before, fresh) {
		k.checkKnown(t, l)
	}
	k.checkScopes(t, before, fresh)
	for _, l := range k.names(t) {
		was, ok := k.host[l.path]
		if ok && was != l.value && !ownDevice(l.path) && !changing(l.path) {
			t.Errorf("%s: writing it in a namespace changed the host: %q, was %q", l.path, l.value, was)
		}
	}
	t.Logf("%d names of a fresh namespace, %d of this one; %d ranges and %d of conf.all probed", len(fresh), len(before), k.probed, k.followed)
	if len(fresh) < 300 || k.probed < 200 || k.followed < 50 || k.vectors < 4 {
		t.Errorf("too few names were seen: %d, %d, %d and %d probed", len(fresh), k.probed, k.followed, k.vectors)
	}
}

// changing are values that change by themselves.
func changing(path string) bool {
	return strings.HasSuffix(path, "nf_conntrack_count") || strings.Contains(path, "random")
}

// kernel is the running kernel, with the results.
type kernel struct {
	c      *tunable.Catalogue
	facts  fact.Facts
	host   map[string]string // values in the namespace of the test
	probed int
	// vectors counts those of which some elements were written.
	vectors int
	// followed counts settings of conf.all that were written.
	followed int
}

func newKernel(t *testing.T) *kernel {
	t.Helper()
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	rel, err := release.Parse(unix.ByteSliceToString(u.Release[:]))
	if err != nil {
		t.Fatal(err)
	}
	k := &kernel{c: load(t), facts: fact.Facts{OS: tunable.Linux, Release: rel}, host: map[string]string{}}
	k.facts.Memory.Physical = memTotal(t)
	k.facts.Memory.PageSize = uint64(os.Getpagesize())
	for _, l := range k.names(t) {
		k.host[l.path] = l.value
	}
	return k
}

// memTotal is the memory of this machine in bytes.
func memTotal(t *testing.T) uint64 {
	t.Helper()
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "MemTotal:"); ok {
			n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n * 1024
		}
	}
	t.Fatal("/proc/meminfo has no MemTotal")
	return 0
}

// names lists the sysctls below net that this thread's namespace has.
func (k *kernel) names(t *testing.T) []live {
	t.Helper()
	var all []live
	err := filepath.WalkDir(procSys+"net", func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a device of somebody else's that went
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		l := live{path: strings.TrimPrefix(path, procSys), mode: info.Mode()}
		b, err := os.ReadFile(path)
		l.value, l.read = strings.TrimSpace(string(b)), err == nil
		all = append(all, l)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// inNamespace runs f on a thread in a fresh network namespace with a device. The thread ends with
// the namespace.
func inNamespace(t *testing.T, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread goes with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			err = netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "v0"}, PeerName: "v1"})
		}
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatalf("make a namespace: %v", err)
	}
}

// record returns the catalogue's record of a live name, with the device folded.
func (k *kernel) record(l live) (*tunable.Record, bool) { return k.c.Lookup(tunable.Linux, l.path) }

// checkKnown: the catalogue has the name, and says that this release has it.
func (k *kernel) checkKnown(t *testing.T, l live) {
	t.Helper()
	r, ok := k.record(l)
	switch {
	case !ok && k.facts.Release.Compare(newest) <= 0:
		t.Errorf("%s: no record", l.path)
	case ok && !r.Exists(k.facts.Release) && len(r.Backports) == 0:
		t.Errorf("%s: is there, the record says it is not in %s", l.path, k.facts.Release.Short())
	}
}

// checkDefault compares the value in a fresh namespace with the record's default; inherited values
// may be the host's.
func (k *kernel) checkDefault(t *testing.T, l live) {
	t.Helper()
	r, ok := k.record(l)
	if !ok || !l.read || otherDefault[r.Name] != "" || strings.Contains(l.path, "/lo/") || strings.Contains(l.path, "/v1/") {
		return
	}
	want, ok := k.defaultOf(r, l)
	if !ok || r.SameValue(l.value, want) || near(l.value, want) || k.inherited(r, l) {
		return
	}
	t.Errorf("%s: %q in a fresh namespace, the record's default is %q", l.path, l.value, want)
}

func (k *kernel) defaultOf(r *tunable.Record, l live) (string, bool) {
	name := strings.ReplaceAll(l.path, "/", ".")
	if own, ok := r.InstanceDefaults[name]; ok {
		return own, true
	}
	if strings.HasSuffix(r.Name, "_ehash_entries") || strings.HasSuffix(r.Name, "udp_hash_entries") {
		d, ok := k.c.Default(r, &k.facts)
		return "-" + d, ok // a namespace that shares the host's shows it negative
	}
	return k.c.Default(r, &k.facts)
}

// inherited reports a value that a new namespace copies from the first one.
func (k *kernel) inherited(r *tunable.Record, l live) bool {
	copied := strings.HasPrefix(r.Name, "net.ipv4.conf.") || strings.HasPrefix(r.Name, "net.ipv4.neigh.") ||
		strings.HasPrefix(r.Name, "net.ipv6.neigh.") || r.Name == "net.ipv4.tcp_rmem" || r.Name == "net.ipv4.tcp_wmem" ||
		strings.HasPrefix(r.Name, "net.netfilter.nf_log.") || r.At(k.facts.Release).Scope == tunable.Host
	host, ok := k.host[strings.Replace(l.path, "/v0/", "/default/", 1)]
	return copied && ok && r.SameValue(host, l.value)
}

// near reports numbers that differ by less than 2 %: formulas use all of the memory, the kernel
// what is free during boot.
func near(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) || len(x) == 0 {
		return false
	}
	for i := range x {
		p, err1 := strconv.ParseFloat(x[i], 64)
		q, err2 := strconv.ParseFloat(y[i], 64)
		if err1 != nil || err2 != nil || math.Abs(p-q) > 0.02*math.Abs(q) {
			return false
		}
	}
	return true
}

// checkScopes: a namespace has its own value of what the record assigns to a namespace or a device,
// and lacks or cannot write what it assigns to the host.
func (k *kernel) checkScopes(t *testing.T, host, fresh []live) {
	t.Helper()
	inside := map[string]live{}
	for _, l := range fresh {
		inside[l.path] = l
	}
	for _, l := range host {
		r, ok := k.record(l)
		if !ok || ownDevice(l.path) {
			continue
		}
		scope := r.At(k.facts.Release).Scope
		in, there := inside[l.path]
		writable := there && in.mode.Perm()&0o200 != 0
		switch {
		case scope == tunable.Host && writable && oneWay[r.Name] == "":
			t.Errorf("%s: a namespace can write it, the record says it is the host's", l.path)
		case scope == tunable.NetNS && !there:
			t.Errorf("%s: not in a namespace, the record says it is one's own", l.path)
		}
	}
}

// ownDevice reports directories of devices; a fresh namespace lacks those of the host, and only the
// first one has neigh/default.
func ownDevice(path string) bool {
	return (strings.Contains(path, "/conf/") && !strings.Contains(path, "/conf/all/") && !strings.Contains(path, "/conf/default/")) ||
		strings.Contains(path, "/neigh/")
}

// write writes a sysctl of this thread's namespace; refused is the kernel's error.
func write(path, value string) (refused bool, err error) {
	err = os.WriteFile(procSys+path, []byte(value+"\n"), 0)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ERANGE) || errors.Is(err, unix.EOVERFLOW) {
		return true, nil
	}
	return false, err
}
