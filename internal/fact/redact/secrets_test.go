package redact

import (
	"strings"
	"testing"
)

// TestSecrets: a line stays readable, except for what looks like a secret.
func TestSecrets(t *testing.T) {
	for _, line := range []string{
		"wpa-psk hunter2", `PASSWORD="hunter2 and more"`, "curl -u bob:hunter2 https://x", "snmp community=hunter2", "net.ipv6.conf.all.stable_secret = hunter2",
		"kern.geom.eli.passphrase=hunter2", "fetch https://bob:hunter2@host/x", "key: hunter2", "Authorization: Bearer hunter2", "# db pw: hunter2", "api-key hunter2",
		"root:$6$hunter2$hunter2:1", "x=00112233445566778899aabbccddeeffhunter2"[:34] + " password hunter2", "PrivateKey = aGVsbG8hunter2Gv8hunter2ABCDE=",
	} {
		if got := Secrets(line); strings.Contains(got, "hunter2") || !strings.Contains(got, Mark) {
			t.Errorf("%s: %s", line, got)
		}
	}
	for _, line := range []string{
		"set optimization " + "agres" + "sive", "exit 0", `defaultrouter = "192.0.2.1"`, "kern.coredump=0;kern.sugid_coredump=0", "pass in on em0 proto tcp to port ssh keep state", "PrintMotd no", "enable_rc6=1",
		`net.core.somaxconn={{ somaxconn }}`, "ifconfig_em0=\"inet 192.0.2.1/24 -rxcsum -lro\"", "kern.ipc.somaxconn=1024 # raised for nginx", "options nf_conntrack hashsize=65536",
		"GRUB_CMDLINE_LINUX=\"root=UUID=0f3c6a0d-2f7c-4b1e-9a55-aa0fe2c9d1b3 quiet\"", "hw.usb.no_pf=1", "device_polling_user_frac=50", "SystemCallArchitectures=native",
	} {
		if got := Secrets(line); got != line {
			t.Errorf("%s: %s", line, got)
		}
	}
	for line, want := range map[string]string{ // the closing quote is kept, or a shell would not find the end
		`ifconfig_wlan0="WPA DHCP wepkey hunter2"`:                      `ifconfig_wlan0="WPA DHCP wepkey REDACTED"`,
		`GRUB_CMDLINE_LINUX="quiet k3s.token=hunter2 password=hunter2"`: `GRUB_CMDLINE_LINUX="quiet k3s.token=REDACTED password=REDACTED"`,
		`psk=hunter"2`: `psk=REDACTED`,
		`ifconfig_em0_alias0="inet vhid 1 advskew 0 pass hunter2 198.18.0.9/32"`: `ifconfig_em0_alias0="inet vhid 1 advskew 0 pass REDACTED 198.18.0.9/32"`,
	} {
		if got := Secrets(line); got != want {
			t.Errorf("%s: %s", line, got)
		}
	}
}
