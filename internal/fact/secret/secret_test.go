package secret

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Lines of configuration with what must become of them; the capture script's
// test reads the same.
var cases = []struct{ in, want string }{
	{`hostname="fw"`, `hostname="fw"`},
	{`ifconfig_wlan0="ssid foo wepmode on weptxkey 1 wepkey 1:0xdeadbeef00"`, `ifconfig_wlan0="ssid foo wepmode on weptxkey 1 wepkey <redacted>"`},
	{`ifconfig_igb0_alias0="inet vhid 1 advskew 100 pass mekmitasdigoat alias 198.18.0.3/32"`, `ifconfig_igb0_alias0="inet vhid 1 advskew 100 pass <redacted> alias 198.18.0.3/32"`},
	{`pass in on igb0 proto tcp`, `pass in on igb0 proto tcp`},
	{`geom_eli_passphrase_prompt="YES"`, `geom_eli_passphrase_prompt="YES"`},
	{`kern.geom.eli.passphrase="hunter2"`, `kern.geom.eli.passphrase="<redacted>"`},
	{`kern.geom.eli.visible_passphrase: 1`, `kern.geom.eli.visible_passphrase: 1`},
	{`bootlock_password="x y z"`, `bootlock_password="<redacted>"`},
	{`password=""`, `password=""`},
	{`snmp_community = public`, `snmp_community = <redacted>`},
	{`#psk="old one"`, `#psk="<redacted>"`},
	{`rocommunity secret 127.0.0.1`, `rocommunity <redacted> 127.0.0.1`},
	{`net.key.preferred_oldsa=0`, `net.key.preferred_oldsa=0`},
	{`net.inet.tcp.fastopen.setkey=00112233445566778899aabbccddeeff`, `net.inet.tcp.fastopen.setkey=<redacted>`},
	{`keymap="us.kbd"`, `keymap="us.kbd"`},
	{`root:$6$rounds=5000$abcdefgh$ABCDEFGHIJKLMNOP:0`, `root:<redacted>:0`},
	{`cmd="$1$2"`, `cmd="$1$2"`},
	{`PrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=`, `PrivateKey = <redacted>`},
	{`Peer xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg= up`, `Peer <redacted> up`},
	{`//nas/x /mnt cifs username=bob,password=s3cret,ro 0 0`, `//nas/x /mnt cifs username=bob,password=<redacted> 0 0`},
	{`wpa_api_token: abc; other=1`, `wpa_api_token: <redacted>; other=1`},
	{`key 0x0123456789abcdef0123456789abcdef0123`, `key <redacted>`},
	{`pf_enable="YES" # no password here`, `pf_enable="YES" # no password here`},
	{`# The password format is sha512.`, `# The password format is sha512.`},
	{`# rocommunity s3cret`, `# rocommunity <redacted>`},
	{`#rocommunity secret`, `#rocommunity <redacted>`},
	{`net.inet.tcp.fastopen.maxpsks: 2`, `net.inet.tcp.fastopen.maxpsks: 2`},
	{`net.inet.tcp.fastopen.psk_enable: 12`, `net.inet.tcp.fastopen.psk_enable: 12`},
	{`net.inet.tcp.fastopen.numpsks=7`, `net.inet.tcp.fastopen.numpsks=7`},
	{`net.key: node`, `net.key: node`},
	{`net.inet.tcp.fastopen.setkey: unsigned integer`, `net.inet.tcp.fastopen.setkey: unsigned integer`},
	{`kern.geom.eli.key: uint64_t`, `kern.geom.eli.key: uint64_t`},
	{`kpasswdd_program="/usr/libexec/kpasswdd"`, `kpasswdd_program="/usr/libexec/kpasswdd"`},
	{`kpasswdd_enable="maybe"`, `kpasswdd_enable="maybe"`},
	{`	:passwd_format=sha512:\`, `	:passwd_format=sha512:\`},
	{`	:passwd=abc:\`, `	:passwd=<redacted>`},
	{`PWD:                     40,      0,       4,     602,      40,   0,   0,   0`, `PWD:                     40,      0,       4,     602,      40,   0,   0,   0`},
	{`pwd: 40, 41`, `pwd: <redacted>`},
	{`Checksum: 0x0123456789abcdef0123456789abcdef`, `Checksum: 0x0123456789abcdef0123456789abcdef`},
	{`wep-key0=abcde`, `wep-key0=<redacted>`},
	{`mka-cak=00112233445566778899aabbccddeeff`, `mka-cak=<redacted>`},
	{`	wireless-key1 s:abcde`, `	wireless-key1 <redacted>`},
	{`	wpa-psk s3cret pass`, `	wpa-psk <redacted>`},
	{`	wpa-passphrase "s3cret" pass`, `	wpa-passphrase <redacted>`},
	{`	wpa-wep-key0 s:abcde`, `	wpa-wep-key0 <redacted>`},
	{`	post-up net passphrase s3cret on`, `	post-up net passphrase <redacted> on`},
	{`password="a\"s3cret" x`, `password="<redacted>" x`},
	{`password="a\\" x`, `password="<redacted>" x`},
	{`password='it''s3cret' x`, `password='<redacted>' x`},
	{`password='it'\''s3cret' x`, `password='<redacted>' x`},
	{`password='a\' x`, `password='<redacted>' x`},
	{`password=a\ s3cret x`, `password=<redacted> x`},
	{`password="a\`, `password="<redacted>"`},
	{`ifconfig_wlan0="WPA psk \"s3cret too\" up"`, `ifconfig_wlan0="WPA psk <redacted> up"`},
	{`ifconfig_wlan0="wpakey 's3cret'"`, `ifconfig_wlan0="wpakey '<redacted>'"`},
	{`{"password": "s3cret", "mtu": 1500}`, `{"password": "<redacted>", "mtu": 1500}`},
	{`//nas/x /mnt cifs user=bob,pass=s3cret 0 0`, `//nas/x /mnt cifs user=bob,pass=<redacted> 0 0`},
	{`PPPOE_PASS="s3cret"`, `PPPOE_PASS="<redacted>"`},
	{`net.inet.ip.fw.one_pass=2`, `net.inet.ip.fw.one_pass=2`},
	{`ETHTOOL_OPTS="wol s sopass 11:22:33:44:55:66"`, `ETHTOOL_OPTS="wol s sopass <redacted>"`},
	{`RUN+="/usr/bin/curl -H 'Authorization: Bearer s3cret' x"`, `RUN+="/usr/bin/curl -H 'Authorization: Bearer <redacted>' x"`},
	{`curl https://bob:s3cret@host/x`, `curl https://<redacted>@host/x`},
	{`curl http://host:8080/x@y ssh://bob@host`, `curl http://host:8080/x@y ssh://bob@host`},
	{`ip macsec add macsec0 tx sa 0 pn 1 on key 01 81818181818181818181818181818181`, `ip macsec add macsec0 tx sa 0 pn 1 on key 01 <redacted>`},
	{`x yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmkAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmkA== y`, `x <redacted>= y`},
	{`feature-tx-tcp-segmentation=false`, `feature-tx-tcp-segmentation=false`},
	{`hw.em.smart_pwr_down=1`, `hw.em.smart_pwr_down=1`},
	{`net.ipv4.ipfrag_secret_interval = 600`, `net.ipv4.ipfrag_secret_interval = 600`},
	{`/sys/devices/system/cpu/cpu0/cpuidle/state2/disable=1`, `/sys/devices/system/cpu/cpu0/cpuidle/state2/disable=1`},
	{`hw.usb.bypass=1`, `hw.usb.bypass=1`},
	{`snmpget -v 3 -a SHA -A s3cret -x AES -X s3cret2 h`, `snmpget -v 3 -a SHA -A <redacted> -x AES -X <redacted> h`},
	{`docker login -p s3cret -u bob h`, `docker login -p <redacted> -u bob h`},
	{`net.inet.tcp.tso=0`, `net.inet.tcp.tso=0`},
	{`machdep.hwpstate_pkg_ctrl=0`, `machdep.hwpstate_pkg_ctrl=0`},
}

func TestLine(t *testing.T) {
	for _, c := range cases {
		got, changed := Line(c.in)
		if got != c.want || changed != (c.in != c.want) {
			t.Errorf("Line(%q)\n got %q, %v\nwant %q", c.in, got, changed, c.want)
		}
		if again, _ := Line(got); again != got {
			t.Errorf("redacting twice changes %q to %q", got, again)
		}
	}
}

func TestText(t *testing.T) {
	in := "a=1\n-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc\n-----END RSA PRIVATE KEY-----\npassword=x\nb=2\n"
	got, lines := Text(in)
	if strings.Contains(got, "MII") || strings.Contains(got, "password=x") || strings.Count(got, "\n") != strings.Count(in, "\n") || len(lines) != 5 {
		t.Errorf("%q, %v", got, lines)
	}
}

func FuzzText(f *testing.F) {
	for _, c := range cases {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, _ := Text(s)
		if strings.Count(got, "\n") != strings.Count(s, "\n") {
			t.Errorf("line numbers change: %q → %q", s, got)
		}
	})
}

func TestLongLinesStayLinear(t *testing.T) {
	got, _ := Line(strings.Repeat("psk=a ", 20_000))
	if strings.Contains(got, "psk=a") {
		t.Error("a secret stays")
	}
}

func testdata(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestNoPlantedSecretSurvives: none of what files of a capture were found to
// hold stays, and what comes after a value of several lines does.
func TestNoPlantedSecretSurvives(t *testing.T) {
	in := testdata(t, "planted.txt")
	got, _ := Text(in)
	for i, line := range strings.Split(got, "\n") {
		if strings.Contains(strings.ToLower(line), "hunter2") {
			t.Errorf("line %d: %q", i+1, line)
		}
	}
	for i := 1; i <= 19; i++ {
		if !strings.Contains(got, fmt.Sprintf("ok=%d\n", i)) && !strings.Contains(got, fmt.Sprintf("ok: %d\n", i)) {
			t.Errorf("what follows secret %d is gone", i)
		}
	}
	again, _ := Text(got)
	if again != got {
		t.Error("redacting twice changes the text")
	}
}

// TestTuningStays: lines that set something lose nothing.
func TestTuningStays(t *testing.T) {
	in := testdata(t, "kept.txt")
	got, _ := Text(in)
	if d := cmp.Diff(strings.Split(in, "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("-before +after\n%s", d)
	}
}
