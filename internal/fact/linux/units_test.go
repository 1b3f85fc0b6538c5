package linux

import (
	"fmt"
	"testing"
)

// TestReadUnits: the last word of a unit and its drop-ins, the hard limit of two.
func TestReadUnits(t *testing.T) {
	c := ReadUnits(tree{
		"/etc/systemd/system.conf":                            "[Manager]\n#DefaultLimitNOFILE=1\nDefaultLimitNOFILE=1024:524288\n",
		"/etc/systemd/system/nginx.service":                   "[Unit]\nLimitNOFILE=1\n[Service]\nLimitNOFILE=65536\n",
		"/etc/systemd/system/nginx.service.d/20-files.conf":   "[Service]\nLimitNOFILE=4096:2097152\n",
		"/etc/systemd/system/nginx.service.d/10-files.conf":   "[Service]\nLimitNOFILE=9\n",
		"/etc/systemd/system/docker.service.d/override.conf":  "[Service]\nLimitNOFILE=infinity\n",
		"/etc/systemd/system/haproxy.service.d/override.conf": "[Service]\nLimitNOFILE=5\nLimitNOFILE=\n",
		"/etc/systemd/system/docker.service":                  "[Service]\n", "/etc/systemd/system/haproxy.service": "",
		"/etc/systemd/system/multi-user.target": "[Service]\nLimitNOFILE=5\n",
	})
	got := map[string]string{}
	for _, l := range c.Lines {
		got[l.Name] = fmt.Sprintf("%s %s:%d", l.Value, l.File, l.Number)
	}
	for name, want := range map[string]string{
		"systemd/system.conf/DefaultLimitNOFILE": "524288 /etc/systemd/system.conf:3",
		"systemd/nginx.service/LimitNOFILE":      "2097152 /etc/systemd/system/nginx.service.d/20-files.conf:2",
		"systemd/docker.service/LimitNOFILE":     "infinity /etc/systemd/system/docker.service.d/override.conf:2",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	if len(got) != 3 {
		t.Errorf("%v", got)
	}
}
