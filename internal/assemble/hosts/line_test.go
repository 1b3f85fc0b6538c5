package hosts

import "testing"

// TestLinesForAnotherShell: what is to be typed elsewhere has what it needs there.
func TestLinesForAnotherShell(t *testing.T) {
	for _, c := range []struct {
		sudo, doas, where string
		r                 Remote
		want              string
	}{
		{"", "", "this host", Remote{}, "linerate confirm"},
		{"ann", "", "this host", Remote{}, "sudo linerate confirm"},
		{"", "ann", "this host", Remote{}, "doas linerate confirm"},
		{"ann", "", "ssh://fw", Remote{}, "linerate confirm ssh://fw"},
		{"", "", "ssh://ann@fw:2222", Remote{Become: "doas", Config: "/etc/my config"}, "linerate confirm ssh://ann@fw:2222 --become doas --ssh-config '/etc/my config'"},
		{"", "", "ssh://root@[2001:db8::1]:2222", Remote{}, "linerate confirm 'ssh://root@[2001:db8::1]:2222'"}, // csh(1), zsh(1): No match
		{"", "", "ssh://fw", Remote{Config: "/etc/it's"}, `linerate confirm ssh://fw --ssh-config '/etc/it'\''s'`},
	} {
		t.Setenv("SUDO_USER", c.sudo)
		t.Setenv("DOAS_USER", c.doas)
		if got := c.r.Line(c.where)("confirm"); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
