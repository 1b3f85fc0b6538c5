package audit_test

import (
	"strings"
	"testing"
)

// TestUFWIsAudited: the sysctls that ufw sets at its start are judged like any line, and those of its
// package count as the package's.
func TestUFWIsAudited(t *testing.T) {
	files := map[string]string{"/etc/ufw/ufw.conf": "ENABLED=yes", "/etc/ufw/sysctl.conf": "net/ipv4/tcp_tw_recycle=1\nnet/ipv4/conf/all/accept_redirects=0"}
	r := run(t, tree(t, "6.12", files), "web")
	if len(r.Findings) != 1 || r.Findings[0].ID != "LR-REMOVED:net.ipv4.tcp_tw_recycle" || !strings.HasSuffix(r.Findings[0].File, "/etc/ufw/sysctl.conf") || r.Lines != 1 {
		t.Errorf("%d lines, %+v", r.Lines, r.Findings)
	}
	files["/etc/ufw/ufw.conf"] = "ENABLED=no"
	if r := run(t, tree(t, "6.12", files), "web"); len(r.Findings) > 0 || r.Lines != 0 {
		t.Errorf("with ufw disabled: %d lines, %+v", r.Lines, r.Findings)
	}
}

// TestUFWOverrides: ufw's file is applied last, including its package's lines; equal values, and
// values that run as in sysctl.d, are not reported.
func TestUFWOverrides(t *testing.T) {
	const name = "net.ipv4.conf.all.log_martians"
	for _, c := range []struct {
		ours, ufw, enabled, live string
		want                     bool
	}{
		{name + "=1", "net/ipv4/conf/all/log_martians=0", "yes", "", true},
		{name + "=1", "net/ipv4/conf/all/log_martians=0", "yes", "0", true},
		{name + "=1", "net/ipv4/conf/all/log_martians=0", "yes", "1", false},
		{name + "=1", "net/ipv4/conf/all/log_martians=1", "yes", "", false},
		{name + "=1", "net/ipv4/conf/all/log_martians=0", "no", "", false},
		{name + "=1", "net/ipv4/conf/default/log_martians=0", "yes", "", false},
	} {
		f := tree(t, "6.12", map[string]string{"/etc/sysctl.d/60-x.conf": c.ours, "/etc/ufw/ufw.conf": "ENABLED=" + c.enabled, "/etc/ufw/sysctl.conf": c.ufw})
		if c.live != "" {
			setLive(f, name, c.live)
		}
		r := run(t, f, "web")
		got := find(r, "LR-OVERWRITTEN", name)
		if (len(got) == 1) != c.want {
			t.Errorf("%+v: %+v", c, r.Findings)
		}
		if len(got) == 1 && (!strings.HasSuffix(got[0].File, "60-x.conf") || !strings.Contains(got[0].Fix, "/etc/ufw/sysctl.conf")) {
			t.Errorf("%+v", got[0])
		}
	}
}

// TestSameFindingsAreNumbered: findings with the same id are told apart by file and then by a
// consecutive number.
func TestSameFindingsAreNumbered(t *testing.T) {
	r := run(t, tree(t, "6.12", map[string]string{"/etc/sysctl.d/60-x.conf": strings.Repeat("broken line\n", 4)}), "web")
	var ids []string
	for _, f := range r.Findings {
		ids = append(ids, f.ID)
	}
	file := r.Findings[0].ID + "@" + r.Findings[0].File
	if want := []string{r.Findings[0].ID, file, file + "#2", file + "#3"}; strings.Join(ids, " ") != strings.Join(want, " ") {
		t.Errorf("%q, want %q", ids, want)
	}
}
