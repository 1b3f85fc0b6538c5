package apply

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"linerate/internal/hint"
	"linerate/internal/knob"
	"linerate/internal/labtest"
	"linerate/internal/plan"
	"linerate/internal/setting"
	"slices"

	"github.com/google/go-cmp/cmp"
)

func setTo(name string, m setting.Mechanism, was, value string) plan.Step {
	s := plan.Step{Name: name, Mechanism: m, Value: value, Where: plan.Where{Runtime: true}}
	if was != "" {
		s.Current.Value = &was
	}
	return s
}

func snapshot(values ...string) Snapshot {
	s := Snapshot{Values: map[knob.Key]string{}, Files: map[string]FileNow{}}
	for _, v := range values {
		f := strings.SplitN(v, " ", 4)
		k := key(f[0], f[1], f[2])
		s.keys = append(s.keys, k)
		s.Values[k] = strings.TrimPrefix(f[3], "=")
	}
	return s
}

func linuxPlan(settings ...plan.Step) plan.Plan {
	p, _ := plan.Seal(plan.Plan{OS: "linux", Release: "6.1.0", Role: "router", Settings: settings})
	return p
}

// TestJournal: the journal restores the old state, in an order that the kernel accepts.
func TestJournal(t *testing.T) {
	for _, c := range []struct {
		name string
		plan plan.Plan
		now  Snapshot
		want string
	}{
		{"the 0 of an exclusive pair is not restored",
			linuxPlan(setTo("vm.dirty_bytes", setting.Sysctl, "0", "268435456")),
			snapshot("sysctl - vm.dirty_bytes =0", "sysctl - vm.dirty_ratio =20"),
			"before sysctl - vm.dirty_bytes =0\nbefore sysctl - vm.dirty_ratio =20\nset sysctl - vm.dirty_bytes =268435456\nundo sysctl - vm.dirty_ratio =20\n"},
		{"if both of a pair were 0, the ratio is restored",
			linuxPlan(setTo("vm.dirty_ratio", setting.Sysctl, "0", "20")),
			snapshot("sysctl - vm.dirty_ratio =0", "sysctl - vm.dirty_bytes =0"),
			"before sysctl - vm.dirty_ratio =0\nbefore sysctl - vm.dirty_bytes =0\nset sysctl - vm.dirty_ratio =20\nundo sysctl - vm.dirty_ratio =0\n"},
		{"the ratio that overcommit_kbytes cleared is restored, which clears that",
			linuxPlan(setTo("vm.overcommit_kbytes", setting.Sysctl, "0", "9000000")),
			snapshot("sysctl - vm.overcommit_kbytes =0", "sysctl - vm.overcommit_ratio =50"),
			"before sysctl - vm.overcommit_kbytes =0\nbefore sysctl - vm.overcommit_ratio =50\nset sysctl - vm.overcommit_kbytes =9000000\nundo sysctl - vm.overcommit_ratio =50\n"},
		{"forwarding is restored on every interface",
			linuxPlan(setTo("net.ipv4.ip_forward", setting.Sysctl, "0", "1")),
			snapshot("sysctl - net.ipv4.ip_forward =0", "sysctl - net.ipv4.conf.eth0.forwarding =1"),
			"before sysctl - net.ipv4.ip_forward =0\nbefore sysctl - net.ipv4.conf.eth0.forwarding =1\nset sysctl - net.ipv4.ip_forward =1\nundo sysctl - net.ipv4.ip_forward =0\nundo sysctl - net.ipv4.conf.eth0.forwarding =1\n"},
		{"a module is loaded first and removed last",
			linuxPlan(setTo("net.ipv4.tcp_congestion_control", setting.Sysctl, "cubic", "bbr"), setTo("tcp_bbr", setting.Module, "absent", "loaded")),
			snapshot("module - tcp_bbr =absent", "sysctl - net.ipv4.tcp_congestion_control =cubic"),
			"before sysctl - net.ipv4.tcp_congestion_control =cubic\nset module - tcp_bbr =loaded\nset sysctl - net.ipv4.tcp_congestion_control =bbr\nundo sysctl - net.ipv4.tcp_congestion_control =cubic\nundo module - tcp_bbr =absent\n"},
		{"a module that was loaded already stays",
			linuxPlan(setTo("tcp_bbr", setting.Module, "loaded", "loaded")),
			snapshot("module - tcp_bbr =loaded"),
			"set module - tcp_bbr =loaded\n"},
	} {
		tr, err := Prepare(c.plan, c.now, time.Minute, false)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := "linerate-transaction 1\ndigest " + c.plan.Digest + "\nwindow 60\n" + c.want + "end\n"
		if got := string(tr.Journal()); got != want {
			t.Errorf("%s: journal\n%s\nwant\n%s", c.name, got, want)
		}
	}
}

func TestPrepareRefuses(t *testing.T) {
	own := linuxPlan(plan.Step{Name: "a.b", Mechanism: setting.Sysctl, Value: "1", Where: plan.Where{File: plan.LinuxSysctl}})
	foreign := snapshot()
	foreign.Files[plan.LinuxSysctl] = FileNow{Content: "vm.swappiness=1\n"}
	for _, c := range []struct {
		name string
		plan plan.Plan
		now  Snapshot
		want string
	}{
		{"changed since", linuxPlan(setTo("net.core.somaxconn", setting.Sysctl, "4096", "8192")), snapshot("sysctl - net.core.somaxconn =1000"), `was "4096" when the plan was made and is "1000" now`},
		{"bytes whose 0 cannot be restored", linuxPlan(setTo("vm.dirty_bytes", setting.Sysctl, "0", "9000000")), snapshot("sysctl - vm.dirty_bytes =0", "sysctl - vm.dirty_ratio =0"), "vm.dirty_ratio is 0 too"},
		{"gone since", linuxPlan(setTo("net.core.somaxconn", setting.Sysctl, "4096", "8192")), snapshot(), "does not exist"},
		{"somebody else's file", own, foreign, "was not written by linerate"},
		{"an MTU that loses addresses", linuxPlan(plan.Step{Name: "mtu", Mechanism: setting.Link, Device: "eth0", Value: "576", Where: plan.Where{Runtime: true}}), snapshot("link eth0 mtu =1500"), "IPv6 addresses"},
	} {
		_, err := Prepare(c.plan, c.now, time.Minute, false)
		if err == nil || !strings.Contains(err.Error(), c.want) || hint.Of(err) == "" {
			t.Errorf("%s: %v (hint %q), want %q", c.name, err, hint.Of(err), c.want)
		}
	}
}

func TestFits(t *testing.T) {
	p := linuxPlan()
	p.Host = "fw1"
	good := Identity{OS: "linux", Release: "6.1.0-18-amd64", Host: "fw1", Init: "systemd"}
	if err := Fits(p, good); err != nil {
		t.Errorf("a plan for this host: %v", err)
	}
	for want, change := range map[string]func(*Identity){
		"runs freebsd":  func(i *Identity) { i.OS = "freebsd" },
		`this is "fw2"`: func(i *Identity) { i.Host = "fw2" },
		"runs 6.2.0":    func(i *Identity) { i.Release = "6.2.0" },
		"needs root":    func(i *Identity) { i.UID = 1000 },
		"a live study has this host (s): Does it help?": func(i *Identity) { i.Live = &LiveStudy{Owner: "s", About: "Does it help?"} },
		"fw1 lacks flock(1), ":                          func(i *Identity) { i.Lacks = "flock" },
		"has no boot identifier (/proc/sys/":            func(i *Identity) { i.NoBoot = true },
	} {
		id := good
		change(&id)
		if err := Fits(p, id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", id, err, want)
		}
	}
}

// TestAgentText: the agent uses only syntax that every POSIX shell reads.
func TestAgentText(t *testing.T) {
	for _, argv := range [][]string{{"dash", "-n"}, {"busybox", "sh", "-n"}, {"bash", "--posix", "-n"}, {"shellcheck", "-s", "sh", "-"}} {
		path, err := exec.LookPath(argv[0])
		if err != nil {
			labtest.Without(t, "%s is not here", argv[0])
			continue
		}
		cmd := exec.Command(path, argv[1:]...)
		cmd.Stdin = strings.NewReader(Agent())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", argv, err, out)
		}
	}
	if n := strings.Count(Agent(), "\n"); n > 1000 {
		t.Errorf("the agent has %d lines, too many to review", n)
	}
	if strings.Contains(Agent(), "eval ") {
		t.Error("the agent uses eval")
	}
}

func FuzzAnswers(f *testing.F) {
	for _, s := range []string{"value sysctl - a.b =1\nid 000001-x\n", "file /etc/x 644 0 0\n|a\n\nother /y\nnofile /z\n",
		"os Linux\nrelease 6.1\nstate pending\nleft 5\ndrift sysctl - a =1 =2\nhistory 000001-ab.confirmed sha256:x why not\ndrift-file /etc/x\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = parseSnapshot(b)
		if st, err := parseStatus(b); err == nil {
			_, _ = st.Current()
		}
	})
}

// TestSnapshotsAreWhole: a truncated snapshot is refused.
func TestSnapshotsAreWhole(t *testing.T) {
	for text, ok := range map[string]bool{
		"file /etc/x 644 0 0\n|a\n": true, "nofile /etc/x\n": true, "other /etc/x\n": true, "value sysctl - a.b =1\n": true, "value sysctl - a.b !\n": true,
		"file /etc/": false, "file /etc/x": false, "file /etc/x 644 0": false, "value sysctl - a.b": false, "other": false,
	} {
		if s, err := parseSnapshot([]byte(text)); (err == nil) != ok {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
}

func TestStatusParsed(t *testing.T) {
	st, err := parseStatus([]byte("os Linux\nrelease 6.1\nhost h\nuid 0\ninit sysv\nstate pending\nid 000002-ab\ndigest sha256:ab\nleft 17\narmed yes\nready yes\nno-cron\nhistory 000001-cd.confirmed sha256:cd \nhistory 000000-ef.reverted sha256:ef taken back: why\ndrift link eth0 mtu =1500 =9000\ndrift sysctl - a.b =1 2 =!\ndrift-file /etc/x 2026-11-22T16:00:00Z\ndrift-line +b=2\ndrift-line -a=1\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Drift{{What: "link eth0 mtu", Confirmed: "1500", Now: "9000"}, {What: "sysctl a.b", Confirmed: "1 2"},
		{What: "/etc/x", Now: "another text", Changed: "2026-11-22T16:00:00Z", Lines: []string{"+b=2", "-a=1"}}}
	if !st.Armed || !st.Ready || !st.NoCron || st.Left != 17 || len(st.History) != 2 || st.History[1].Why != "taken back: why" ||
		!slices.EqualFunc(st.Drift, want, func(a, b Drift) bool { return cmp.Equal(a, b) }) {
		t.Errorf("%+v", st)
	}
	ends := "os FreeBSD\nrelease 14.0\nhost h\nuid 0\ninit rc\nlive s 1 Does it help?\nlost s 0 Does it help?\n"
	if st, err := parseStatus([]byte(ends)); err != nil || st.Live == nil || st.Lost != nil {
		t.Errorf("a hold that ends during the query: %+v, %v", st, err)
	}
	if _, err := parseStatus([]byte("-bash: sh: command not found\n")); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("an invalid status: %v", err)
	}
}
