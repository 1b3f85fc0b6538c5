package linux

import "testing"

// TestReadLimits: each line about open files is separate; other items, comments and incomplete lines
// are ignored.
func TestReadLimits(t *testing.T) {
	c := ReadLimits(tree{"/etc/security/limits.conf": "# x hard nofile 1\n*\thard\tnofile\t2097152 # all\nroot - nproc 5\n@a soft nofile\nb hard nofile 9\n* soft nofile 99\n", "/etc/security/limits.d/20-x.conf": "c - nofile unlimited\nd hard memlock 65536\ne - stack 1\n"})
	want := []struct {
		file, value string
		number      int
		item        string
	}{{"/etc/security/limits.conf", "2097152", 2, "nofile"}, {"/etc/security/limits.conf", "5", 3, "nproc"}, {"/etc/security/limits.conf", "9", 5, "nofile"},
		{"/etc/security/limits.d/20-x.conf", "unlimited", 1, "nofile"}, {"/etc/security/limits.d/20-x.conf", "65536", 2, "memlock"}}
	if len(c.Lines) != len(want) {
		t.Fatalf("%+v", c.Lines)
	}
	for i, w := range want {
		if l := c.Lines[i]; l.File != w.file || l.Value != w.value || l.Number != w.number || l.Name != Limits+w.item || !l.Effective {
			t.Errorf("%+v, want %+v", l, w)
		}
	}
}
