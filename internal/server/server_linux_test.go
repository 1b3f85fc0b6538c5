package server_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"linerate/internal/labtest"
	"linerate/internal/port"
	"linerate/internal/server"
	"linerate/internal/setting"
)

// inside runs f in a network namespace with only a loopback device, which is up.
func inside(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never given back: it ends with its namespaces
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			done <- err
			return
		}
		lo, err := netlink.LinkByName("lo")
		if err == nil {
			err = netlink.LinkSetUp(lo)
		}
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

var loopback = netip.MustParseAddr("127.0.0.1")

func need(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		labtest.Lacking(t, "it needs root: it makes namespaces")
	}
	if err := server.NGINX.Installed(); err != nil {
		labtest.Lacking(t, "%v", err)
	}
}

func startWeb(t *testing.T, w setting.Web) (*server.Box, *server.Process) {
	t.Helper()
	box, err := server.NewBox(inside)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	p, err := box.StartWeb(t.Context(), w, loopback)
	if err != nil {
		t.Fatal(err)
	}
	return box, p
}

// get fetches a URL from inside the box.
func get(box *server.Box, url string) (body []byte, header http.Header, err error) {
	err = box.Do(func() error {
		// The dial happens on this thread, in its namespace.
		conn, err := net.Dial("tcp", "127.0.0.1:80")
		if err != nil {
			return err
		}
		c := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }, DisableKeepAlives: true}}
		resp, err := c.Get(url)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		header = resp.Header
		body, err = io.ReadAll(resp.Body)
		return err
	})
	return body, header, err
}

func TestWebServesItsObjectsInsideOnly(t *testing.T) {
	need(t)
	before := listening(t)
	box, p := startWeb(t, setting.Web{Sizes: []int{0, 1000, 350_000}, TLS: true, HTTP2: true, Log: true,
		Directives: map[string]string{"worker_processes": "2", "backlog": "64", "reuseport": "on", "sendfile": "on"}})
	for _, size := range []int{0, 1000, 350_000} {
		body, _, err := get(box, "http://127.0.0.1"+setting.ObjectPath(size))
		if err != nil || len(body) != size {
			t.Errorf("object of %d bytes: %d bytes, %v", size, len(body), err)
		}
	}
	var log []byte
	var err error
	labtest.Eventually(func() bool { // a request is logged after its answer has gone
		log, err = box.Read(setting.NGINXAccessLog)
		return strings.Count(string(log), "\n") == 3
	})
	if err != nil || strings.Count(string(log), "\n") != 3 || !strings.Contains(string(log), `"GET /350000 HTTP/1.1" 200 350000`) {
		t.Errorf("access log %q, %v", log, err)
	}
	if after := listening(t); after != before {
		t.Errorf("the machine's own namespace listens on\n%s, before it did on\n%s", after, before)
	}
	if n := workers(p, 3); n != 3 {
		t.Errorf("%d processes, want a master and two workers", n)
	}
	if p.CPU() <= 0 {
		t.Error("it used no processor time")
	}
	if _, err := os.Stat("/tmp/html"); err == nil {
		t.Error("its files are in the machine's /tmp")
	}
}

// workers waits until a server has the wanted number of processes, and returns it.
func workers(p *server.Process, want int) (n int) {
	labtest.Eventually(func() bool { n = len(p.PIDs()); return n == want })
	return n
}

// listening returns the TCP listeners of the machine's own network namespace.
func listening(t *testing.T) string {
	t.Helper()
	var out []string
	for _, file := range []string{"/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"} {
		data, _ := os.ReadFile(file)
		for line := range strings.Lines(string(data)) {
			if f := strings.Fields(line); len(f) > 3 && f[3] == "0A" && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", setting.HTTPPort)) {
				out = append(out, f[1])
			}
		}
	}
	return strings.Join(out, "\n")
}

func TestABadConfigurationIsBlamedOnItself(t *testing.T) {
	need(t)
	box, err := server.NewBox(inside)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	_, err = box.StartWeb(t.Context(), setting.Web{Directives: map[string]string{"sendfile": "perhaps"}}, loopback)
	if err == nil || !strings.Contains(err.Error(), `invalid value "perhaps"`) {
		t.Errorf("got %v, want nginx's own complaint", err)
	}
}

func TestAMissingProgramNamesItsPackage(t *testing.T) {
	if os.Geteuid() != 0 {
		labtest.Lacking(t, "it needs root: it makes namespaces")
	}
	box, err := server.NewBox(inside)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	_, err = box.Start(t.Context(), server.Program{Name: "linerate-no-such-server", Package: "nothing"})
	if err == nil || err.Error() != "linerate-no-such-server is not installed" {
		t.Errorf("got %v", err)
	}
}

func TestACrashIsNoticed(t *testing.T) {
	need(t)
	_, p := startWeb(t, setting.Web{})
	pids := p.PIDs()
	if err := p.Running(); err != nil {
		t.Fatal(err)
	}
	proc, _ := os.FindProcess(pids[0])
	_ = proc.Kill()
	labtest.Eventually(func() bool { return p.Running() != nil })
	if err := p.Running(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("a killed server is %v", err)
	}
	gone(t, pids)
}

// gone waits until processes have exited.
func gone(t *testing.T, pids []int) {
	t.Helper()
	if !labtest.Eventually(func() bool {
		return !slices.ContainsFunc(pids, func(pid int) bool {
			// A zombie that waits for its parent has ended.
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			return err == nil && !strings.Contains(string(stat), ") Z ")
		})
	}) {
		t.Errorf("processes %v are still there", pids)
	}
}

// asHost makes this test binary run a server until it is killed.
const asHost = "LINERATE_TEST_SERVER_HOST"

func TestNothingIsLeftWhenLinerateIsKilled(t *testing.T) {
	need(t)
	if os.Getenv(asHost) != "" {
		box, err := server.NewBox(port.Place(inside))
		if err != nil {
			t.Fatal(err)
		}
		p, err := box.StartWeb(t.Context(), setting.Web{Sizes: []int{1000}, Directives: map[string]string{"worker_processes": "3"}}, loopback)
		if err != nil {
			t.Fatal(err)
		}
		workers(p, 4)
		fmt.Println("PIDS", strings.Trim(fmt.Sprint(p.PIDs()), "[]"))
		time.Sleep(time.Minute)
		return
	}
	c := exec.Command(os.Args[0], "-test.run", "^TestNothingIsLeftWhenLinerateIsKilled$", "-test.v")
	c.Env = append(os.Environ(), asHost+"=1")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pids := readPIDs(t, out)
	if len(pids) != 4 {
		t.Errorf("processes %v, want a master and three workers", pids)
	}
	if err := c.Process.Kill(); err != nil { // as kill -9
		t.Fatal(err)
	}
	_ = c.Wait()
	gone(t, pids)
}

func readPIDs(t *testing.T, r io.Reader) (pids []int) {
	t.Helper()
	var all strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		all.Write(buf[:n])
		if _, list, ok := strings.Cut(all.String(), "PIDS "); ok && strings.Contains(list, "\n") {
			list, _, _ = strings.Cut(list, "\n")
			for f := range strings.FieldsSeq(list) {
				pid, err := strconv.Atoi(f)
				if err != nil {
					t.Fatal(err)
				}
				pids = append(pids, pid)
			}
			return pids
		}
		if err != nil {
			t.Fatalf("%v; it said %s", err, all.String())
		}
	}
}

func TestNamesStayInTheBox(t *testing.T) {
	if os.Geteuid() != 0 {
		labtest.Lacking(t, "it needs root: it makes namespaces")
	}
	box, err := server.NewBox(inside)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	for _, name := range []string{"../x", "/etc/x", "a/../../x"} {
		if err := box.Write(name, nil, 0o600); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if err := box.Do(func() error { panic("no") }); err == nil {
		t.Error("a panic inside is no error")
	}
	if err := box.Close(); err != nil {
		t.Error(err)
	}
	if err := box.Do(func() error { return nil }); err == nil {
		t.Error("a closed box works")
	}
}
