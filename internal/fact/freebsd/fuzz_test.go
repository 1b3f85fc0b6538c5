package freebsd

import (
	"testing"

	"linerate/internal/fact"
	"linerate/internal/fact/release"
)

// fuzz feeds text to a parser, which must return whatever the text is, keep its bounds, and leave facts
// that can be normalised.
func fuzz(f *testing.F, seeds []string, parse func(*fact.Facts, string)) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		facts := &fact.Facts{NICs: []fact.NIC{{Name: "em0", Driver: "em", Kind: fact.KindEthernet}}}
		parse(facts, text)
		facts.Normalise()
		facts.Drops()
		for _, l := range facts.Lines() {
			if l.Number < 1 || l.Name == "" || len(l.Value) > maxValue+len(text) {
				t.Errorf("line %+v", l)
			}
		}
	})
}

func addConfig(f *fact.Facts, c Config) {
	f.AddLines(c.Lines)
	f.Problems = append(f.Problems, c.Problems...)
}

func FuzzLoader(f *testing.F) {
	fuzz(f, []string{"a=1\nb=\"${a}\" # x\npf_load=\"YES\"\nloader_conf_files=\"/boot/loader.conf /x\"\n", "a=\"\\", "exec=\"x\"\na='1'\n", "a=\"1\" \"", "a=$\n=\"\n"},
		func(facts *fact.Facts, text string) {
			for _, r := range []string{"11.4", "12.4", "14.3"} {
				c := ReadLoader(tree{"/boot/loader.conf": text, "/x": text, "/boot/nextboot.conf": text}, release.MustParse(r))
				LoadedByLoader(c.Lines)
				addConfig(facts, c)
			}
		})
}

func FuzzRC(f *testing.F) {
	fuzz(f, []string{"a=\"x $b ${c:-d}\" e='f'\nif x; then g=1; fi\n", ": ${x:=\"y\"}\n. /etc/rc.conf\n", "f() {\n}\ncase a in b) c=1;; esac", "a=`b`$(c $(d))\\\n", "cloned_interfaces=\"lo1\"\nvlans_em0=\"1 2\"\nifconfig_em0=\"inet 1 -lro mtu\"", "a=${b%c}<d>>e&f||g;;h(", "${a:=b}", "\"", "'", "\\"},
		func(facts *fact.Facts, text string) {
			c := ReadRC(tree{"/etc/rc.conf": text, "/etc/rc.conf.d/x": text, "/etc/defaults/rc.conf": text})
			c.Modules()
			AddRCInterfaces(facts, c)
			addConfig(facts, c)
		})
}

func FuzzSysctlConf(f *testing.F) {
	fuzz(f, []string{"a.b=1 # x\nc.d: \"2\"\n", "a='x # y' z", "a.b='", "=\n:\n#", "a\\#b=c"},
		func(facts *fact.Facts, text string) { addConfig(facts, ReadSysctlConf(tree{"/etc/sysctl.conf": text})) })
}

func FuzzPF(f *testing.F) {
	fuzz(f, []string{"ext=\"em0\"\nset limit { states 1, frags 2 }\nset skip on { lo0 $ext }\nscrub in max-mss 1440 no-df\nnat on $ext from any to any -> (em0)\npass in quick on $ext \\\n keep state (source-track)\nanchor \"x\" {\n block in\n}\n", "a=\"$a $a\"\npass $a\n", "{{{", "}}}\"", "include \"/etc/pf.conf\"", "table <x> { 1\n2 }\n"},
		func(facts *fact.Facts, text string) {
			pf := &fact.PF{}
			facts.Problems = ReadPF(tree{"/etc/pf.conf": text}, "/etc/pf.conf", pf)
			facts.Firewall.PF = pf
		})
}

func FuzzIPFW(f *testing.F) {
	fuzz(f, []string{"cmd=\"ipfw -q add\"\n$cmd 100 allow ip from any to any keep-state\nipfw nat 1 config if em0\nipfw pipe 1 config bw 1Mbit/s\n", "add 1 divert 8668 ip from any to any\n", "a=\"$a\"\n$a $a", "${", "\\\n"},
		func(facts *fact.Facts, text string) {
			fw := &fact.IPFW{}
			ReadIPFW(tree{"/etc/ipfw.rules": text}, "/etc/ipfw.rules", fw)
			AddIPFWList(fw, text)
		})
}

func FuzzSysctl(f *testing.F) {
	fuzz(f, []string{"kern.ostype: FreeBSD\nvm.x: \nmore\nhw.ncpu: 8\nvm.ndomains: 2\ndev.cpu.0.%domain: 1\n", "vm.phys_segs: \nSEGMENT 0:\nstart:     0x1000\nend:       0x9f000\ndomain:    0\n", "dev.em.0.fc: 3\ndev.em.0.iflib.rxq3.x: 1\ndev.em.0.mac_stats.missed_packets: 7\n", "kern.msgbuf: a.b: c\n", "a.b=1"},
		func(facts *fact.Facts, text string) {
			types := ParseTypes(text)
			for _, t := range []map[string]string{nil, types} {
				v := ParseValues(text, t)
				AddMachine(facts, v)
				AddNICValues(facts, v)
				AddNICCounters(facts, v)
				AddPCI(facts, nil, v)
			}
			AddValues(facts, ParseValues(text, nil), types, ParseNames(text), ParseNames(text))
			ParseKenv(text)
		})
}

func FuzzDmesg(f *testing.F) {
	fuzz(f, []string{"---<<BOOT>>---\nCPU: Intel(R) Xeon(R) (2597.25-MHz K8-class CPU)\n  Features=0x1<FPU,VME>\nFreeBSD/SMP: 1 package(s) x 4 core(s) x 2 hardware threads\nem0: <Intel> port 1\nem0: Using 1024 TX descriptors and 1024 RX descriptors\nem0: Using 2 RX queues 2 TX queues\nem0: Using MSI-X interrupts with 3 vectors\n", "[zone: mbuf_cluster] kern.ipc.nmbclusters limit reached\nsonewconn: pcb 0x0: Listen queue overflow: 193 already in queue\ninterrupt storm detected on \"irq10:\"; throttling\n"},
		func(facts *fact.Facts, text string) { AddDmesg(facts, text); AddComplaints(facts, text) })
}

func FuzzPciconf(f *testing.F) {
	fuzz(f, []string{"em0@pci0:0:2:0:\tclass=0x020000 vendor=0x8086 device=0x10d3\n    vendor     = 'Intel'\n                 link x1(x4) speed 2.5(8.0) ASPM\n", "em0@pci0:0:2:0:\tclass=0x020000 card=0x00008086 chip=0x10d38086 rev=0x00\n"},
		func(facts *fact.Facts, text string) { AddPCI(facts, ParsePciconf(text), Values{}) })
}

func FuzzIfconfig(f *testing.F) {
	fuzz(f, []string{"em0: flags=8843<UP,RUNNING> metric 0 mtu 1500\n\toptions=1<RXCSUM,TSO4>\n\tinet 198.18.0.1 netmask 0xff\n\tmedia: Ethernet autoselect (10Gbase-T <full-duplex,rxpause>)\n\tstatus: active\nbridge0: flags=0 metric\n\tmember: em0 flags=1<>\nvlan1: flags=0\n\tvlan: 1 parent interface: em0\n"},
		func(facts *fact.Facts, text string) { facts.NICs = ParseIfconfig(text) })
}

func FuzzNetstat(f *testing.F) {
	fuzz(f, []string{"526/494/1020 mbufs in use (current/cache/total)\n0/1/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)\n",
		"Configuration:\nThread count                         1            1\nProtocols:\nip         1    256   flow  default   ---\nWorkstreams:\n   0   0   ip         0     0        0        0        3        0        0\n",
		"Name      Mtu Network        Address                        Ipkts Ierrs Idrop    Opkts Oerrs  Coll\nem0      1500 <Link#1>       52:54:00:12:34:56                  0     0     7        3     0     0\n",
		"tcp:\n\t1 packet sent\n\t7 listen queue overflows\n\t0 syncache entries added\n\t\t3 bucket overflow\nip:\n\t5 packets forwarded (2 packets fast forwarded)\n",
		"tcp4  0/0/128                          *.22\n"},
		func(facts *fact.Facts, text string) {
			AddNetstatM(facts, text)
			AddNetstatQ(facts, text)
			AddNetstatI(facts, text)
			AddNetstatS(facts, text)
			AddListeners(facts, text)
		})
}

func FuzzVmstat(f *testing.F) {
	fuzz(f, []string{"irq24: em0:rxq0                    29071        900\ncpu0:timer   1  1\n", "pf states: 312, 100000, 3, 1, 5, 7, 0, 0\nITEM SIZE\n", "a:b: 1,2,3,4,5,6,7"},
		func(facts *fact.Facts, text string) {
			facts.Interrupts = ParseVmstatI(text)
			AddVmstatZ(facts, text)
			ParseCPUSet(text)
		})
}

func FuzzKldstat(f *testing.F) {
	fuzz(f, []string{"Id Refs Address                Size Name\n 1    1 0xffffffff80200000   dc1090 kernel (/boot/kernel/kernel)\n\tContains modules:\n\t\t Id Name\n\t\t  5 pci/em\n 2    1 0xffffffff80200000   dc1090 pf.ko\n"},
		func(facts *fact.Facts, text string) {
			AddModules(facts, ParseKldstat(text), ParseKernelModules(text))
		})
}

func FuzzPfctl(f *testing.F) {
	fuzz(f, []string{"Status: Enabled for 1 days\nState Table  Total Rate\n  current entries  7\nCounters\n  state-limit  3  0.1/s\n", "states        hard limit   100000\n", "tcp.first                   120s\n", "pass in all flags S/SA keep state\nscrub in all fragment reassemble\n"},
		func(facts *fact.Facts, text string) {
			pf := &fact.PF{}
			AddPFStatus(facts, pf, text)
			AddPFLimits(pf, text)
			AddPFTimeouts(pf, text)
			AddPFRules(pf, text)
		})
}

func FuzzFiles(f *testing.F) {
	fuzz(f, []string{"/dev/ada0p2 on / (ufs, local, soft-updates)\n", "/dev/ada0p2 / ufs rw,noatime 1 1\n", "listen 80 accept_filter=httpready backlog=1024;\n"},
		func(facts *fact.Facts, text string) {
			facts.Mounts = append(ParseMount(text), ParseFstab(text)...)
			facts.Services = []fact.Service{{Details: WordLines("/x", text, []string{"listen", "backlog"})}}
		})
}

func FuzzFilterProblems(f *testing.F) {
	fuzz(f, []string{"rdr on em0 proto tcp from any to (em0) port { 80 443 } -> 10.0.0.5 port 80\nblock all\npass in quick on em0 from { !10.0.0.0/8, !11.0.0.0/8 } flags S/SA keep state (overload <b>)\n", "add 100 skipto 300 tcp from any to me 22 in via em0 setup keep-state\nadd 300 deny ip from { 10.0.0.1 or 10.0.0.2 } to any\n"},
		func(_ *fact.Facts, text string) {
			FilterProblems(map[string]string{"/etc/pf.conf": text, "/etc/ipfw.rules": text, "/etc/rc.conf": "ifconfig_em0_ipv6=\"inet6 2001:2::1\"\n"}, nil, true, true, false)
		})
}
