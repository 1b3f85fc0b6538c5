package linux

import (
	"fmt"
	"strings"
	"testing"
)

// TestReadUnits: the last setting of a unit and its drop-ins applies, of two limits the hard one, and
// settings that systemd ignores do not.
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
		"/etc/systemd/system/mongod.service":    "[Service]\nLimitNPROC=64000\nLimitMEMLOCK=64K\nTasksMax=80%\nLimitMEMLOCK=unlimited\nLimitNPROC=64k\n[Install]\nLimitNOFILE=64000\n",
	})
	got := map[string]string{}
	for _, l := range c.Lines {
		if !l.Effective {
			l.Name += " passed over"
		}
		got[l.Name] = strings.TrimSpace(fmt.Sprintf("%s %s:%d %s", l.Value, l.File, l.Number, l.Note))
	}
	for name, want := range map[string]string{
		"systemd/system.conf/DefaultLimitNOFILE":          "524288 /etc/systemd/system.conf:3",
		"systemd/nginx.service/LimitNOFILE":               "2097152 /etc/systemd/system/nginx.service.d/20-files.conf:2",
		"systemd/mongod.service/LimitNPROC":               "64000 /etc/systemd/system/mongod.service:2",
		"systemd/mongod.service/LimitMEMLOCK":             "64K /etc/systemd/system/mongod.service:3",
		"systemd/mongod.service/TasksMax":                 "80% /etc/systemd/system/mongod.service:4",
		"systemd/nginx.service/LimitNOFILE passed over":   "1 /etc/systemd/system/nginx.service:2 " + WrongSection + "[Unit]",
		"systemd/mongod.service/LimitNOFILE passed over":  "64000 /etc/systemd/system/mongod.service:8 " + WrongSection + "[Install]",
		"systemd/mongod.service/LimitMEMLOCK passed over": "unlimited /etc/systemd/system/mongod.service:5 " + BadLimit,
		"systemd/mongod.service/LimitNPROC passed over":   "64k /etc/systemd/system/mongod.service:6 " + BadLimit,
		"systemd/docker.service/LimitNOFILE":              "infinity /etc/systemd/system/docker.service.d/override.conf:2",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	if len(got) != 10 {
		t.Errorf("%v", got)
	}
}
