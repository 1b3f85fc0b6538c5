package apply

import (
	"strings"
	"testing"

	"linerate/internal/knob"
	"linerate/internal/setting"
)

func TestParseIdentity(t *testing.T) {
	id, err := parseIdentity([]byte("os FreeBSD\nrelease 14.3-RELEASE\nhost fw1\nuid 1001\ninit rc\nsession sshd\n"))
	if want := (Identity{OS: "freebsd", Release: "14.3-RELEASE", Host: "fw1", UID: 1001, Init: "rc", Management: "sshd"}); err != nil || id != want {
		t.Errorf("%+v, %v; want %+v", id, err, want)
	}
	for _, said := range []string{"", "uid nobody\n", "uid \n"} { // not root unless the answer says so
		if id, err := parseIdentity([]byte("os Linux\nrelease 6.1.0\n" + said)); err != nil || id.UID == 0 {
			t.Errorf("%q: %+v, %v", said, id, err)
		}
	}
	if _, err := parseIdentity([]byte("sh: not found\n")); err == nil || !strings.Contains(err.Error(), "sh: not found") {
		t.Errorf("an invalid answer: %v", err)
	}
}

// TestJudge: every value must read back as it was set, whatever its notation.
func TestJudge(t *testing.T) {
	first, last := key("sysctl", "-", "vm.swappiness"), key("sysctl", "-", "net.ipv4.tcp_rmem")
	x := Transaction{Set: []Assignment{{first, "10"}, {last, "4096 131072 6291456"}}}
	for name, c := range map[string]struct {
		after map[knob.Key]string
		wrong string
	}{
		"as set":    {map[knob.Key]string{first: "10", last: "4096\t131072\t6291456"}, ""},
		"another":   {map[knob.Key]string{first: "10", last: "4096\t131072\t212992"}, last.Name},
		"not there": {map[knob.Key]string{last: "4096 131072 6291456"}, first.Name},
	} {
		if err := x.Judge(c.after); (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), string(setting.Sysctl)+" "+c.wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
