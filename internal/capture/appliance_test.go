package capture

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/host/filehost"
	"linerate/internal/inspect"
	"linerate/internal/labtest"
)

// applianceFiles are configurations with secrets planted where people have them.
var applianceFiles = map[string]string{
	"/conf/config.xml": `<?xml version="1.0"?>
<opnsense>
  <system>
    <hostname>fw1</hostname>
    <user><name>root</name><password>$2y$10$hunter2</password><apikeys><item><key>hunter2</key></item></apikeys></user>
    <maximumstates>400000</maximumstates>
  </system>
  <ppps><ppp><username>hunter2</username><password>8675309</password></ppp></ppps>
  <cert><prv>hunter2
swordfish</prv></cert>
  <snmpd><rocommunity>swordfish</rocommunity></snmpd>
  <sysctl>
    <item>
      <tunable>net.inet.tcp.tso</tunable>
      <value>0</value>
      <descr>hunter2</descr>
    </item>
  </sysctl>
</opnsense>
`,
	"/usr/local/opnsense/version/core": "{\n  \"CORE_VERSION\": \"25.1.3\",\n  \"CORE_PRODUCT\": \"hunter2\"\n}\n",
	"/etc/openwrt_release":             "DISTRIB_ID='OpenWrt'\nDISTRIB_RELEASE='23.05.5'\nDISTRIB_DESCRIPTION='hunter2'\n",
	"/etc/config/network":              "config interface 'wan'\n\toption device 'eth1'\n\toption proto 'pppoe'\n\toption username 'hunter2'\n\toption password '8675309'\nconfig globals 'globals'\n\toption packet_steering '1'\n",
	"/etc/config/firewall":             "config defaults\n\toption flow_offloading '1'\nconfig rule\n\toption name 'swordfish'\n",
}

// onSystem is the script for a system of which the files lie below dir, by tools of
// busybox alone.
func onSystem(t *testing.T, dir, system string) string {
	t.Helper()
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		labtest.Lacking(t, "%v", err)
	}
	tools := filepath.Join(dir, "tools")
	if err := os.Mkdir(tools, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range strings.Fields("sh awk sed mktemp head tr cut find date mkdir cat id rm grep tar gzip wc cp printf dirname") {
		if err := os.Symlink(busybox, filepath.Join(tools, c)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(busybox, filepath.Join(tools, "uname")); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(onPath(tools), "system=$(uname -s)", "system="+system, 1)
	for at, content := range applianceFiles {
		p := filepath.Join(dir, at)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
		text = strings.ReplaceAll(text, " "+at, " "+p)
		text = strings.ReplaceAll(text, "'"+at, "'"+p)
	}
	return text
}

// TestAppliancesByBusybox: the script captures an appliance by the tools of a small
// router, and leaves its secrets where they are.
func TestAppliancesByBusybox(t *testing.T) {
	for system, want := range map[string]string{"FreeBSD": "OPNsense 25.1.3 net.inet.tcp.tso=0", "Linux": "OpenWrt 23.05.5 firewall/defaults/flow_offloading=1"} {
		dir := t.TempDir()
		text := onSystem(t, dir, system)
		cmd := exec.Command("busybox", "sh", "-s", "--", "-o", "-")
		cmd.Stdin = strings.NewReader(text)
		var said bytes.Buffer
		cmd.Stderr = &said
		data, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v: %s", system, err, said.String())
		}
		files := map[string][]byte{}
		for name, content := range entries(t, data) {
			if at, ok := strings.CutPrefix(name, "files"+dir); ok {
				files[at] = []byte(content)
			}
			for _, secret := range []string{"hunter2", "swordfish", "8675309"} {
				if strings.Contains(name+content, secret) {
					t.Errorf("%s: %s is in %s", system, secret, name)
				}
			}
		}
		f, err := inspect.Host(t.Context(), filehost.New(files, strings.ToLower(system)), inspect.Options{})
		if err != nil || f.Product == nil {
			t.Fatalf("%s: %v %v", system, err, files)
		}
		about := f.Product.Title + " " + f.Product.Version
		found := false
		for _, l := range f.Lines() {
			found = found || about+" "+l.Name+"="+l.Value == want
		}
		if !found {
			t.Errorf("%s: no %q in %s %v", system, want, about, f.Lines())
		}
	}
}
