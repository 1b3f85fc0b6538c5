package inspect

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/host"
	"linerate/internal/host/filehost"
)

// files inspects files as a host of their own.
func inspected(t *testing.T, files map[string]string, os string, rel string) *fact.Facts {
	t.Helper()
	all := map[string][]byte{}
	for p, text := range files {
		all[p] = []byte(text)
	}
	opts := Options{OS: os}
	if rel != "" {
		opts.Release = release.MustParse(rel)
	}
	f, err := Host(context.Background(), filehost.New(all, os), opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const senseText = `<?xml version="1.0"?>
<opnsense>
  <system><hostname>fw1</hostname></system>
  <sysctl>
    <item>
      <tunable>net.inet.tcp.tso</tunable>
      <value>0</value>
    </item>
  </sysctl>
</opnsense>
`

// TestApplianceFiles: what an appliance writes itself is not its user's, once its
// own configuration was read.
func TestApplianceFiles(t *testing.T) {
	f := inspected(t, map[string]string{
		"/conf/config.xml":                    senseText,
		"/usr/local/opnsense/version/core":    "{\n  \"CORE_VERSION\": \"25.1.3\",\n}\n",
		"/boot/loader.conf":                   "net.inet.tcp.tso=\"0\"\nhw.x=\"1\"\n",
		"/boot/loader.conf.local":             "hw.igc.max_interrupt_rate=\"8000\"\n",
		"/usr/local/etc/rc.loader.d/20-other": "x",
	}, fact.FreeBSD, "")
	if f.Product == nil || f.Product.Version != "25.1.3" || f.Product.Config != "/conf/config.xml" || f.Release.Short() != "14.2" {
		t.Fatalf("%+v, release %s", f.Product, f.Release)
	}
	var mine []string
	for _, l := range f.Lines() {
		mine = append(mine, l.File+" "+l.Name)
	}
	if got := strings.Join(mine, ", "); got != "/boot/loader.conf.local hw.igc.max_interrupt_rate, /conf/config.xml net.inet.tcp.tso" {
		t.Errorf("the user's lines: %s", got)
	}
	if v, _ := f.Value("net.inet.ip.forwarding"); v != "1" || f.Hostname != "fw1" || !f.ForwardsIPv4() || !f.PFOn() {
		t.Errorf("forwarding %q, host %q, pf %v", v, f.Hostname, f.PFOn())
	}
}

// TestApplianceUnread: without its configuration, what its files say is all there is.
func TestApplianceUnread(t *testing.T) {
	f := inspected(t, map[string]string{"/usr/local/opnsense/version/core": "\"CORE_VERSION\": \"25.1\",\n", "/boot/loader.conf": "hw.x=\"1\"\n"}, fact.FreeBSD, "")
	if f.Product == nil || f.Product.Config != "" || len(f.Lines()) != 1 {
		t.Errorf("%+v %v", f.Product, f.Lines())
	}
}

// TestProductRelease: a product's number stands for what it is built on, a base
// system's for itself.
func TestProductRelease(t *testing.T) {
	for given, want := range map[string]string{"25.1": "14.2", "14.3": "14.3", "24.7.4": "14.1"} {
		if f := inspected(t, map[string]string{"/conf/config.xml": senseText}, fact.FreeBSD, given); f.Release.Short() != want {
			t.Errorf("--release %s: %s, want %s", given, f.Release, want)
		}
	}
	if f := inspected(t, map[string]string{"/etc/sysctl.conf": "net.inet.tcp.tso=0\n"}, fact.FreeBSD, "25.1"); f.Product != nil || f.Release.Short() != "25.1" {
		t.Errorf("a plain host: %+v %s", f.Product, f.Release)
	}
}

// database is an SQLite file that SQL made.
func database(t testing.TB, statements ...string) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.db")
	db, err := sql.Open("sqlite", name)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(s, err)
		}
	}
	db.Close()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const tunablesTable = `CREATE TABLE system_tunable (id integer PRIMARY KEY, tun_type varchar(20), tun_var varchar(128) UNIQUE, tun_value varchar(512), tun_comment varchar(100), tun_enabled bool)`

func TestTrueNASDatabase(t *testing.T) {
	b := database(t, tunablesTable, `CREATE TABLE account_bsdusers (bsdusr_unixhash varchar(128))`, `INSERT INTO account_bsdusers VALUES ('$6$hunter2')`,
		`INSERT INTO system_tunable VALUES (1, 'SYSCTL', 'net.inet.tcp.tso', '0', 'hunter2', 1), (2, 'loader', 'vfs.zfs.arc_max', '17179869184', '', 1), (3, 'sysctl', 'kern.ipc.somaxconn', '128', '', 0)`)
	text, err := tunablesIn(t.Context(), b)
	if want := "net.inet.tcp.tso\t0\tSYSCTL\t1\nvfs.zfs.arc_max\t17179869184\tloader\t1\nkern.ipc.somaxconn\t128\tsysctl\t0\n"; err != nil || text != want {
		t.Fatalf("%q %v", text, err)
	}
	f := inspected(t, map[string]string{host.TrueNASDatabase: string(b), "/etc/version": "TrueNAS-13.0-U6.1 (abc)\n"}, fact.FreeBSD, "")
	if f.Product == nil || f.Product.Name != "truenas-core" || f.Release.Short() != "13.1" || len(f.Lines()) != 2 {
		t.Fatalf("%+v %s %v", f.Product, f.Release, f.Lines())
	}
}

// TestHostileDatabases: a file that is none, or not TrueNAS', is refused with its
// reason, and nothing of its schema runs.
func TestHostileDatabases(t *testing.T) {
	whole := database(t, tunablesTable, `INSERT INTO system_tunable VALUES (1, 'SYSCTL', 'a', '0', '', 1)`)
	for what, c := range map[string]struct {
		data []byte
		want string
	}{
		"text":        {[]byte(strings.Repeat("net.inet.tcp.tso=0\n", 20)), "not an SQLite database"},
		"head only":   {append([]byte(sqliteHead), make([]byte, 200)...), "no"},
		"half":        {whole[:len(whole)/2], ""},
		"another's":   {database(t, `CREATE TABLE x (a)`), "not a TrueNAS database"},
		"a view":      {database(t, `CREATE VIEW system_tunable AS SELECT load_extension('x') AS tun_var, 1 AS tun_value, 'sysctl' AS tun_type, 1 AS tun_enabled`), "a view"},
		"a generated": {database(t, `CREATE TABLE system_tunable (tun_var, tun_value, tun_type)`), "no such column"},
	} {
		text, err := tunablesIn(t.Context(), c.data)
		if err == nil && text != "" || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %q, %v", what, text, err)
		}
	}
}

func FuzzTunablesIn(f *testing.F) {
	f.Add(database(f, tunablesTable, `INSERT INTO system_tunable VALUES (1, 'SYSCTL', 'a', '0', '', 1)`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		_, _ = tunablesIn(t.Context(), data)
	})
}

// TestShippedFilesComeFirst: what OpenWrt ships in sysctl.d stands before its user's
// sysctl.conf, which it reads last.
func TestShippedFilesComeFirst(t *testing.T) {
	f := inspected(t, map[string]string{"/etc/config/network": "config interface 'wan'\n\toption device 'eth1'\n", "/etc/sysctl.conf": "net.ipv4.tcp_fin_timeout=10\n"}, fact.Linux, "23.05")
	s, _ := f.Tunable("net.ipv4.tcp_fin_timeout")
	if l, ok := s.Stands(); !ok || l.Value != "10" || len(s.Lines) != 2 || !s.Lines[0].Default {
		t.Errorf("%+v", s.Lines)
	}
}
