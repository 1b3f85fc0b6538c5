package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"linerate/internal/labtest"
	"linerate/internal/sockops"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/studydir"
	"linerate/internal/testbed"
	"linerate/internal/testbed/netnsbed"
)

// pages is a web server in its own cgroup, behind a link, whose clients have many addresses and
// fetch an object over a new connection each time.
type pages struct {
	t     *testing.T
	site  testbed.Site
	group string // the cgroup's directory
	name  string // the server's process
	log   string // its access log
}

const pageSize = 60_000

func newPages(t *testing.T, l testbed.Link) *pages {
	t.Helper()
	labtest.Namespaces(t)
	labtest.Program(t, "nginx")
	root, err := sockops.Cgroup("")
	if err != nil {
		labtest.Lacking(t, "%v", err)
	}
	bed, err := netnsbed.UpSites(t.Context(), false)
	if err != nil {
		labtest.Lacking(t, "no sites here: %v", err)
	}
	t.Cleanup(func() { _ = bed.Close() })
	sites, err := bed.Raise(t.Context(), testbed.Layout{Clients: 60, Seed: 1, Link: l}, []testbed.Settings{{Name: "host"}})
	if err != nil {
		t.Fatal(err)
	}
	p := &pages{t: t, site: sites[0], group: filepath.Join(root, fmt.Sprintf("linerate-test-%d", rand.Uint32())), name: fmt.Sprintf("lrt%d", rand.Uint32N(1e6))}
	if err := os.Mkdir(p.group, 0o755); err != nil {
		labtest.Lacking(t, "no cgroup can be made: %v", err)
	}
	t.Cleanup(func() {
		if !labtest.Eventually(func() bool { return os.Remove(p.group) == nil }) {
			t.Errorf("%s cannot be removed", p.group)
		}
	})
	p.serve()
	return p
}

// serve starts nginx in the cgroup and the namespace, under a unique process name.
func (p *pages) serve() {
	dir := p.t.TempDir()
	p.log = filepath.Join(dir, "access.log")
	conf := fmt.Sprintf("daemon off; master_process off; error_log %[1]s/err.log; pid %[1]s/pid;\nevents { worker_connections 1024; }\nhttp { log_format peer '$remote_addr:$remote_port - - [$time_local] \"$request\" $status $body_bytes_sent \"-\" \"-\" $request_time'; access_log %[1]s/access.log peer; keepalive_timeout 0; client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s; server { listen %[2]s:80; root %[1]s; } }\n", dir, p.site.Address)
	real, err := exec.LookPath("nginx")
	err = errors.Join(err, os.WriteFile(filepath.Join(dir, "conf"), []byte(conf), 0o644), os.WriteFile(filepath.Join(dir, "page"), make([]byte, pageSize), 0o644), os.Symlink(real, filepath.Join(dir, p.name)))
	if err != nil {
		p.t.Fatal(err)
	}
	group, err := os.Open(p.group)
	if err != nil {
		p.t.Fatal(err)
	}
	defer group.Close()
	cmd := exec.Command(filepath.Join(dir, p.name), "-p", dir, "-c", filepath.Join(dir, "conf"))
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(group.Fd())}
	if err := p.site.Server(cmd.Start); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if !labtest.Eventually(func() bool { return p.fetch(p.site.Sources[0]) == nil }) {
		log, _ := os.ReadFile(filepath.Join(dir, "err.log"))
		p.t.Fatalf("nginx does not answer: %s", log)
	}
}

func (p *pages) fetch(from netip.Addr) error {
	var conn net.Conn
	err := p.site.Clients(func() (err error) {
		conn, err = (&net.Dialer{Timeout: 5 * time.Second, LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0))}).Dial("tcp", netip.AddrPortFrom(p.site.Address, 80).String())
		return err
	})
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, "GET /page HTTP/1.0\r\n\r\n"); err != nil {
		return err
	}
	var answer bytes.Buffer
	if n, err := io.Copy(&answer, conn); err != nil || n < pageSize {
		return fmt.Errorf("%d bytes: %w", n, err)
	}
	return nil
}

// visitors fetch the page repeatedly until the test ends.
func (p *pages) visitors(n int) {
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	p.t.Cleanup(func() { stop(); all.Wait() })
	for i := range n {
		all.Go(func() {
			r := rand.New(rand.NewPCG(2, uint64(i)))
			for ctx.Err() == nil {
				_ = p.fetch(p.site.Sources[r.IntN(len(p.site.Sources))])
				wait(ctx, time.Duration(20e6*r.ExpFloat64()))
			}
		})
	}
}

// attached counts the BPF programs attached to the cgroup.
func (p *pages) attached() int {
	p.t.Helper()
	f, err := os.Open(p.group)
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	got, err := link.QueryPrograms(link.QueryOptions{Target: int(f.Fd()), Attach: ebpf.AttachCGroupSockOps})
	if err != nil {
		p.t.Fatal(err)
	}
	return len(got.Programs)
}

// prove runs a study of the server's connections.
func (p *pages) prove(args ...string) (cmd *exec.Cmd, said *bytes.Buffer, dir string) {
	dir = filepath.Join(p.t.TempDir(), "record")
	cmd = exec.Command("linerate", append([]string{"prove", "--per", "connection", "--service", p.name, "--yes", "--ledger", "none", "--out", dir}, args...)...)
	said = &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = said, said
	return cmd, said, dir
}

// TestPerConnection: with an initial window of 45 segments, a page of 42 segments crosses a link
// of 40 ms in one round trip instead of three. Treated connections must be faster by as much as
// separate runs with all and with no connections treated show; the others must not be, and the
// two halves of the control must not differ.
func TestPerConnection(t *testing.T) {
	p := newPages(t, testbed.Link{Delay: 20 * time.Millisecond})
	p.visitors(16)
	truth := p.truth()
	cmd, said, dir := p.prove("initcwnd=45", "--metric", "duration", "--metric", "rtt", "--metric", "retransmits", "--metric", "log:"+p.log+"#p50", "--window", "1500ms", "--time", "12s")
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	record, err := studydir.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := study.Analyse(record.Spec, record.Seed, record.Environment, record.Trials)
	// Two equal halves differ in one study of twenty, but only slightly.
	if !r.Complete || math.Abs(r.AA.EffectPercent.Float()) > 3 || len(r.Verdicts) != 4 {
		t.Fatalf("complete %v, A/A %s, %d verdicts (want 4)\n%s", r.Complete, r.AA.Verdict, len(r.Verdicts), said)
	}
	v := r.Verdicts[0]
	low, high := v.CILow.Float(), v.CIHigh.Float()
	t.Logf("%s %s of a truth of %.1f %%; %v\n%s", v.Text(), v.Bounds(), truth, r.Environment.Testbeds, said)
	if v.Verdict != stats.Better || truth < low-5 || truth > high+5 {
		t.Errorf("%s, %s %s, where separate runs say %.1f %%\n%s", v.Verdict, v.Text(), v.Bounds(), truth, said)
	}
	if v.Host == nil || v.Host.Apart {
		t.Errorf("interference reported between arms that share nothing: %+v", v.Host)
	}
	p.joined(record.Environment)
	if n := p.attached(); n != 0 {
		t.Errorf("%d BPF programs are still attached", n)
	}
}

// joined checks that nearly every connection was matched with its line in the server's log.
func (p *pages) joined(e study.Environment) {
	p.t.Helper()
	var with, of int
	for _, note := range e.Testbeds[string(study.ConnectionsMode)].Notes {
		if n, _ := fmt.Sscanf(note, "%d of %d connections have lines", &with, &of); n == 2 {
			break
		}
	}
	if of < 500 || float64(with) < 0.99*float64(of) {
		p.t.Errorf("%d of %d connections have lines in the log: %v", with, of, e.Testbeds)
	}
}

// truth returns the effect on the median duration, in percent, from separate runs in which all
// connections are treated and none is.
func (p *pages) truth() float64 {
	p.t.Helper()
	initcwnd := sockops.Option{Level: 6, Name: 1001, Value: 45} // SOL_TCP, TCP_BPF_IW
	medians := map[float64]float64{}
	for _, share := range []float64{0, 1} {
		s, err := sockops.Attach(p.group, sockops.Key{1, 1}, []sockops.Option{initcwnd})
		if err == nil {
			err = s.Set(1, share, sockops.All)
		}
		if err != nil {
			p.t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		closed, err := s.Read()
		if err := errors.Join(err, s.Close()); err != nil || len(closed) < 50 {
			p.t.Fatalf("%d connections: %v", len(closed), err)
		}
		var d []float64
		for _, c := range closed {
			d = append(d, c.Duration.Seconds())
		}
		medians[share] = stats.Summarise(d).Median
	}
	return 100 * (medians[1]/medians[0] - 1)
}

// TestPerConnectionHarm: a window clamp of two segments slows each connection down by far; the
// study must stop in its first windows, before most connections were treated.
func TestPerConnectionHarm(t *testing.T) {
	t.Parallel()
	p := newPages(t, testbed.Link{Delay: 10 * time.Millisecond})
	p.visitors(16)
	cmd, said, dir := p.prove("cwnd-clamp=2", "--metric", "duration", "--window", "1s", "--time", "30s")
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 4 {
		t.Errorf("exit %v, not 4", err)
	}
	record, err := studydir.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, trip := study.TripOf(record.Trials); trip == nil || len(record.Trials) > 3*5 {
		t.Errorf("%d trials, trip %+v\n%s", len(record.Trials), trip, said)
	}
	if n := p.attached(); n != 0 {
		t.Errorf("%d BPF programs are still attached", n)
	}
}

// TestPerConnectionRefused: a setting that only the kernel can refuse is reported on the first connections.
func TestPerConnectionRefused(t *testing.T) {
	t.Parallel()
	p := newPages(t, testbed.Link{})
	p.visitors(4)
	cmd, said, dir := p.prove("rto-min=2000", "--metric", "duration", "--window", "1s", "--time", "8s")
	err := cmd.Run()
	if err == nil {
		labtest.Lacking(t, "this kernel ticks so fast that it takes 2 ms")
	}
	if record, rerr := studydir.Read(dir); rerr != nil || len(record.Trials) > 0 || !strings.Contains(said.String(), "the kernel refused the setting for") || !strings.Contains(said.String(), "invalid argument") {
		t.Errorf("%v, %v\n%s", err, rerr, said)
	}
	if n := p.attached(); n != 0 {
		t.Errorf("%d BPF programs are still attached", n)
	}
}

// TestPerConnectionWithoutTraffic: a server that accepts no connection is reported after the first window.
func TestPerConnectionWithoutTraffic(t *testing.T) {
	p := newPages(t, testbed.Link{})
	cmd, said, dir := p.prove("initcwnd=45", "--metric", "duration", "--window", "1s", "--time", "8s")
	err := cmd.Run()
	if record, rerr := studydir.Read(dir); err == nil || rerr != nil || len(record.Trials) > 0 || !strings.Contains(said.String(), p.name+" accepted no TCP connection in 1s") {
		t.Errorf("%v, %v\n%s", err, rerr, said)
	}
	if n := p.attached(); n != 0 {
		t.Errorf("%d BPF programs are still attached", n)
	}
}

// TestPerConnectionKilled: whenever the study is killed, it leaves no BPF program attached.
func TestPerConnectionKilled(t *testing.T) {
	t.Parallel()
	p := newPages(t, testbed.Link{})
	p.visitors(4)
	look, foreseen, dir := p.prove("notsent-lowat=16384", "--metric", "duration", "--window", "500ms", "--dry-run")
	err := look.Run()
	if _, stat := os.Stat(dir); err != nil || !errors.Is(stat, fs.ErrNotExist) || !strings.Contains(foreseen.String(), "a study would see") {
		t.Errorf("a dry run: %v, %v\n%s", err, stat, foreseen)
	}
	for i := range 8 {
		cmd, said, _ := p.prove("notsent-lowat=16384", "--metric", "duration", "--window", "500ms", "--time", "30s")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i == 0 && !labtest.Eventually(func() bool { return p.attached() == 1 }) {
			t.Errorf("no BPF program is attached while the study runs\n%s", said)
		}
		time.Sleep(time.Duration(rand.IntN(1500)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if !labtest.Eventually(func() bool { return p.attached() == 0 }) {
			t.Fatalf("a BPF program is still attached after kill -9\n%s", said)
		}
	}
}
