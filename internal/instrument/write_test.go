package instrument

import (
	"strings"
	"testing"
	"time"
)

// TestWriteIsPlaced: the unit is the innermost cgroup that is one, else the innermost; a
// container is known by its id, whatever manages cgroups.
func TestWriteIsPlaced(t *testing.T) {
	id := strings.Repeat("0a", 32)
	for groups, want := range map[string][2]string{
		"tuned.service system.slice":                     {"tuned.service", ""},
		"sub docker.service system.slice":                {"docker.service", ""},
		"session-3.scope user-0.slice user.slice":        {"session-3.scope", ""},
		"cri-containerd-" + id + ".scope kubepods.slice": {"cri-containerd-" + id + ".scope", id},
		id + " podb71a besteffort kubepods":              {id, id},
		id + " docker":                                   {id, id},
		"init libpod-" + id + ".scope machine.slice":     {"libpod-" + id + ".scope", id},
		"mine": {"mine", ""},
		"":     {"", ""},
		"sub " + id[:12] + ".service-like other.mount.not": {"sub", ""},
	} {
		w := Write{Groups: strings.Fields(groups)}
		w.place()
		if w.Unit != want[0] || w.Container != want[1] {
			t.Errorf("%q: unit %q, container %q", groups, w.Unit, w.Container)
		}
	}
}

func TestWriteLine(t *testing.T) {
	w := Write{At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Name: "net.ipv4.tcp_rmem", Old: "", New: "1 2 3", Exe: "/usr/bin/dash", Unit: "x.service", Container: strings.Repeat("ab", 32), Elsewhere: true,
		Chain: []Process{{7, "sh"}, {1, "systemd"}}}
	if want := "03:04:05  net.ipv4.tcp_rmem: \"\" → 1 2 3, by sh[7] (/usr/bin/dash) ← systemd[1], in x.service, container abababababab, in another network namespace"; w.String() != want {
		t.Errorf("%s, want %s", w.String(), want)
	}
	if w := (&Write{At: w.At, Name: "vm.swappiness", Old: "60", New: "10", Exe: "/usr/sbin/tuned", Chain: []Process{{9, "tuned"}}}); w.String() != "03:04:05  vm.swappiness: 60 → 10, by tuned[9]" {
		t.Error(w.String())
	}
}
