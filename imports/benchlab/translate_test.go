package benchlab

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"linerate/internal/study"
	"linerate/internal/testbed"
)

const lab = `DUT_ADMIN="192.0.2.9"
SENDER_ADMIN="192.0.2.1"
RECEIVER_ADMIN="192.0.2.2"
SENDER_LAB_IF=igb2
SENDER_LAB_IP="198.18.0.201"
RECEIVER_LAB_IF=igb3
RECEIVER_LAB_IP="198.19.0.203"
IS_DUT_ONLINE_TARGET="${DUT_ADMIN}"
IS_DUT_ONLINE_CMD="ping -c 2 198.19.0.203 && ping -c 2 198.18.0.201"
REBOOT_TIMEOUT=60
SENDER_START_CMD="pkt-gen -f tx -i ${SENDER_LAB_IF} -n 80000000 -l 60 -s 198.18.10.1:2000-198.18.10.20 -d 198.19.10.1:2000-198.19.10.100 -w 4"
`

func translated(t *testing.T, text string, sets []Set) Translation {
	t.Helper()
	c, err := ParseConfig("lab.config", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return Translate("forwarding", c, sets)
}

func noted(t *testing.T, tr Translation, want string) {
	t.Helper()
	if notes := strings.Join(tr.Notes, "\n"); !strings.Contains(notes, want) {
		t.Errorf("no note says %q:\n%s", want, notes)
	}
}

// TestTranslate: a whole configuration becomes a testbed and a study that linerate takes.
func TestTranslate(t *testing.T) {
	sets := []Set{{Name: "Fast fwd", Files: map[string]string{"/etc/rc.conf": "hostname=\"dut\"\nifconfig_igb0=\"inet 192.0.2.9/24\"\nifconfig_igb2=\"inet 198.18.0.207/24\"\nifconfig_igb3=\"198.19.0.207/24 up\"\n"}}, {Name: "B"}}
	tr := translated(t, lab, sets)
	doc, err := yaml.Marshal(tr.Testbed)
	if err != nil {
		t.Fatal(err)
	}
	f, err := testbed.Parse("testbed.yaml", doc)
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	if f.Hosts.DUT.SSH != "ssh://root@192.0.2.9" || f.Hosts.DUT.Management != "igb0" || f.Hosts.Receiver.SSH != "ssh://root@192.0.2.2" || time.Duration(f.Reboot.Wait) != 5*time.Minute || strings.Join(f.Reboot.Online, " ") != "ping -c 2 198.19.0.203" {
		t.Errorf("%s", doc)
	}
	if p := f.Paths(); p[0].In.From != "generator/igb2" || p[0].In.To != "dut/igb2" || p[0].Out.From != "dut/igb3" || p[0].Out.To != "receiver/igb3" || p[0].In.FromIPv4 != "198.18.0.201/16" {
		t.Errorf("%+v", p)
	}
	if doc, err = yaml.Marshal(tr.Study); err != nil {
		t.Fatal(err)
	}
	s, err := study.Parse("study.yaml", doc)
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	if s.Control != "fast-fwd" || len(s.Variants) != 2 || s.Variants[1].Name != "b" || s.Workload.Sources != 20 || s.Workload.Destinations != 100 || s.Workload.Flows != 2000 || s.Workload.Sizes[0] != 64 || s.Reset != study.ResetReboot {
		t.Errorf("%s", doc)
	}
	for _, want := range []string{"first command of IS_DUT_ONLINE_CMD only", "pkt-gen does not answer ARP", "sent 80000000 packets a series", "the control is fast-fwd"} {
		noted(t, tr, want)
	}
}

// TestTranslateLittle: what nothing tells is named, and looks like no interface's name.
func TestTranslateLittle(t *testing.T) {
	tr := translated(t, "DUT_ADMIN=a\nSENDER_ADMIN=b\nSENDER_START_CMD=\"iperf3 -c x\"\nREF_ADMIN=c\nSENDER_ADMIN_2=d\n", nil)
	for _, want := range []string{unknownManagement, unknownIn, unknownOut, "not pkt-gen's", "REF_ADMIN=c: a reference endpoint", "SENDER_ADMIN_2=d: a second generator"} {
		noted(t, tr, want)
	}
	if tr.Testbed.Hosts.Receiver != nil || tr.Testbed.Traffic.Tool != "" || tr.Study.Control != "" || time.Duration(tr.Testbed.Reboot.Wait) != 10*time.Minute {
		t.Errorf("%+v", tr.Testbed)
	}
	if w := tr.Testbed.Wires; w[0].From != "generator/SENDER" || w[1].To != "receiver/RECEIVER" || w[0].FromIPv4 != "" {
		t.Errorf("%+v", w)
	}
	if tr = translated(t, "DUT_ADMIN=a\nSENDER_ADMIN=b\nSENDER_START_CMD=\"pkt-gen -6 -l 60 -R 5000\"\n", []Set{{Name: "x"}}); tr.Study.Workload.Sizes[0] != 84 || tr.Study.Workload.Family != "ipv6" || tr.Study.Parts[0].Rate != "5000pps" {
		t.Errorf("%+v", tr.Study.Workload)
	}
}

// TestPortsOfSets: the sets tell which interface is which, by their addresses.
func TestPortsOfSets(t *testing.T) {
	for rc, want := range map[string]dutPorts{
		"ifconfig_ix0=\"inet 198.18.0.9/24\"\nifconfig_ix1=\"inet 198.19.0.9/24\"\n":                                   {unknownManagement, "ix0", "ix1"},
		"ifconfig_ix1=\"inet 198.19.0.9/24\"\nifconfig_ix0=\"inet 198.18.0.9/24\"\nifconfig_em0=\"inet 10.0.0.1/8\"\n": {"em0", "ix0", "ix1"},
		"ifconfig_em0=\"DHCP\"\n":           {unknownManagement, unknownIn, unknownOut},
		"ifconfig_em0=\"inet 300.1.1.1/8\"": {unknownManagement, unknownIn, unknownOut},
		"":                                  {unknownManagement, unknownIn, unknownOut},
	} {
		var tr Translation
		got := tr.ports(Config{Vars: map[string]string{"SENDER_LAB_IP": "198.18.0.201", "RECEIVER_LAB_IP": "198.19.0.203"}}, []Set{{Name: "none"}, {Files: map[string]string{"/etc/rc.conf": rc}}})
		if got != want {
			t.Errorf("%q: %+v, want %+v", rc, got, want)
		}
	}
}

func TestVariantNames(t *testing.T) {
	for set, want := range map[string]string{"Fast fwd": "fast-fwd", "a.b_c-1": "a.b_c-1", "__x": "x", "": "set-", "...": "set-", "é": "set-", strings.Repeat("n", 99): strings.Repeat("n", 64)} {
		if got := VariantName(set); got != want {
			t.Errorf("%q is %q, want %q", set, got, want)
		}
	}
	if got := VariantName(study.AA); got == study.AA {
		t.Errorf("a set is called as the A/A arm, %q", got)
	}
}

func TestRanges(t *testing.T) {
	for text, want := range map[string]Range{
		"198.18.0.1":                        {netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("198.18.0.1"), 0, 0},
		"198.18.0.1:7-198.18.0.4":           {netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("198.18.0.4"), 7, 7},
		"198.18.0.1:7-198.18.0.4:9":         {netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("198.18.0.4"), 7, 9},
		"198.18.0.4-198.18.0.1":             {netip.MustParseAddr("198.18.0.4"), netip.MustParseAddr("198.18.0.4"), 0, 0},
		"198.18.0.4-nowhere":                {netip.MustParseAddr("198.18.0.4"), netip.MustParseAddr("198.18.0.4"), 0, 0},
		"[2001:2::1]:2000-[2001:2::3]:2001": {netip.MustParseAddr("2001:2::1"), netip.MustParseAddr("2001:2::3"), 2000, 2001},
		"[2001:2::1]-[2001:2::3]":           {netip.MustParseAddr("2001:2::1"), netip.MustParseAddr("2001:2::3"), 0, 0},
		"nowhere":                           {},
	} {
		if got := parseRange(text); got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
	if n := (Range{First: netip.MustParseAddr("10.0.0.0"), Last: netip.MustParseAddr("10.255.255.255")}).Addresses(); n != 1<<20 {
		t.Errorf("a range without end has %d addresses", n)
	}
	if n := (Range{}).Addresses(); n != 1 {
		t.Errorf("no range has %d addresses", n)
	}
	for text, want := range map[string]time.Duration{"": 10 * time.Minute, "0": 10 * time.Minute, "1": 5 * time.Second, "1440": 2 * time.Hour, "1441": 10 * time.Minute, "x": 10 * time.Minute} {
		if got := timeout(text); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}
