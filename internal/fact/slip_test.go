package fact

import (
	"os"
	"slices"
	"strings"
	"testing"

	"linerate/internal/fact/redact"
)

// slipCases lists for each case of slips.txt texts that contain the slip, and similar ones that do not.
var slipCases = map[string]struct {
	file           string
	wrong, allowed []string
}{
	"modules-parameter":  {"/etc/modules-load.d/a.conf", []string{"# x\nnf_conntrack hashsize=262144\n", "overlay, br_netfilter\n"}, []string{"nf_conntrack\n# nf_conntrack hashsize=1\n"}},
	"modprobe-blank":     {"/etc/modprobe.d/a.conf", []string{"options nf_conntrack hashsize 262144\n", "options zfs zfs_arc_max = 1\n"}, []string{"options nf_conntrack hashsize=262144\noptions bonding debug\n"}},
	"modprobe-ko":        {"/etc/modprobe.d/a.conf", []string{"blacklist e1000.ko\n"}, []string{"blacklist e1000\n"}},
	"bonding-arp":        {"/etc/modprobe.d/a.conf", []string{"options bonding mode=802.3ad arp_interval=100\n", "options bonding arp_interval=100 mode=4\n"}, []string{"options bonding mode=1 arp_interval=100\n", "options bonding mode=4 arp_interval=0 miimon=100\n"}},
	"bond-hash":          {"/etc/network/interfaces", []string{"iface bond0 inet manual\n bond-xmit-hash-policy layer2\n bond-xmit-hash-policy layer2+4\n"}, []string{" bond-xmit-hash-policy layer3+4\n bond_xmit_hash_policy 1\n"}},
	"link-match":         {"/etc/systemd/network/1.link", []string{"[Match]\nName=eth0\n[Link]\nMTUBytes=9000\n"}, []string{"[Match]\nOriginalName=eth0\n[Link]\nName=lan0\n"}},
	"network-forwarding": {"/etc/systemd/network/1.network", []string{"[Network]\nIPForwarding=yes\n", "[Network]\nIPFoward=yes\n"}, []string{"[Network]\nIPv4Forwarding=yes\nIPForward=yes\n"}},
	"netplan-tab":        {"/etc/netplan/1.yaml", []string{"network:\n\tversion: 2\n"}, []string{"network:\n  version: 2\n"}},
	"two-gateways":       {"/etc/network/interfaces", []string{"iface a inet static\n gateway 198.18.0.1\niface b inet static\n gateway 198.18.1.1\n"}, []string{"iface a inet static\n gateway 198.18.0.1\niface b inet static\n gateway 198.18.1.1\n metric 10\n", "iface a inet static\n gateway 198.18.0.1\niface a inet6 static\n gateway 2001:2::1\n"}},
	"tc-unit":            {"/etc/rc.local", []string{"#!/bin/sh\ntc qdisc add dev eth0 root cake bandwidth 100\n"}, []string{"tc qdisc add dev eth0 root cake bandwidth 100mbit\n", "# tc qdisc add dev eth0 root cake bandwidth 100\n"}},
	"sysctl-blanks":      {"/etc/rc.local", []string{"sysctl -w net.ipv4.ip_forward = 1\n"}, []string{"sysctl -w net.ipv4.ip_forward=1\nsysctl -w net.ipv4.tcp_rmem='4096 1 2'\n"}},
	"proc-dots":          {"/etc/rc.local", []string{"echo 1 > /proc/sys/net.ipv4.ip_forward\n"}, []string{"echo 1 > /proc/sys/net/ipv4/conf/eth0.5/rp_filter\n"}},
	"grub-blanks":        {"/etc/default/grub", []string{"GRUB_CMDLINE_LINUX = \"quiet\"\n", "GRUB_CMDLINE_LINUX= \"quiet\"\n"}, []string{"GRUB_CMDLINE_LINUX=\"a b=c\" # x\nGRUB_CMDLINE_LINUX_DEFAULT=\nGRUB_TIMEOUT=5\n"}},
	"grub-quote":         {"/etc/default/grub", []string{"GRUB_CMDLINE_LINUX=\"quiet splash\nGRUB_TIMEOUT=5\n"}, []string{"GRUB_CMDLINE_LINUX=\"quiet\"\nGRUB_CMDLINE_LINUX_DEFAULT=\"a \\\n b\"\n"}},
	"udev-scheduler":     {"/etc/udev/rules.d/1.rules", []string{"KERNEL==\"sda\", ATTR{queue/scheduler}=\"noop\"\n"}, []string{"KERNEL==\"sda\", ATTR{queue/scheduler}=\"none\"\n"}},
	"udev-compares":      {"/etc/udev/rules.d/1.rules", []string{"KERNEL==\"sda\", ATTR{queue/scheduler}==\"none\"\n"}, []string{"KERNEL==\"sda\", ATTR{queue/rotational}==\"0\", ATTR{queue/scheduler}=\"none\"\n", "KERNEL==\"sda\", \\\n ATTR{queue/scheduler}=\"none\"\n", "SUBSYSTEM!=\"net\", GOTO=\"end\"\n"}},
	"nft-replies":        {"/etc/nftables.conf", []string{"table inet f {\n chain in {\n  type filter hook input priority 0; policy drop;\n  tcp dport { 22, 80 } accept\n }\n}\n"}, []string{"table inet f {\n chain in {\n  type filter hook input priority 0; policy drop;\n  ct state vmap { established : accept }\n icmpv6 type nd-neighbor-solicit accept\n }\n}\n", "table inet f {\n chain in { type filter hook input priority 0; policy accept; }\n}\n"}}, //nolint:misspell // nftables' keyword
	"nft-neighbours":     {"/etc/nftables.conf", []string{"table inet f {\n chain in {\n  type filter hook input priority 0; policy drop;\n  ct state established accept\n }\n}\n"}, []string{"table ip f {\n chain in {\n  type filter hook input priority 0; policy drop;\n  ct state established accept\n }\n}\n", "table inet f {\n chain in {\n  type filter hook input priority 0; policy drop;\n  ct state established accept\n  meta l4proto { icmp, ipv6-icmp } accept\n }\n}\n"}},
	"mtu-large":          {"/etc/netplan/a.yaml", []string{"    eth0:\n      mtu: 90000\n"}, []string{"    eth0:\n      mtu: 9000\n", "      mtu: 65536\n"}},
	"limits-item":        {"/etc/security/limits.conf", []string{"nginx - nofiles 65536\n"}, []string{"# nginx - nofiles 1\n* soft nofile 65536\n@audio - rtprio 95\n"}},
	"link-matchless":     {"/etc/systemd/network/a.link", []string{"[Link]\nMTUBytes=9000\n"}, []string{"[Match]\nOriginalName=eth0\n[Link]\nMTUBytes=9000\n", "# [Link]\n"}},
	"unit-limit":         {"/etc/systemd/system/nginx.service.d/a.conf", []string{"[Service]\nLimitNOFILES=65536\n"}, []string{"[Service]\nLimitNOFILE=65536\nLimitCORE = infinity\n"}},
	"rc-name":            {"/etc/rc.conf", []string{"ifconfig_igb0.100=\"inet 198.18.0.1/24\"\n", "ifconfig-igb0='up'\n"}, []string{"ifconfig_igb0_100=\"inet 198.18.0.1/24\" # a-b=\"c\"\nsshd_flags=\"-o a.b=\"\n"}},
	"nft-name": {"/etc/nftables.conf", []string{
		"table ip f {\n chain x {\n  ip protocol tcp flow add @ft\n }\n}\n", "table ip f {\n chain x {\n  jump y\n }\n}\n", "table ip f {\n chain x {\n  iif $wan drop\n }\n}\n",
	}, []string{
		"define wan = eth0\ntable ip f {\n flowtable ft {\n  hook ingress priority 0; devices = { a };\n }\n set s { type ipv4_addr; }\n chain y {\n iif $wan ip saddr @s drop comment \"ask @joe, jump in\"\n  @th,16,16 22 accept\n }\n chain x {\n  flow add @ft\n  tcp dport vmap { 22 : jump y }\n }\n}\n",
		"include \"/etc/nftables.d/*.nft\"\ntable ip f {\n chain x {\n  jump y\n }\n}\n", "add chain ip f y\nadd rule ip f x jump y # never jump z, @s or $v\n",
	}},
	"unit-shell":          {"/etc/systemd/system/a.service", []string{"[Service]\nExecStart=/bin/echo never > /sys/kernel/mm/transparent_hugepage/enabled\n", "ExecStartPre=/usr/bin/a && /usr/bin/b\n"}, []string{"[Service]\nExecStart=/bin/sh -c 'echo never > /sys/kernel/mm/transparent_hugepage/enabled'\nExecStart=/usr/bin/bash -c \"a | b\"\n", "ExecStart=/usr/bin/a --more=x>y\n"}},
	"unit-key":            {"/etc/systemd/system/a.service.d/b.conf", []string{"[Service]\nMemoryMaximum=4G\n", "[Service]\nCpuQuota=50%\n"}, []string{"[Service]\nMemoryMax=4G\nCPUQuota=50%\nIOWeight=10\n"}},
	"manager-key":         {"/etc/systemd/system.conf", []string{"[Manager]\nTasksMax=infinity\n", "[Manager]\nLimitNOFILE=65536\n"}, []string{"[Manager]\nDefaultLimitNOFILE=65536\n#LimitNOFILE=1\n"}},
	"manager-name":        {"/etc/systemd/system.conf", []string{"[Manager]\nDefaultLimitNOFILES=65536\n"}, []string{"[Manager]\nDefaultLimitNOFILE=65536\nDefaultTasksMax=15%\n"}},
	"logind-key":          {"/etc/systemd/logind.conf", []string{"[Login]\nUserTasksMax=33%\n"}, []string{"[Login]\n#UserTasksMax=33%\nKillUserProcesses=no\n"}},
	"tmpfiles-fields":     {"/etc/tmpfiles.d/a.conf", []string{"w /proc/sys/vm/swappiness 10\n", "w! /sys/kernel/mm/ksm/run - - - 1\n"}, []string{"w /proc/sys/vm/swappiness - - - - 10\nd /run/x\n"}},
	"tmpfiles-type":       {"/etc/tmpfiles.d/a.conf", []string{"f /sys/kernel/mm/ksm/run - - - - 1\n"}, []string{"w /sys/kernel/mm/ksm/run - - - - 1\nf /run/x - - - - 1\n"}},
	"tmpfiles-dots":       {"/etc/tmpfiles.d/a.conf", []string{"w /proc/sys/vm.swappiness - - - - 10\n"}, []string{"w /proc/sys/net/ipv4/conf/eth0.5/rp_filter - - - - 1\n"}},
	"sysfs-path":          {"/etc/sysfs.conf", []string{"/sys/kernel/mm/ksm/run = 1\n", "proc/sys/vm/swappiness = 1\n"}, []string{"kernel/mm/ksm/run = 1\nmode block/sda/queue/scheduler = 0644\n"}},
	"limits-type":         {"/etc/security/limits.conf", []string{"nginx - 65536 nofile\n", "nginx - nofile 1\nnginx nofile hard 65536\n"}, []string{"nginx - nofile 65536\n@x soft nproc 5 # more\n*  -\n"}},
	"limits-value":        {"/etc/security/limits.conf", []string{"oracle hard memlock 64G\n", "x hard nproc = 4096\n"}, []string{"oracle hard memlock unlimited\nx - nice -5\nx - nofile 65536 # 64k\n"}},
	"modprobe-options":    {"/etc/modprobe.d/a.conf", []string{"kvm_intel nested=1\n"}, []string{"options kvm_intel nested=1\ninstall a /sbin/modprobe a b=1\n"}},
	"modprobe-blacklist":  {"/etc/modprobe.d/a.conf", []string{"blacklist nouveau nvidiafb\n"}, []string{"blacklist nouveau # it hangs\nblacklist nvidiafb\n"}},
	"modprobe-comma":      {"/etc/modprobe.d/a.conf", []string{"options bonding mode=1, miimon=100\n"}, []string{"options bonding mode=1 miimon=100\noptions ixgbe RSS=8,8\n"}},
	"docker-json":         {"/etc/docker/daemon.json", []string{"{\n  \"mtu\": 1450,\n}\n", "{\"mtu\": 1450\n \"debug\": true}\n", "{'mtu': 1450}\n", "{\"debug\": True}\n", "{\"mtu\": ", "# x\n{}\n"}, []string{"{\n  \"mtu\": 1450,\n  \"dns\": [\"198.18.0.1\"],\n  \"debug\": true\n}\n"}},
	"docker-key":          {"/etc/docker/daemon.json", []string{"{\n \"mtu\": 1450,\n \"MTU\": 1450\n}\n", "{\"sysctls\": {\"net.core.somaxconn\": \"1024\"}}\n", "{\"log_driver\": \"local\"}\n"}, []string{"{\"default-ulimits\": {\"nofile\": {\"Name\": \"nofile\", \"Soft\": 1}}, \"log-opts\": {\"max-size\": \"9m\"}, \"dns\": [\"198.18.0.1\"], \"default-address-pools\": [{\"base\": \"198.18.0.0/15\", \"size\": 24}], \"proxies\": {\"http-proxy\": \"a\"}, \"builder\": {\"gc\": {\"enabled\": true}}, \"graph\": \"/a\"}\n"}},
	"docker-flag":         {"/etc/docker/daemon.json", []string{"{\"default-ulimit\": {}}\n", "{\"registry-mirror\": [\"a\"]}\n"}, []string{"{\"default-ulimits\": {}, \"registry-mirrors\": [\"a\"]}\n"}},
	"docker-type":         {"/etc/docker/daemon.json", []string{"{\"mtu\": \"1450\"}\n", "{\"log-opts\": {\"max-file\": 3}}\n", "{\"iptables\": \"false\"}\n", "{\"dns\": \"198.18.0.1\"}\n", "{\"default-ulimits\": {\"nofile\": {\"Hard\": \"9\"}}}\n"}, []string{"{\"mtu\": 1450, \"log-opts\": {\"max-file\": \"3\"}, \"dns\": [\"198.18.0.1\"], \"runtimes\": {\"a\": {\"path\": \"b\", \"options\": {\"mtu\": \"1\"}}}}\n"}},
	"docker-iptables":     {"/etc/docker/daemon.json", []string{"{\"iptables\": false}\n"}, []string{"{\"iptables\": true}\n"}},
	"bonding-mode":        {"/etc/modprobe.d/a.conf", []string{"options bonding mode=802.3ab miimon=100\n"}, []string{"options bonding miimon=100 mode=802.3ad\noptions bonding mode=4\n"}},
	"grub-name":           {"/etc/default/grub", []string{"GRUB_CMDLINE_LINUX_DEFAULTS=\"quiet\"\n", "GRUB_CMDLINE_LINX=\"quiet\"\n"}, []string{"GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\nGRUB_CMDLINE_LINUX+=\" a\"\nGRUB_CMDLINE_XEN=\"b\"\n"}},
	"grub-unquoted":       {"/etc/default/grub", []string{"GRUB_CMDLINE_LINUX=quiet transparent_hugepage=never\n"}, []string{"GRUB_CMDLINE_LINUX=\"quiet transparent_hugepage=never\"\nGRUB_CMDLINE_LINUX=quiet # x\n"}},
	"unit-word":           {"/etc/systemd/system/a.service", []string{"[Service]\nCPUSchedulingPolicy=realtime\n"}, []string{"[Service]\nCPUSchedulingPolicy=fifo\nIOSchedulingClass=idle\n"}},
	"irqbalance-name":     {"/etc/default/irqbalance", []string{"IRQBALANCE_BANNED_CPU=ff\n"}, []string{"IRQBALANCE_BANNED_CPULIST=0-1\nIRQBALANCE_ARGS=\"--policyscript=/x\"\n#IRQBALANCE_X=\n"}},
	"irqbalance-list":     {"/etc/default/irqbalance", []string{"IRQBALANCE_BANNED_CPUS=0-3\n"}, []string{"IRQBALANCE_BANNED_CPUS=0000000f\nIRQBALANCE_BANNED_CPULIST=0-3\n"}},
	"governor":            {"/etc/default/cpupower", []string{"governor='perfomance'\n"}, []string{"governor='performance'\n#governor='x'\n"}},
	"link-place":          {"/etc/systemd/network/1.link", []string{"[Match]\nOriginalName=eth*\nMTUBytes=9000\n"}, []string{"[Match]\nOriginalName=eth*\n[Link]\nMTUBytes=9000\n"}},
	"tuned-variable":      {"/etc/tuned/cpu-partitioning-variables.conf", []string{"isolated_core=2-7\n"}, []string{"isolated_cores=2-7\nisolate_managed_irq=Y\n"}},
	"tuned-section":       {"/etc/tuned/a/tuned.conf", []string{"[main]\nsummary=a\n[sysctls]\nvm.swappiness=10\n"}, []string{"[main]\n[sysctl]\nvm.swappiness=10\n[net]\n", "[main]\n[network]\ntype=net\n"}},
	"udev-attrs":          {"/etc/udev/rules.d/1.rules", []string{"SUBSYSTEM==\"net\", ATTRS{tx_queue_len}=\"10000\"\n"}, []string{"SUBSYSTEM==\"net\", ATTRS{idVendor}==\"8086\", ATTR{tx_queue_len}=\"10000\"\n"}},
	"modules-ko":          {"/etc/modules-load.d/a.conf", []string{"br_netfilter\ntcp_bbr.ko\n", "tcp_bbr.ko.xz\n"}, []string{"tcp_bbr\n# tcp_bbr.ko\n"}},
	"conntrack-parameter": {"/etc/modprobe.d/a.conf", []string{"options nf_conntrack hashsize=65536 nf_conntrack_max=262144\n"}, []string{"options nf_conntrack hashsize=65536 acct=1 # max=1\noptions nf_conntrack_ftp ports=21\n"}},
	"network-mtu":         {"/etc/systemd/network/1.network", []string{"[Match]\nName=a\n[Link]\nMTU=9000\n", "[Link]\nMtuBytes=9000\n"}, []string{"[Link]\nMTUBytes=9000\n[DHCPv4]\nUseMTU=yes\n"}},
	"mask-list":           {"/etc/udev/rules.d/1.rules", []string{"SUBSYSTEM==\"net\", ATTR{queues/rx-0/rps_cpus}=\"0-3\"\n", "RUN+=\"/bin/sh -c 'echo 0-3 > /proc/irq/24/smp_affinity'\"\n"}, []string{"ATTR{queues/rx-0/rps_cpus}=\"f\"\nRUN+=\"/bin/sh -c 'echo 0-3 > /proc/irq/24/smp_affinity_list'\"\n"}},
	"nft-notrack-late":    {"/etc/nftables.conf", []string{"table inet r {\n chain p {\n  type filter hook prerouting priority filter; policy accept;\n  udp dport 53 notrack\n }\n}\n", "chain p {\n type filter hook output priority 0;\n udp sport { 53 } notrack\n}\n"}, []string{"chain p {\n type filter hook prerouting priority raw;\n udp dport 53 notrack\n}\n", "chain p {\n type filter hook prerouting priority -300;\n udp dport 53 notrack\n}\nchain q {\n type filter hook output priority 0;\n}\n"}},
	"nft-flow-behind":     {"/etc/nftables.conf", []string{"chain f {\n ct state established,related accept\n\n meta l4proto { tcp, udp } flow add @f\n}\n", "chain f {\n ct state vmap { invalid : drop, established : accept }\n ip protocol tcp flow offload @f\n}\n"}, []string{"chain f {\n meta l4proto { tcp, udp } flow add @f\n ct state established,related accept\n}\n", "chain i {\n ct state established accept\n}\nchain f {\n ip protocol tcp flow add @f\n}\n", "chain f {\n ct state established ip protocol tcp flow add @f\n}\n"}},
	"mss-syn":             {"/etc/iptables/rules.v4", []string{"-A FORWARD -o ppp0 -p tcp -j TCPMSS --clamp-mss-to-pmtu\n"}, []string{"-A FORWARD -o ppp0 -p tcp -m tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu\n-A FORWARD -p tcp --syn -j TCPMSS --set-mss 1400\n"}},
	"pppoe-mss":           {"/etc/nftables.conf", []string{"table ip nat {\n chain p {\n  oifname \"ppp0\" masquerade\n }\n}\n"}, []string{"oifname \"ppp0\" masquerade\noifname \"ppp0\" tcp flags syn tcp option maxseg size set rt mtu\n", "oifname \"eth0\" masquerade\n"}},
	"pmtud-blocked":       {"/etc/iptables/rules.v4", []string{"-A FORWARD -p icmp -m icmp --icmp-type fragmentation-needed -j DROP\n", "-A INPUT -p icmp -m icmp --icmp-type 3 -j REJECT --reject-with x\n"}, []string{"-A INPUT -m state --state RELATED,ESTABLISHED -j ACCEPT\n-A INPUT -p icmp --icmp-type 3 -j DROP\n", "-A INPUT -p icmp --icmp-type fragmentation-needed -j ACCEPT\n-A INPUT -p icmp --icmp-type 3 -j DROP\n", "-A INPUT -p icmp --icmp-type 30 -j DROP\n"}},
	"neighbours-blocked": {"/etc/pf.conf", []string{"block in quick inet6 proto icmp6 all\n"}, []string{
		"block in inet6 proto icmp6 all\npass in inet6 proto icmp6 icmp6-type { neighbrsol neighbradv }\n", "block in inet6 proto icmp6 all icmp6-type echoreq\n"}},
	"rc-enabled":               {"/etc/rc.conf", []string{"pf_enabled=\"YES\"\n"}, []string{"pf_enable=\"YES\" # pf_enabled=\"YES\"\n"}},
	"rc-route":                 {"/etc/rc.conf", []string{"static_routes=\"lan vpn\"\nroute_lan=\"-net 198.18.0.0/16 198.19.0.1\"\n"}, []string{"static_routes=\"lan vpn:em0\"\nroute_lan=\"-net 198.18.0.0/16 198.19.0.1\"\nroute_vpn=\"x\"\n", "static_routes=\"\"\n"}},
	"vlan-parent":              {"/etc/rc.conf", []string{"vlans_ix0=\"10\"\nifconfig_ix0_10=\"inet 198.18.0.1/24\"\n"}, []string{"vlans_ix0=\"10\"\nifconfig_ix0=\"up\"\nifconfig_ix0_10=\"inet 198.18.0.1/24\"\n", "ifconfig_ix0_10=\"up\"\nifconfig_ix0_ipv6=\"inet6 -ifdisabled\"\n", "ifconfig_lan0_10=\"up\"\nifconfig_ix0_name=\"lan0\"\n"}},
	"tunnel-mtu":               {"/etc/rc.conf", []string{"ifconfig_wg0=\"inet 198.18.0.1/24 mtu 1500\"\n"}, []string{"ifconfig_wg0=\"inet 198.18.0.1/24 mtu 1420\"\nifconfig_em0=\"up mtu 1500\"\n", "ifconfig_gre0=\"inet 198.18.0.1 198.18.0.2 mtu 1500\"\nifconfig_ix0=\"up mtu 9000\"\n"}},
	"iptables-table":           {"/etc/iptables/rules.v4", []string{"*filter\n:INPUT ACCEPT [0:0]\n-A POSTROUTING -o eth0 -j MASQUERADE\nCOMMIT\n"}, []string{"*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n*nat\n-A POSTROUTING -o eth0 -j MASQUERADE\nCOMMIT\n"}},
	"limit-under":              {"/etc/nftables.conf", []string{"tcp flags syn limit rate 25/second drop\n", "limit rate 10/minute burst 5 packets counter drop\n"}, []string{"pkttype host limit rate 5/second counter reject\n", "limit rate over 25/second drop\nlimit rate 5/second accept\nlimit rate 3/minute log prefix \"x\"\ndrop\n"}},
	"carp-number":              {"/etc/rc.conf", []string{"ifconfig_em0_alias0=\"inet vhid 300 pass x alias 198.18.0.1/32\"\n", "ifconfig_em0_alias0=\"inet vhid 1 advskew 255 alias 198.18.0.1/32\"\n"}, []string{"ifconfig_em0_alias0=\"inet vhid 255 advskew 254 pass x alias 198.18.0.1/32\"\n"}},
	"vlan-device":              {"/etc/rc.conf", []string{"ifconfig_vlan10=\"inet 198.18.0.1/24 vlan 10\"\n"}, []string{"ifconfig_vlan10=\"inet 198.18.0.1/24 vlan 10 vlandev em0\"\n", "vlans_em0=\"vlan10\"\ncreate_args_vlan10=\"vlan 10\"\nifconfig_vlan10=\"inet 198.18.0.1/24\"\n"}},
	"ipfw-number":              {"/etc/ipfw.rules", []string{"ipfw -q add 70000 allow ip from any to any\n", "add 65535 deny ip from any to any\n"}, []string{"ipfw -q add 65534 deny ip from any to any\nadd allow tcp from any to any 70000\n"}},
	"pf-pass-first":            {"/etc/pf.conf", []string{"pass quick all\nblock in proto tcp to port 23\n"}, []string{"block all\npass quick all\n", "pass quick on lo0 all\nblock all\n"}},
	"bond-rate":                {"/etc/netplan/1.yaml", []string{"        lacp-rate: quick\n"}, []string{"        lacp-rate: fast\n", "lacp-rate: \"slow\"\n"}},
	"nft-dead":                 {"/etc/nftables.conf", []string{"table ip f {\n chain x {\n  counter drop\n  tcp dport { 22, 80 } counter accept\n }\n}\n"}, []string{"table ip f {\n chain x {\n  drop\n  counter # not accept\n }\n}\n", "table ip f {\n chain x {\n  tcp dport 22 accept\n  drop\n }\n\n chain y {\n  accept\n }\n}\n"}},
	"unit-section":             {"/etc/systemd/system/nginx.service.d/a.conf", []string{"# files\nLimitNOFILE=65536\n"}, []string{"# files\n\n[Service]\nLimitNOFILE=65536\n"}},
	"rc-blank":                 {"/etc/rc.conf", []string{"ifconfig_em0=\"inet 198.18.0.1/24 mtu9000\"\n"}, []string{"ifconfig_em0=\"inet 198.18.0.1/24 mtu 9000\" # mtu1500\n"}},
	"lagg-proto":               {"/etc/rc.conf", []string{"ifconfig_lagg0=\"up laggproto loadblance laggport em0\"\n"}, []string{"ifconfig_lagg0=\"up laggproto lacp laggport em0\"\nifconfig_lagg1=\"laggproto $p\"\n"}},
	"powerd-mode":              {"/etc/rc.conf", []string{"powerd_flags=\"-a maximun\"\n"}, []string{"powerd_flags=\"-a hiadaptive -n hadp -i 85 -r 60 -v\" # -a x\n", "powerd_flags=\"-amax $more\"\npowerd_flags=\"\"\n"}},
	"iptables-commit":          {"/etc/iptables/rules.v4", []string{"*filter\n:INPUT ACCEPT [0:0]\n"}, []string{"*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n"}},
	"iptables-dead":            {"/etc/sysconfig/iptables", []string{"-A INPUT -j DROP\n-A INPUT -p tcp --dport 22 -j ACCEPT\n", "-A FORWARD -j REJECT --reject-with x\n-A INPUT -j DROP\n-A FORWARD -i a -j ACCEPT\n"}, []string{"-A INPUT -p tcp --dport 22 -j ACCEPT\n-A INPUT -j DROP\n-A FORWARD -i a -j ACCEPT\n-A FORWARD -j DROP\n"}},
	"iptables-replies":         {"/etc/iptables/rules.v4", []string{"*filter\n:INPUT DROP [0:0]\n-A INPUT -p tcp --dport 22 -j ACCEPT\nCOMMIT\n"}, []string{"*filter\n:INPUT DROP [0:0]\n-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\nCOMMIT\n", "*filter\n:INPUT DROP [0:0]\n-A INPUT -j ufw-before-input\nCOMMIT\n"}},
	"iptables-neighbours":      {"/etc/iptables/rules.v6", []string{"*filter\n:INPUT DROP [0:0]\n-A INPUT -p tcp --dport 22 -j ACCEPT\nCOMMIT\n"}, []string{"*filter\n:INPUT DROP [0:0]\n-A INPUT -p ipv6-icmp -j ACCEPT\nCOMMIT\n"}},
	"pf-last-block":            {"/etc/pf.conf", []string{"pass out all\npass in proto tcp to port 22\nblock all\n"}, []string{"block all\npass out all\n", "pass in quick proto tcp to port 22\nblock all\n", "pass out all\nblock in on em0 all\n"}},
	"pf-word":                  {"/etc/pf.conf", []string{"set state-policy ifbound\n"}, []string{"set state-policy if-bound\nset block-policy return\nset block-policy $p\n"}},
	"rclocal-exit":             {"/etc/rc.local", []string{"#!/bin/sh\nexit 0\nsysctl -w a=1\n"}, []string{"#!/bin/sh\nif x; then\n exit 0\nfi\nsysctl -w a.b=1\nexit 0\n# old\n"}},
	"udev-path":                {"/etc/udev/rules.d/1.rules", []string{"KERNEL==\"eth0\", RUN+=\"ethtool -G eth0 rx 4096\"\n"}, []string{"KERNEL==\"eth0\", RUN+=\"/usr/sbin/ethtool -G eth0 rx 4096\"\nACTION==\"add\", RUN{builtin}+=\"kmod load x\"\n"}},
	"pf-nat-address":           {"/etc/pf.conf", []string{"nat on em0 from em1:network to any -> em0\n"}, []string{"nat on em0 from em1:network to any -> (em0)\nnat on em0 from a to any -> 198.18.0.1\n"}},
	"address":                  {"/etc/network/interfaces", []string{" address 198.18.0.256/24\n", " netmask 255.255.255.256\n", " address 198.18.0.1/33\n", " address 198.300.0.1/24\n"}, []string{" address 198.18.0.255/32\n netmask 255.255.255.0\n gateway 198.18.0.1\n address 2001:2::1/64\n"}},
	"vlan-number":              {"/etc/network/interfaces", []string{"iface eth0.4095 inet manual\n"}, []string{"iface eth0.4094 inet manual\n"}},
	"pf-port":                  {"/etc/pf.conf", []string{"pass in on em0 proto tcp port 22\n", "pass in proto { tcp, udp } port 53\n"}, []string{"pass in on em0 proto tcp to port 22\npass proto tcp from any port 20 to any\n"}},
	"ipfw-allow-first":         {"/etc/ipfw.rules", []string{"ipfw add 100 allow ip from any to any\nipfw add 200 deny tcp from any to me\n"}, []string{"ipfw add 100 allow ip from any to any via lo0\nipfw add 200 deny tcp from any to me\nipfw add 65000 allow ip from any to any\n"}},
	"nft-state-raw":            {"/etc/nftables.conf", []string{"chain p {\n type filter hook prerouting priority raw; policy accept;\n ip saddr 198.18.0.1 drop\n ct state invalid drop\n}\n", "chain p {\n type filter hook prerouting priority -300;\n ct state established accept\n}\n"}, []string{"chain p {\n type filter hook prerouting priority raw;\n udp dport 53 notrack\n}\nchain q {\n type filter hook input priority 0;\n ct state invalid drop\n}\n", "chain p {\n type filter hook prerouting priority mangle;\n ct state invalid drop\n}\n"}},
	"nft-loopback":             {"/etc/nftables.conf", []string{"chain i {\n type filter hook input priority 0; policy drop;\n ct state established accept\n tcp dport 22 accept\n}\n"}, []string{"chain i {\n type filter hook input priority 0; policy drop;\n iif lo accept\n}\n", "chain i {\n type filter hook input priority 0; policy drop;\n iifname vmap { \"lo\" : accept }\n}\n", "chain i {\n type filter hook input priority 0; policy accept;\n}\n"}},
	"nft-flush":                {"/etc/nftables.conf", []string{"table inet f {\n chain i {\n  type filter hook input priority 0;\n  tcp dport 23 drop\n }\n}\n"}, []string{"flush ruleset\ntable inet f {\n chain i {\n }\n}\n", "destroy table inet f\ntable inet f {\n}\n", "table inet f\ndelete table inet f\ntable inet f {\n}\n"}},
	"nft-flowtable-idle":       {"/etc/nftables.conf", []string{"table inet f {\n flowtable ft {\n  hook ingress priority 0; devices = { a, b };\n }\n chain x {\n  accept\n }\n}\n"}, []string{"table inet f {\n flowtable ft {\n  hook ingress priority 0; devices = { a, b };\n }\n chain x {\n  ip protocol tcp flow add @ft\n }\n}\n"}},
	"nft-set-fills":            {"/etc/nftables.conf", []string{"set s {\n type ipv4_addr\n flags dynamic\n}\n", "set s { type ipv4_addr; size 4096; flags dynamic; }\n"}, []string{"set s {\n type ipv4_addr\n flags dynamic,timeout\n timeout 1m\n}\n", "set s { type ipv4_addr; flags dynamic; }\nadd @s { ip saddr timeout 5m }\n"}},
	"nft-nat-hook":             {"/etc/nftables.conf", []string{"chain c {\n type nat hook prerouting priority dstnat;\n oifname a masquerade\n}\n", "chain c {\n type nat hook postrouting priority 100;\n tcp dport 80 dnat to 198.18.0.1\n}\n", "chain c {\n type filter hook forward priority 0;\n snat to 198.18.0.1\n}\n"}, []string{"chain c {\n type nat hook postrouting priority srcnat;\n oifname a masquerade\n}\nchain d {\n type nat hook prerouting priority dstnat;\n tcp dport 80 dnat to 198.18.0.1\n}\n", "chain c {\n type filter hook forward priority 0;\n ct status dnat accept\n}\nchain d {\n type nat hook postrouting priority 100;\n masquerade\n}\n"}},
	"nft-nat-chain":            {"/etc/nftables.conf", []string{"chain c {\n type nat hook forward priority 0;\n}\n"}, []string{"chain c {\n type nat hook postrouting priority 100;\n}\nchain d {\n type route hook output priority mangle;\n}\n"}},
	"nft-mss-hook":             {"/etc/nftables.conf", []string{"chain c {\n type filter hook input priority mangle;\n tcp flags syn tcp option maxseg size set rt mtu\n}\n"}, []string{"chain c {\n type filter hook forward priority mangle;\n tcp flags syn tcp option maxseg size set rt mtu\n}\n", "chain i {\n type filter hook input priority 0;\n}\nchain c {\n type filter hook postrouting priority mangle;\n tcp flags syn tcp option maxseg size set 1400\n}\n"}},
	"nft-interval":             {"/etc/nftables.conf", []string{"set s {\n type ipv4_addr\n elements = { 10.0.0.0/8 }\n}\n"}, []string{"set s {\n type ipv4_addr\n flags interval\n elements = { 10.0.0.0/8 }\n}\n", "set s { type ipv4_addr; elements = { 10.0.0.1 }; }\n", "set s {\n type ipv4_addr; elements = { 10.0.0.0/8 };\n flags interval;\n}\n"}},
	"nft-no-hook":              {"/etc/nftables.conf", []string{"table inet f {\n chain input {\n  iif lo accept\n  tcp dport 22 accept\n }\n}\n"}, []string{"table inet f {\n chain input {\n  type filter hook input priority 0; policy drop;\n  iif lo accept\n }\n}\n", "table inet f {\n chain i {\n  type filter hook input priority 0; policy drop;\n  jump input\n }\n chain input {\n  iif lo accept\n }\n}\n"}},
	"nft-forward-replies":      {"/etc/nftables.conf", []string{"chain f {\n type filter hook forward priority 0; policy drop;\n iifname a oifname b accept\n}\nchain i {\n ct state established accept\n}\n"}, []string{"chain f {\n type filter hook forward priority 0; policy drop;\n ct state established,related accept\n iifname a oifname b accept\n}\n", "chain f {\n type filter hook forward priority 0; policy drop;\n}\n", "chain f {\n type filter hook forward priority 0; policy drop;\n iifname a oifname b accept\n iifname b oifname a accept\n}\n"}},
	"iptables-open":            {"/etc/iptables/rules.v4", []string{"*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -i lo -j ACCEPT\n-A INPUT -p tcp --dport 22 -j ACCEPT\nCOMMIT\n"}, []string{"*filter\n:INPUT DROP [0:0]\n-A INPUT -i lo -j ACCEPT\nCOMMIT\n", "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -i lo -j ACCEPT\n-A INPUT -j REJECT\nCOMMIT\n", "*filter\n:INPUT ACCEPT [0:0]\n:in - [0:0]\n-A INPUT -i lo -j ACCEPT\n-A INPUT -j in\nCOMMIT\n"}},
	"iptables-target-table":    {"/etc/iptables/rules.v4", []string{"*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p udp --dport 53 -j NOTRACK\nCOMMIT\n", "*filter\n-A FORWARD -j DNAT --to 198.18.0.1\nCOMMIT\n"}, []string{"*raw\n-A PREROUTING -p udp --dport 53 -j CT --notrack\nCOMMIT\n*nat\n-A POSTROUTING -o a -j MASQUERADE\nCOMMIT\n*mangle\n-A PREROUTING -j TTL --ttl-set 64\nCOMMIT\n"}},
	"iptables-nat-chain":       {"/etc/iptables/rules.v4", []string{"*nat\n-A PREROUTING -o a -j MASQUERADE\nCOMMIT\n", "-A POSTROUTING -p tcp --dport 80 -j DNAT --to 198.18.0.1\n"}, []string{"*nat\n-A POSTROUTING -o a -j MASQUERADE\n-A PREROUTING -p tcp -j DNAT --to 198.18.0.1\nCOMMIT\n"}},
	"iptables-clamp":           {"/etc/iptables/rules.v4", []string{"*mangle\n-A INPUT -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu\nCOMMIT\n"}, []string{"*mangle\n-A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu\nCOMMIT\n"}},
	"iptables-icmp":            {"/etc/iptables/rules.v4", []string{"*filter\n:INPUT DROP [0:0]\n-A INPUT -p icmp -j DROP\n-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n"}, []string{"*filter\n-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n-A INPUT -p icmp -j DROP\n", "*filter\n-A INPUT -p icmp -m icmp --icmp-type 3 -j ACCEPT\n-A INPUT -p icmp -j DROP\n"}},
	"iptables-masquerade":      {"/etc/iptables/rules.v4", []string{"*nat\n-A POSTROUTING -j MASQUERADE\nCOMMIT\n"}, []string{"*nat\n-A POSTROUTING -o eth0 -j MASQUERADE\n-A POSTROUTING -s 198.18.0.0/24 -j MASQUERADE\nCOMMIT\n"}},
	"iptables-chain":           {"/etc/iptables/rules.v4", []string{"*filter\n:INPUT DROP [0:0]\n-A INPUT -j services\nCOMMIT\n", "*filter\n:INPUT DROP [0:0]\n-A services -p tcp -j ACCEPT\nCOMMIT\n"}, []string{"*filter\n:INPUT DROP [0:0]\n:services - [0:0]\n-A INPUT -j services\n-A services -p tcp --dport 22 -j ACCEPT\nCOMMIT\n", "*filter\n:INPUT DROP [0:0]\n-N services\n-A INPUT -j services\nCOMMIT\n", "*nat\n-A POSTROUTING -j MASQUERADE\nCOMMIT\n"}},
	"iptables-forward-replies": {"/etc/iptables/rules.v4", []string{"*filter\n:FORWARD DROP [0:0]\n-A FORWARD -i a -o b -j ACCEPT\nCOMMIT\n"}, []string{"*filter\n:FORWARD DROP [0:0]\n-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n-A FORWARD -i a -o b -j ACCEPT\nCOMMIT\n", "*filter\n:FORWARD ACCEPT [0:0]\n-A FORWARD -i a -o b -j ACCEPT\nCOMMIT\n", "*filter\n:FORWARD DROP [0:0]\n-A FORWARD -i a -o b -j ACCEPT\n-A FORWARD -i b -o a -j ACCEPT\nCOMMIT\n"}},
	"ipset-timeout":            {"/etc/ipset.conf", []string{"create a hash:ip timeout 31536000\n"}, []string{"create a hash:ip timeout 86400\n", "create a hash:ip timeout 2147483\n"}},
	"ufw-input":                {"/etc/default/ufw", []string{"DEFAULT_INPUT_POLICY=\"ACCEPT\"\n"}, []string{"DEFAULT_INPUT_POLICY=\"DROP\"\nDEFAULT_OUTPUT_POLICY=\"ACCEPT\"\n"}},
	"ufw-policy":               {"/etc/default/ufw", []string{"DEFAULT_INPUT_POLICY=\"DENY\"\n", "DEFAULT_INPUT_POLICY=\"drop\"\n"}, []string{"DEFAULT_INPUT_POLICY=\"DROP\"\nDEFAULT_APPLICATION_POLICY=\"SKIP\"\nDEFAULT_OUTPUT_POLICY=ACCEPT\n"}},
	"ufw-log":                  {"/etc/ufw/ufw.conf", []string{"LOGLEVEL=full\n"}, []string{"LOGLEVEL=low\n"}},
	"firewalld-trusted":        {"/etc/firewalld/firewalld.conf", []string{"DefaultZone=trusted\n"}, []string{"DefaultZone=public\n"}},
	"firewalld-log":            {"/etc/firewalld/firewalld.conf", []string{"LogDenied=all\n"}, []string{"LogDenied=off\n"}},
	"firewalld-word":           {"/etc/firewalld/firewalld.conf", []string{"FirewallBackend=nft\n", "LogDenied=yes\n"}, []string{"FirewallBackend=Nftables\n", "FirewallBackend=nftables\nLogDenied=off\nCleanupOnExit=yes\nIPv6_rpfilter=strict-forward\nFlushAllOnReload=no\n"}},
	"firewalld-accept":         {"/etc/firewalld/zones/a.xml", []string{"<zone target=\"ACCEPT\">\n <service name=\"ssh\"/>\n</zone>\n"}, []string{"<zone>\n <service name=\"ssh\"/>\n</zone>\n", "<zone target=\"ACCEPT\">\n <short>Trusted</short>\n</zone>\n", "<zone target=\"DROP\">\n</zone>\n"}},
	"vrrp-id":                  {"/etc/keepalived/keepalived.conf", []string{"vrrp_instance a {\n virtual_router_id 300\n}\n"}, []string{"vrrp_instance a {\n virtual_router_id 255\n}\n"}},
	"vrrp-priority":            {"/etc/keepalived/keepalived.conf", []string{"vrrp_instance a {\n priority 1000\n}\n"}, []string{"vrrp_instance a {\n priority 254\n}\n"}},
	"vrrp-weight":              {"/etc/keepalived/keepalived.conf", []string{"vrrp_script a {\n weight 300\n}\n"}, []string{"vrrp_script a {\n weight -20\n}\n", "vrrp_track_process a {\n weight 254\n}\n"}},
	"vrrp-nopreempt":           {"/etc/keepalived/keepalived.conf", []string{"vrrp_instance a {\n state MASTER\n nopreempt\n}\n", "vrrp_instance a {\n nopreempt\n authentication {\n  auth_type PASS\n }\n state MASTER\n}\n"}, []string{"vrrp_instance a {\n state BACKUP\n nopreempt\n}\nvrrp_instance b {\n state MASTER\n}\n"}},
	"vrrp-password":            {"/etc/keepalived/keepalived.conf", []string{"authentication {\n auth_type PASS\n auth_pass correcthorse\n}\n"}, []string{"authentication {\n auth_type PASS\n auth_pass corrhors\n}\n"}},
	"vrrp-word":                {"/etc/keepalived/keepalived.conf", []string{"vrrp_instance a {\n state SLAVE\n}\n", "virtual_server a 80 {\n lb_algo roundrobin\n}\n"}, []string{"vrrp_instance a {\n state BACKUP\n authentication {\n  auth_type PASS\n }\n}\nvirtual_server a 80 {\n lb_algo wlc\n lb_kind DR\n}\n"}},
	"network-seconds":          {"/etc/systemd/network/a.netdev", []string{"[Bond]\nMIIMonitorSec=100\n"}, []string{"[Bond]\nMIIMonitorSec=100ms\nUpDelaySec=0.2\nDownDelaySec=2\n"}},
	"link-late":                {"/etc/systemd/network/99-eth.link", []string{"[Match]\nMACAddress=02:00:00:00:00:01\n[Link]\nMTUBytes=9000\n"}, []string{"[Match]\n"}},
	"network-section":          {"/etc/systemd/network/a.network", []string{"[Match]\nName=a\n[Network]\nMTUBytes=9000\n", "[Match]\nName=a\n[Link]\nMTUBytes=9000\nAddress=198.18.0.1/24\n"}, []string{"[Match]\nName=a\n[Link]\nMTUBytes=9000\n[Network]\nAddress=198.18.0.1/24\nVLAN=b\n"}},
	"network-rate":             {"/etc/systemd/network/a.network", []string{"[CAKE]\nBandwidth=100\n"}, []string{"[TokenBucketFilter]\nRate=512000\n", "[CAKE]\nBandwidth=100M\n[HierarchyTokenBucketClass]\nRate=50M\n"}},
	"ethtool-virtual":          {"/etc/rc.local", []string{"ethtool -G bond0 rx 4096\n"}, []string{"ethtool -G eno1 rx 4096\nethtool -K bond0 gro on\n"}},
	"bridge-delay":             {"/etc/network/interfaces", []string{"iface br0 inet dhcp\n bridge_ports a\n bridge_stp on\n bridge_fd 0\n"}, []string{"iface br0 inet dhcp\n bridge_stp off\n bridge_fd 0\n", "iface br0 inet dhcp\n bridge_stp on\n bridge_fd 4\n"}},
	"queue-length":             {"/etc/rc.local", []string{"ip link set dev eth0 txqueuelen 1000000\n"}, []string{"ip link set dev eth0 txqueuelen 10000\n"}},
	"tc-bytes":                 {"/etc/rc.local", []string{"tc qdisc add dev eth0 root cake bandwidth 100mbps\n", "tc class add dev eth0 parent 1: classid 1:1 htb rate 512kbps\n"}, []string{"tc qdisc add dev eth0 root cake bandwidth 100mbit\n"}},
	"tc-ifb":                   {"/etc/rc.local", []string{"tc filter add dev eth0 parent ffff: matchall action mirred egress redirect dev ifb0\n"}, []string{"ip link set dev ifb0 up\ntc filter add dev eth0 parent ffff: matchall action mirred egress redirect dev ifb0\n"}},
	"wg-mtu":                   {"/etc/wireguard/a.conf", []string{"[Interface]\nMTU = 1500\n"}, []string{"[Interface]\nMTU = 1420\n", "[Interface]\nMTU = 8920\n"}},
	"wg-mtu-small":             {"/etc/wireguard/a.conf", []string{"[Interface]\nMTU = 1200\n"}, []string{"[Interface]\nMTU = 1280\n"}},
	"wg-key":                   {"/etc/wireguard/a.conf", []string{"[Peer]\nAllowedIP = 198.18.0.0/24\n"}, []string{"[Interface]\nAddress = 198.18.0.1/24\nMTU=1420\n[Peer]\nallowedips = 198.18.0.0/24\nPersistentKeepalive = 25\n"}},
	"wg-section":               {"/etc/wireguard/a.conf", []string{"[Interface]\nPrivateKey = x\nPersistentKeepalive = 25\n[Peer]\n"}, []string{"[Interface]\nMTU = 1420\n[Peer]\nPersistentKeepalive = 25\n"}},
	"wg-keepalive":             {"/etc/wireguard/a.conf", []string{"[Peer]\nPersistentKeepalive = 100000\n"}, []string{"[Peer]\nPersistentKeepalive = 25\n"}},
	"wg-keepalive-rare":        {"/etc/wireguard/a.conf", []string{"[Peer]\nPersistentKeepalive = 3600\n"}, []string{"[Peer]\nPersistentKeepalive = 25\n"}},
	"openvpn-udp-only":         {"/etc/openvpn/a.conf", []string{"proto tcp-server\ndev tun\nfragment 1300\nkeepalive 10 60\n", "fragment 1300\nproto tcp\n"}, []string{"proto udp\nfragment 1300\n", "proto tcp\ndev tun\n"}},
	"openvpn-compress":         {"/etc/openvpn/a.conf", []string{"comp-lzo\n", "comp-lzo yes\n", "compress lz4-v2\n"}, []string{"allow-compression no\n"}},
	"openvpn-mtu":              {"/etc/openvpn/a.conf", []string{"tun-mtu 576\n"}, []string{"tun-mtu 1500\ntun-mtu 1400\n"}},
	"openvpn-fast-io":          {"/etc/openvpn/a.conf", []string{"proto tcp\nfast-io\n", "explicit-exit-notify 1\nproto tcp\n"}, []string{"proto udp\nfast-io\nexplicit-exit-notify 1\n", "proto tcp\nexplicit-exit-notify 0\n"}},
	"charon-threads":           {"/etc/strongswan.conf", []string{"charon {\n threads = 2\n}\n"}, []string{"charon {\n threads = 16\n}\n"}},
	"nginx-event":              {"/etc/nginx/nginx.conf", []string{"events { use kqueue; }\n"}, []string{"events { use epoll; }\n"}},
	"nginx-event-slow":         {"/etc/nginx/nginx.conf", []string{"events { use select; }\n"}, []string{"events { use epoll; }\n"}},
	"nginx-session-cache":      {"/etc/nginx/nginx.conf", []string{"ssl_session_cache builtin:1000;\n", "ssl_session_cache off;\nssl_session_tickets off;\n", "ssl_session_tickets off;\nssl_session_cache none;\n"}, []string{"ssl_session_cache none;\n", "ssl_session_cache shared:SSL:10m;\nssl_session_cache builtin:1000 shared:SSL:10m;\n"}},
	"nginx-debug":              {"/etc/nginx/nginx.conf", []string{"error_log /var/log/nginx/error.log debug;\n"}, []string{"error_log /var/log/nginx/error.log warn;\n"}},
	"haproxy-timeout":          {"/etc/haproxy/haproxy.cfg", []string{"defaults\n timeout client 30\n"}, []string{"defaults\n timeout client 30s\n timeout server 30000\n timeout connect 500\n timeout queue 500\n timeout http-keep-alive 300\n"}},
	"haproxy-no-timeout":       {"/etc/haproxy/haproxy.cfg", []string{"defaults\n mode http\nfrontend f\n bind :80\n"}, []string{"defaults\n timeout client 30s\nfrontend f\n bind :80\n"}},
	"haproxy-no-connect":       {"/etc/haproxy/haproxy.cfg", []string{"defaults\n timeout client 3s\nbackend b\n server a 198.18.0.1:80\n"}, []string{"defaults\n timeout server 30s\n timeout connect 3s\nbackend b\n server a 198.18.0.1:80\n"}},
	"haproxy-gone":             {"/etc/haproxy/haproxy.cfg", []string{"global\n nbproc 4\n", "frontend a\n reqadd X-A:\\ b\n"}, []string{"global\n nbthread 4\nfrontend a\n http-request set-header X-A b\n option redispatch\n"}},
	"apache-keepalive":         {"/etc/apache2/apache2.conf", []string{"KeepAliveTimeout 300\n"}, []string{"KeepAliveTimeout 5\n"}},
	"apache-lookups":           {"/etc/apache2/apache2.conf", []string{"HostnameLookups On\n"}, []string{"HostnameLookups Off\n"}},
	"unbound-slabs":            {"/etc/unbound/unbound.conf", []string{"server:\n msg-cache-slabs: 6\n"}, []string{"server:\n msg-cache-slabs: 8\n rrset-cache-slabs: 4\n"}},
	"dns-edns-size":            {"/etc/unbound/unbound.conf", []string{"options {\n edns-udp-size 65535;\n};\n", "server:\n edns-buffer-size: 8192\n"}, []string{"options {\n edns-udp-size 1232;\n max-udp-size 4096;\n};\n"}},
	"sshd-alive":               {"/etc/ssh/sshd_config", []string{"ClientAliveInterval 60\nClientAliveCountMax 0\n"}, []string{"ClientAliveInterval 60\nClientAliveCountMax 3\n"}},
	"chrony-step":              {"/etc/chrony/chrony.conf", []string{"makestep 1 -1\n"}, []string{"makestep 1 3\n"}},
	"docker-forward":           {"/etc/docker/daemon.json", []string{"{ \"ip-masq\": false }\n"}, []string{"{ \"ip-masq\": true }\n"}},
	"vyos-mtu":                 {"/config/config.boot", []string{"interfaces {\n ethernet eth0 {\n  mtu 20000\n }\n}\n"}, []string{"interfaces {\n ethernet eth0 {\n  mtu 9000\n }\n}\n"}},
	"uci-mtu":                  {"/etc/config/network", []string{"config device\n\toption mtu '65000'\n"}, []string{"config device\n\toption mtu '1500'\n"}},
	"uci-wan-open":             {"/etc/config/firewall", []string{"config zone\n\toption name 'wan'\n\toption input 'ACCEPT'\n"}, []string{"config zone\n\toption name 'wan'\n\toption input 'REJECT'\n\toption output 'ACCEPT'\nconfig zone\n\toption name 'lan'\n\toption input 'ACCEPT'\n"}},
	"uci-steering":             {"/etc/config/network", []string{"config globals\n\toption packet_steering '3'\n"}, []string{"config globals\n\toption packet_steering '1'\n"}},
	"bridge-vids":              {"/etc/network/interfaces", []string{"iface vmbr0 inet manual\n bridge-ports a\n bridge-vids 2-4094\n"}, []string{"iface vmbr0 inet manual\n bridge-ports a\n bridge-vlan-aware yes\n bridge-vids 2-4094\n", "auto swp1\niface swp1\n bridge-vids 5\niface bridge\n bridge-vlan-aware yes\n"}},
	"netplan-default-twice":    {"/etc/netplan/a.yaml", []string{"network:\n ethernets:\n  a:\n   routes: [{to: default, via: 198.18.0.1}]\n  b:\n   routes: [{to: default, via: 198.18.1.1}]\n"}, []string{"network:\n ethernets:\n  a:\n   routes: [{to: default, via: 198.18.0.1}]\n  b:\n   routes: [{to: default, via: 198.18.1.1, metric: 200}]\n"}},
	"netplan-gateway4":         {"/etc/netplan/a.yaml", []string{"   gateway4: 198.18.0.1\n"}, []string{"   routes: [{to: default, via: 198.18.0.1}]\n"}},
	"nm-ethtool":               {"/etc/NetworkManager/system-connections/a.nmconnection", []string{"[ethtool]\nrx-ring=4096\n"}, []string{"[ethtool]\nring-rx=4096\nfeature-gro=true\n[ipv4]\nmethod=auto\n"}},
	"bond-mode-word":           {"/etc/network/interfaces", []string{"iface bond0 inet dhcp\n bond-mode lacp\n"}, []string{"iface bond0 inet dhcp\n bond-mode 802.3ad\niface bond1 inet dhcp\n bond-mode 4\n"}},
	"nm-bond-watch":            {"/etc/NetworkManager/system-connections/a.nmconnection", []string{"[bond]\nmode=active-backup\nmiimon=0\n"}, []string{"[bond]\nmode=active-backup\nmiimon=100\n"}},
	"nm-tunnel-mtu":            {"/etc/NetworkManager/system-connections/a.nmconnection", []string{"[connection]\ntype=wireguard\n[wireguard]\nmtu=1500\n"}, []string{"[connection]\ntype=wireguard\n[wireguard]\nmtu=1420\n", "[connection]\ntype=ethernet\n[ethernet]\nmtu=1500\n"}},
	"mtu-small":                {"/etc/netplan/a.yaml", []string{"   mtu: 1200\n"}, []string{"   mtu: 1280\n   mtu: 1500\n"}},
	"bind-cache-share":         {"/etc/bind/named.conf.options", []string{"options {\n max-cache-size 95%;\n};\n"}, []string{"options {\n max-cache-size 50%;\n};\n"}},
	"ipfw-pipe":                {"/etc/ipfw.rules", []string{"ipfw pipe 1 config bw 20Mbit/s\nipfw add 100 pipe 2 ip from any to any out\n"}, []string{"ipfw pipe 1 config bw 20Mbit/s\nipfw add 100 pipe 1 ip from any to any out\n", "for p in 1 2; do\nipfw pipe $p config bw 1Mbit/s\ndone\nipfw add pipe 2 ip from any to any\n"}},
	"ipfw-queue":               {"/etc/ipfw.rules", []string{"ipfw queue 1 config pipe 1\nipfw add 100 queue 3 ip from any to any out\n"}, []string{"ipfw queue 1 config pipe 1 weight 50\nipfw add 100 queue 1 ip from any to any out\n"}},
	"ipfw-queue-pipe":          {"/etc/ipfw.rules", []string{"ipfw pipe 1 config bw 20Mbit/s\nipfw queue 1 config pipe 2 weight 5\n"}, []string{"ipfw pipe 1 config bw 20Mbit/s\nipfw queue 1 config pipe 1 weight 5\n"}},
	"ipfw-nat":                 {"/etc/ipfw.rules", []string{"ipfw nat 1 config if em0\nipfw add 100 nat 2 ip from any to any via em0\n"}, []string{"ipfw nat 1 config if em0\nipfw add 100 nat 1 ip from any to any via em0\n"}},
	"ipfw-slots":               {"+", []string{"==> /etc/ipfw.rules\nipfw -q pipe 1 config bw 50Mbit/s queue 500\n"}, []string{"==> /etc/ipfw.rules\nipfw pipe 1 config bw 50Mbit/s queue 500\n==> /etc/sysctl.conf\nnet.inet.ip.dummynet.pipe_slot_limit=1000\n", "==> /etc/ipfw.rules\nipfw pipe 1 config bw 50Mbit/s queue 100\nipfw pipe 2 config bw 50Mbit/s queue 500KBytes\n"}},
	"ipfw-weight":              {"/etc/ipfw.rules", []string{"ipfw queue 1 config pipe 1 weight 200\n"}, []string{"ipfw queue 1 config pipe 1 weight 100\n"}},
	"ipfw-bandwidth":           {"/etc/ipfw.rules", []string{"ipfw pipe 1 config bw 100 delay 5\n"}, []string{"ipfw pipe 1 config bw 100Mbit/s\nipfw pipe 2 config bw 0\nipfw pipe 3 config bw 10000000\n"}},
	"ipfw-bandwidth-max":       {"/etc/ipfw.rules", []string{"ipfw pipe 2 config bw 5Gbit/s\n"}, []string{"ipfw pipe 2 config bw 4Gbit/s\nipfw pipe 3 config bw 1000Mbit/s\n"}},
	"ipfw-delay":               {"/etc/ipfw.rules", []string{"ipfw pipe 1 config delay 20000\n"}, []string{"ipfw pipe 1 config delay 50\n"}},
	"ipfw-flush":               {"/etc/ipfw.rules", []string{"#!/bin/sh\nipfw flush\n"}, []string{"#!/bin/sh\nipfw -q flush\nipfw -f flush\n"}},
	"ipfw-port":                {"/etc/ipfw.rules", []string{"ipfw add 100 allow tcp from any to me port 22\n"}, []string{"ipfw add 100 allow tcp from any to me 22\nipfw add allow tcp from any to me dst-port 22\n"}},
	"ipfw-udp-setup":           {"/etc/ipfw.rules", []string{"ipfw add 100 allow udp from any to me 53 setup keep-state\n"}, []string{"ipfw add 100 allow udp from any to me 53 keep-state\nipfw add allow tcp from any to me 22 setup\n"}},
	"ipfw-loopback-late":       {"/etc/ipfw.rules", []string{"ipfw add 100 deny ip from any to 127.0.0.0/8\nipfw add 200 allow ip from any to any via lo0\n"}, []string{"ipfw add 100 allow ip from any to any via lo0\nipfw add 200 deny ip from any to 127.0.0.0/8\n"}},
	"ipfw-icmp":                {"/etc/ipfw.rules", []string{"ipfw add 100 deny icmp from any to any\n"}, []string{"ipfw add 90 allow icmp from any to any icmptypes 3,11\nipfw add 100 deny icmp from any to any\n"}},
	"ipfw-shape-late":          {"/etc/ipfw.rules", []string{"ipfw add 100 allow ip from any to any\nipfw add 200 pipe 1 ip from any to any out\n"}, []string{"ipfw add 100 pipe 1 ip from any to any out\nipfw add 200 allow ip from any to any\n"}},
	"ipfw-dummynet":            {"+", []string{"==> /etc/ipfw.rules\nipfw pipe 1 config bw 1Mbit/s\n==> /etc/rc.conf\nfirewall_enable=\"YES\"\n"}, []string{"==> /etc/ipfw.rules\nipfw pipe 1 config bw 1Mbit/s\n==> /etc/rc.conf\nfirewall_enable=\"YES\"\ndummynet_enable=\"YES\"\n"}},
	"ipfw-nat-module":          {"+", []string{"==> /etc/ipfw.rules\nipfw nat 1 config if em0\n==> /etc/rc.conf\nfirewall_enable=\"YES\"\n==> /boot/loader.conf\nzfs_load=\"YES\"\n"}, []string{"==> /etc/ipfw.rules\nipfw nat 1 config if em0\n==> /etc/rc.conf\nfirewall_enable=\"YES\"\n", "==> /etc/ipfw.rules\nipfw nat 1 config if em0\n==> /etc/rc.conf\nfirewall_nat_enable=\"YES\"\n"}},
	"pf-loopback":              {"/etc/pf.conf", []string{"block all\npass in on em1\npass out on em0\n"}, []string{"set skip on lo0\nblock all\npass out\n", "block in on em0\npass out\n", "block all\npass quick on lo0 all\npass out\n", "ifs = \"lo0\"\nset skip on $ifs\nblock all\n", "block in all\npass all\n"}},
	"pf-queue":                 {"/etc/pf.conf", []string{"altq on em0 priq queue { a b }\nqueue a priq(default)\nqueue b\npass out queue c\n"}, []string{"altq on em0 priq queue { a b }\nqueue a priq(default)\nqueue b\npass out queue b\n"}},
	"pf-altq":                  {"/etc/pf.conf", []string{"altq on em0 cbq bandwidth 100Mb queue { a }\n"}, []string{"pass all\n"}},
	"pf-openbsd":               {"/etc/pf.conf", []string{"queue std on em0 bandwidth 100M\n"}, []string{"altq on em0 cbq bandwidth 100Mb queue { std }\nqueue std bandwidth 100% cbq(default)\n"}},
	"pf-mss":                   {"/etc/pf.conf", []string{"scrub in on em0 max-mss 9000\n"}, []string{"scrub in on em0 max-mss 1452\n"}},
	"pf-mss-pppoe":             {"+", []string{"==> /etc/rc.conf\nppp_enable=\"YES\"\n==> /etc/pf.conf\nset skip on lo0\nscrub in all max-mss 1460\n"}, []string{"==> /etc/rc.conf\nppp_enable=\"YES\"\n==> /etc/pf.conf\nscrub in all max-mss 1452\n"}},
	"pf-nat-dhcp":              {"+", []string{"==> /etc/rc.conf\nifconfig_em0=\"DHCP\"\n==> /etc/pf.conf\nset skip on lo0\nnat on em0 from 10.0.0.0/8 to any -> em0\npass\n"}, []string{"==> /etc/rc.conf\nifconfig_em0=\"DHCP\"\n==> /etc/pf.conf\nnat on em0 from 10.0.0.0/8 to any -> (em0)\n", "==> /etc/rc.conf\nifconfig_em1=\"DHCP\"\nifconfig_em0=\"inet 198.18.0.1/24\"\n==> /etc/pf.conf\nnat on em0 from 10.0.0.0/8 to any -> em0\n"}},
	"pf-number":                {"/etc/pf.conf", []string{"pass in proto tcp to port 70000\n", "pass in from 198.18.0.0/33\n", "pass in from { 198.18.256.0/24 }\n"}, []string{"pass in proto tcp from 198.18.0.0/32 to port 65535\npass in inet6 from 2001:db8:300::/48 to any port { 22 443 }\n"}},
	"pf-word-rule":             {"/etc/pf.conf", []string{"allow in proto tcp to port 22\n"}, []string{"pass in proto tcp to port 22\ndrop = \"em0\"\n"}},
	"pf-quick":                 {"/etc/pf.conf", []string{"ext_if = \"em0\"\nblock in quick on $ext_if\npass in on $ext_if proto tcp to port 22\n"}, []string{"block in on em0\nblock in quick on em0 from <bad>\npass in on em0 proto tcp to port 22\nblock in quick on em1\n"}},
	"pf-skip":                  {"/etc/pf.conf", []string{"ext_if = \"em0\"\nset skip on { lo0 em0 }\n"}, []string{"ext_if = \"em0\"\nset skip on { lo0 em1 }\n"}},
	"pf-nat-to":                {"/etc/pf.conf", []string{"match out on em0 nat-to (em0)\n"}, []string{"nat on em0 from em1:network to any -> (em0)\n"}},
	"rc-dash":                  {"/etc/rc.conf", []string{"ifconfig_ix0=\"DHCP nolro notso\"\n", "ifconfig_ix0=\"inet 198.18.0.1/24 no-txcsum\"\n"}, []string{"ifconfig_ix0=\"inet 198.18.0.1/24 -lro\"\n", "ifconfig_ix0_descr=\"nolro here\"\n"}},
	"rc-ifconfig":              {"/etc/rc.conf", []string{"ifcofig_ix0=\"DHCP\"\n", "ipconfig_em0_ipv6=\"inet6 accept_rtadv\"\n"}, []string{"ifconfig_ix0=\"DHCP\"\n", "ifconfig_DEFAULT=\"DHCP\"\n"}},
	"nginx-epoll":              {"/usr/local/etc/nginx/nginx.conf", []string{"events { use epoll; }\n"}, []string{"events { use kqueue; }\n"}},
	"ipfw-as-script":           {"+", []string{"==> /etc/rc.conf\nfirewall_script=\"/etc/ipfw.rules\"\n==> /etc/ipfw.rules\nadd 100 allow ip from any to any via lo0\n"}, []string{"==> /etc/rc.conf\nfirewall_script=\"/etc/ipfw.rules\"\n==> /etc/ipfw.rules\n#!/bin/sh\nadd=\"ipfw -q add\"\n$add 100 allow ip from any to any\n", "==> /etc/rc.conf\nfirewall_type=\"/etc/ipfw.rules\"\n==> /etc/ipfw.rules\nadd 100 allow ip from any to any\n"}},
	"ssh-port-pf":              {"+", []string{"==> /etc/ssh/sshd_config\nPort 2222\n==> /etc/rc.conf\npf_enable=\"YES\"\n==> /etc/pf.conf\nset skip on lo0\nblock in all\npass out all keep state\npass in on em0 proto tcp to port { 22 80 }\n", "==> /etc/rc.conf\nsshd_flags=\"-p 2200\"\n==> /etc/pf.conf\nblock all\npass in proto tcp to port 22\n"}, []string{"==> /etc/ssh/sshd_config\nPort 2222\n==> /etc/rc.conf\npf_enable=\"YES\"\n==> /etc/pf.conf\nblock in all\npass in on em0 proto tcp to port { 80 443 2222 }\n", "==> /etc/ssh/sshd_config\nPort 2222\n==> /etc/rc.conf\npf_enable=\"YES\"\n==> /etc/pf.conf\nsvc = \"{ 80, 2222 }\"\nblock in all\npass in proto tcp to port $svc\n", "==> /etc/ssh/sshd_config\nPort 2222\n==> /etc/rc.conf\npf_enable=\"YES\"\n==> /etc/pf.conf\nblock in on em0\npass in on em1 from em1:network\n", "==> /etc/ssh/sshd_config\nPort 22\n==> /etc/rc.conf\npf_enable=\"YES\"\n==> /etc/pf.conf\nblock in all\npass in proto tcp to port ssh\n"}},
	"pf-own-net":               {"+", []string{"==> /etc/rc.conf\ndefaultrouter=\"10.0.0.1\"\n==> /etc/pf.conf\nset skip on lo0\nblock in quick on em0 from { 10.0.0.0/8, 172.16.0.0/12 } to any\n", "==> /etc/rc.conf\ndefaultrouter=\"192.168.1.1\"\n==> /etc/pf.conf\nmartians = \"{ 127.0.0.0/8, 192.168.0.0/16 }\"\nblock drop in quick on $ext from $martians to any\n"}, []string{"==> /etc/rc.conf\ndefaultrouter=\"198.18.0.1\"\n==> /etc/pf.conf\nset skip on lo0\nblock in quick on em0 from { 10.0.0.0/8, 172.16.0.0/12 } to any\n", "==> /etc/rc.conf\ndefaultrouter=\"10.0.0.1\"\n==> /etc/pf.conf\nset skip on lo0\nblock in quick on em0 from 192.168.0.0/16 to any\n"}},
	"pf-no-state":              {"/etc/pf.conf", []string{"block all\npass in proto tcp to port 80 no state\npass out all\n"}, []string{"block all\npass in proto tcp to port 80 no state\npass out proto tcp from port 80 flags any no state\n", "block in all\npass in proto tcp to port 80 keep state\n", "pass all\nblock in on em0 proto tcp\npass in proto tcp to port 80 no state\n"}},
	"jail-nothing":             {"/etc/jail.conf", []string{"www {\n path = \"/j\";\n vnet;\n}\n"}, []string{"exec.start = \"/bin/sh /etc/rc\";\nwww {\n path = \"/j\";\n}\n", "www {\n path = \"/j\";\n persist;\n}\n"}},
	"listen-address":           {"+", []string{"==> /etc/rc.conf\nifconfig_em0=\"inet 198.18.0.1/24\"\n==> /etc/ssh/sshd_config\nListenAddress 198.18.0.9\n"}, []string{"==> /etc/rc.conf\nifconfig_em0=\"inet 198.18.0.1 netmask 255.255.255.0\"\n==> /etc/ssh/sshd_config\nListenAddress 127.0.0.1\nListenAddress 198.18.0.1\n", "==> /etc/rc.conf\nifconfig_em0=\"DHCP\"\n==> /etc/ssh/sshd_config\nListenAddress 198.18.0.9\n"}},
	"fstab-no-disk":            {"+", []string{"==> /var/run/dmesg.boot\nada0 at ahcich0 bus 0\n==> /etc/fstab\n/dev/ada0p2 / ufs rw 1 1\n/dev/ada1p1 /data ufs rw 2 2\n"}, []string{"==> /var/run/dmesg.boot\nada0 at ahcich0 bus 0\nda0 at umass0\n==> /etc/fstab\n/dev/ada0p2 / ufs rw,noatime 1 1\n/dev/da0p1 /data ufs rw 2 2\n/dev/da1p1 /usb ufs rw,noauto 0 0\n"}},
	"zfs-root":                 {"+", []string{"==> /boot/loader.conf\nvfs.root.mountfrom=\"zfs:zroot/ROOT/default\"\n"}, []string{"==> /boot/loader.conf\nzfs_load=\"YES\"\nvfs.root.mountfrom=\"zfs:zroot/ROOT/default\"\n", "==> /boot/loader.conf\nvfs.root.mountfrom=\"ufs:/dev/ada0p2\"\n"}},
	"fstab-geom":               {"+", []string{"==> /etc/fstab\n/dev/mirror/gm0p2 / ufs rw 1 1\n"}, []string{"==> /etc/fstab\n/dev/mirror/gm0p2 / ufs rw 1 1\n==> /boot/loader.conf\ngeom_mirror_load=\"YES\"\n", "==> /etc/fstab\n/dev/ada0p2 / ufs rw 1 1\n/dev/ada1p1.eli /secret ufs rw 2 2\n"}},
	"ppp-label":                {"+", []string{"==> /etc/rc.conf\nppp_profile=\"pppoe\"\n==> /etc/ppp/ppp.conf\ndefault:\n set log Phase\nisp:\n set device PPPoE:em1\n"}, []string{"==> /etc/rc.conf\nppp_profile=\"isp\"\n==> /etc/ppp/ppp.conf\ndefault:\n set log Phase\nisp:\n set device PPPoE:em1\n"}},
	"frr-daemons":              {"/etc/rc.conf", []string{"frr_daemons=\"zebra bgp\"\n"}, []string{"frr_daemons=\"zebra bgpd ospfd staticd\"\n", "frr_daemons=\"$d\"\n"}},
	"xml-wan-open":             {"/conf/config.xml", []string{"<filter><rule><type>pass</type><interface>wan</interface><source><any/></source><destination><any/></destination></rule></filter>\n"}, []string{"<filter><rule><type>pass</type><interface>lan</interface><source><any/></source><destination><any/></destination></rule><rule><type>pass</type><interface>wan</interface><protocol>icmp</protocol><source><any/></source><destination><any/></destination></rule></filter>\n", "<rule><type>block</type><interface>wan</interface><source><any/></source><destination><any/></destination></rule>\n"}},
	"xml-gateway-name":         {"/conf/config.xml", []string{"<gateway_item><name>WAN_GW</name></gateway_item><route><network>10.5.0.0/16</network><gateway>CORE</gateway></route>\n"}, []string{"<gateway_item><gateway>dynamic</gateway><name>WAN_GW</name></gateway_item><route><gateway>WAN_GW</gateway></route><rule><gateway>WAN2_DHCP</gateway></rule>\n"}},
	"xml-gateway-net":          {"/conf/config.xml", []string{"<wan><ipaddr>198.18.0.5</ipaddr><subnet>24</subnet></wan><gateway_item><interface>wan</interface><gateway>198.18.1.1</gateway><name>A</name></gateway_item>\n"}, []string{"<wan><ipaddr>198.18.0.5</ipaddr><subnet>24</subnet></wan><gateway_item><interface>wan</interface><gateway>198.18.0.1</gateway></gateway_item>\n", "<wan><ipaddr>198.18.0.5</ipaddr><subnet>23</subnet></wan><gateway_item><interface>wan</interface><gateway>198.18.1.1</gateway></gateway_item>\n", "<wan><ipaddr>198.18.0.5</ipaddr><subnet>32</subnet></wan><gateway_item><interface>wan</interface><gateway>198.18.1.1</gateway><fargw>1</fargw></gateway_item>\n"}},
	"xml-dhcp-range":           {"/conf/config.xml", []string{"<lan><ipaddr>198.18.0.1</ipaddr><subnet>24</subnet></lan><dhcpd><lan><range><from>198.18.1.10</from></range></lan></dhcpd>\n"}, []string{"<lan><ipaddr>198.18.0.1</ipaddr><subnet>24</subnet></lan><dhcpd><lan><range><from>198.18.0.10</from></range></lan></dhcpd>\n", "<lan><ipaddr>198.18.0.1</ipaddr><subnet>16</subnet></lan><dhcpd><lan><range><from>198.18.1.10</from></range></lan></dhcpd>\n"}},
	"xml-no-device":            {"+", []string{"==> /var/run/dmesg.boot\nigb0: <Intel(R) I350> mem 0xdf200000\n==> /conf/config.xml\n<wan><if>igb0</if></wan><lan><if>em1</if></lan>\n"}, []string{"==> /var/run/dmesg.boot\nigb0: <Intel(R) I350> mem 0xdf200000\n==> /conf/config.xml\n<wan><if>igb0</if></wan><lan><if>igb0.10</if></lan><opt1><if>ovpns1</if></opt1>\n"}},
	"rc-route-unused":          {"/etc/rc.conf", []string{"static_routes=\"lan\"\nroute_lan=\"-net 198.18.0.0/16 198.19.0.1\"\nroute_vpn=\"-net 198.20.0.0/16 198.19.0.2\"\n"}, []string{"static_routes=\"lan vpn:em0\"\nroute_lan=\"x\"\nroute_vpn=\"y\"\n"}},
	"sshd-no-login":            {"/etc/ssh/sshd_config", []string{"PasswordAuthentication no\nPubkeyAuthentication no\nKbdInteractiveAuthentication no\n"}, []string{"PasswordAuthentication no\nKbdInteractiveAuthentication no\n", "PubkeyAuthentication no\nPasswordAuthentication yes\n"}},
	"rc-tunnel":                {"/etc/rc.conf", []string{"ifconfig_gre0=\"inet 198.18.0.1 198.18.0.2\"\n"}, []string{"ifconfig_gif0=\"inet 198.18.0.1 198.18.0.2 tunnel 198.19.0.1 198.19.0.2\"\n", "create_args_gif0=\"tunnel 198.19.0.1 198.19.0.2\"\nifconfig_gif0=\"inet 198.18.0.1 198.18.0.2\"\n"}},
	"rc-epair":                 {"/etc/rc.conf", []string{"cloned_interfaces=\"bridge0 epair0a\"\n"}, []string{"cloned_interfaces=\"bridge0 epair0\"\nifconfig_epair0a=\"up\"\n"}},
	"rc-dhcp":                  {"/etc/rc.conf", []string{"ifconfig_em0=\"SYNDHCP\"\n", "ifconfig_em0=\"DCHP -lro\"\n"}, []string{"ifconfig_em0=\"SYNCDHCP\"\nifconfig_em1=\"DHCP -lro\"\n"}},
	"pf-icmp-family":           {"/etc/pf.conf", []string{"pass in inet6 proto icmp all\n", "pass in inet proto icmp6 all\n"}, []string{"pass in inet6 proto icmp6 all\npass in inet proto icmp all icmp-type echoreq\n"}},
	"ipfw-one-pass":            {"+", []string{"==> /etc/ipfw.rules\nipfw add 200 nat 1 ip from any to any via em0\nipfw add 300 allow tcp from any to me 22\nipfw add 400 deny ip from any to any in via em0\n==> /etc/rc.conf\nfirewall_enable=\"YES\"\n"}, []string{"==> /etc/ipfw.rules\nipfw add 200 nat 1 ip from any to any via em0\nipfw add 400 deny ip from any to any in via em0\n==> /etc/rc.conf\nfirewall_enable=\"YES\"\n==> /etc/sysctl.conf\nnet.inet.ip.fw.one_pass=0\n", "==> /etc/ipfw.rules\nipfw add 100 deny ip from any to any in via em9\nipfw add 200 nat 1 ip from any to any via em0\n==> /etc/rc.conf\nfirewall_enable=\"YES\"\n"}},
	"unbound-refuses":          {"/etc/unbound/unbound.conf", []string{"server:\n interface: 0.0.0.0\n"}, []string{"server:\n interface: 0.0.0.0\n access-control: 198.18.0.0/16 allow\n", "server:\n interface: 127.0.0.1\n"}},
	"jail-statfs":              {"/etc/jail.conf", []string{"a { enforce_statfs = 3; persist; }\n"}, []string{"a { enforce_statfs = 1; persist; }\n"}},
	"bsd-sysctl-d":             {"+", []string{"==> /etc/rc.conf\nsshd_enable=\"YES\"\n==> /etc/sysctl.d/10.conf\nkern.ipc.soacceptqueue=4096\n"}, []string{"==> /etc/rc.conf\nrc_parallel=\"NO\"\n==> /etc/sysctl.d/10.conf\nnet.core.somaxconn=4096\n"}},
	"xml-mtu":                  {"/conf/config.xml", []string{"<lan><mtu>20000</mtu></lan>\n"}, []string{"<lan><mtu>9000</mtu></lan>\n"}},
	"xml-vlan":                 {"/conf/config.xml", []string{"<vlan><if>igb1</if><tag>5000</tag></vlan>\n"}, []string{"<vlan><if>igb1</if><tag>4094</tag></vlan>\n"}},
	"xml-port":                 {"/conf/config.xml", []string{"<webgui><protocol>https</protocol></webgui><ssh><enable>enabled</enable><port>443</port></ssh>\n"}, []string{"<webgui><protocol>https</protocol><port>8443</port></webgui><ssh><port>443</port></ssh>\n", "<ssh><port>2222</port></ssh>\n"}},
	"rc-wireguard":             {"/etc/rc.conf", []string{"wireguard_interface=\"wg0\"\n"}, []string{"wireguard_interfaces=\"wg0\"\n"}},
	"pf-overload":              {"/etc/pf.conf", []string{"pass in proto tcp to port 22 keep state (max-src-conn 5, overload <bad> flush)\n"}, []string{"block in quick from <bad>\npass in proto tcp to port 22 keep state (max-src-conn 5, overload <bad> flush)\n", "include \"/etc/pf.bad\"\npass in proto tcp to port 22 keep state (overload <bad>)\n"}},
	"rc-word":                  {"/etc/rc.conf", []string{"ifconfig_em0=\"inet 198.18.0.1 netmsk 255.255.255.0\"\n"}, []string{"ifconfig_em0=\"inet 198.18.0.1 netmask 255.255.255.0\"\n"}},
	"rc-fe80":                  {"/etc/rc.conf", []string{"ipv6_defaultrouter=\"fe80::1\"\n"}, []string{"ipv6_defaultrouter=\"fe80::1%em0\"\n"}},
	"rc-inet6":                 {"/etc/rc.conf", []string{"ifconfig_em1_ipv6=\"2001:db8::1/64\"\n"}, []string{"ifconfig_em1_ipv6=\"inet6 2001:db8::1/64\"\n"}},
	"rc-nfsd":                  {"/etc/rc.conf", []string{"nfs_server_flags=\"-u -t -n 1024\"\n"}, []string{"nfs_server_flags=\"-u -t -n 256\"\nnfs_server_flags=\"-t --maxthreads 512\"\n"}},
	"rc-powerd-percent":        {"/etc/rc.conf", []string{"powerd_flags=\"-a hiadaptive -i 250\"\n"}, []string{"powerd_flags=\"-a hiadaptive -i 85 -r 60\"\n"}},
	"rc-lagg-address":          {"/etc/rc.conf", []string{"ifconfig_em0=\"inet 198.18.0.1/24\"\nifconfig_em1=\"up\"\nifconfig_lagg0=\"laggproto lacp laggport em0 laggport em1 198.18.0.2/24\"\n"}, []string{"ifconfig_em0=\"up -lro mtu 9000\"\nifconfig_em1=\"up\"\nifconfig_lagg0=\"laggproto lacp laggport em0 laggport em1 198.18.0.2/24\"\n"}},
	"jail-vnet-address":        {"/etc/jail.conf", []string{"www {\n vnet;\n vnet.interface = \"epair0b\";\n ip4.addr = 198.18.0.5;\n}\n"}, []string{"a {\n vnet;\n vnet.interface = \"epair0b\";\n}\nb {\n ip4.addr = 198.18.0.5;\n}\n"}},
	"jail-semicolon":           {"/etc/jail.conf", []string{"www {\n path = \"/jails/www\";\n exec.stop = \"/bin/sh /etc/rc.shutdown\"\n}\n"}, []string{"www {\n path = \"/jails/www\";\n ip4.addr = 198.18.0.5,\n  198.18.0.6;\n exec.stop = \"/bin/sh /etc/rc.shutdown\";\n}\n"}},
	"jail-allow":               {"/etc/jail.conf", []string{"www { allow.raw_socket; }\n"}, []string{"www { allow.raw_sockets; allow.mount.zfs; allow.nosysvipc; }\n"}},
	"jail-list":                {"+", []string{"==> /etc/rc.conf\njail_list=\"www db\"\n==> /etc/jail.conf\nwww {\n path=\"/j\";\n}\n"}, []string{"==> /etc/rc.conf\njail_list=\"www\"\n==> /etc/jail.conf\nwww { path=\"/j\"; }\ndb { path=\"/d\"; }\n"}},
	"jail-off":                 {"+", []string{"==> /etc/jail.conf\nwww {\n path=\"/j\";\n}\n==> /etc/rc.conf\nsshd_enable=\"YES\"\n"}, []string{"==> /etc/jail.conf\nwww { path=\"/j\"; }\n==> /etc/rc.conf\njail_enable=\"YES\"\n"}},
	"jail-interface":           {"+", []string{"==> /etc/jail.conf\nwww {\n interface = \"em9\";\n}\n==> /etc/rc.conf\nifconfig_em0=\"up\"\n"}, []string{"==> /etc/jail.conf\nwww { interface = em0; }\ndb { ip4.addr = \"lo1|198.18.0.1/32\"; }\n==> /etc/rc.conf\nifconfig_em0=\"up\"\ncloned_interfaces=\"bridge0 lo1\"\n"}},
	"devfs-ruleset":            {"+", []string{"==> /etc/rc.conf\ndevfs_system_ruleset=\"localrules\"\n==> /etc/devfs.rules\n[webrules=10]\nadd path bpf0 mode 0660\n"}, []string{"==> /etc/rc.conf\ndevfs_system_ruleset=\"localrules\"\n==> /etc/devfs.rules\n[localrules=10]\nadd path bpf0 mode 0660\n"}},
	"devfs-number":             {"/etc/devfs.rules", []string{"[local=4]\nadd path bpf0 unhide\n"}, []string{"[local=10]\nadd path bpf0 unhide\n"}},
	"login-backslash":          {"/etc/login.conf", []string{"default:\\\n\t:openfiles=1024:\n\t:maxproc=512:\n"}, []string{"default:\\\n\t:openfiles=1024:\\\n\t:maxproc=512:\n\ndaemon:\\\n\t:tc=default:\n"}},
	"login-name":               {"/etc/login.conf", []string{"default:\\\n\t:openfile=1024:\n"}, []string{"default:\\\n\t:openfiles-cur=1024:\\\n\t:path=/bin /usr/bin:\\\n\t:vmemoryuse=unlimited:\n"}},
	"login-class":              {"/etc/login.conf", []string{"default:\\\n\t:openfiles=9:\n\nweb:\\\n\t:tc=defaults:\n"}, []string{"default:\\\n\t:openfiles=9:\n\nweb:\\\n\t:tc=default:\n"}},
	"login-soft":               {"/etc/login.conf", []string{"web:\\\n\t:openfiles-max=1024:\\\n\t:openfiles-cur=65536:\n"}, []string{"web:\\\n\t:openfiles-max=65536:\\\n\t:openfiles-cur=1024:\n"}},
	"login-daemon":             {"+", []string{"==> /etc/login.conf\ndaemon:\\\n\t:openfiles=1024:\\\n\t:tc=default:\n==> /etc/rc.conf\nnginx_enable=\"YES\"\n"}, []string{"==> /etc/login.conf\ndaemon:\\\n\t:openfiles=100000:\\\n\t:tc=default:\n==> /etc/rc.conf\nnginx_enable=\"YES\"\n"}},
	"mpd-mtu":                  {"/usr/local/etc/mpd5/mpd.conf", []string{"pppoe:\n\tcreate link static L1 pppoe\n\tset link mtu 1500\n"}, []string{"pppoe:\n\tcreate link static L1 pppoe\n\tset link mtu 1492\n"}},
	"mpd-mss":                  {"+", []string{"==> /usr/local/etc/mpd5/mpd.conf\npppoe:\n\tcreate link static L1 pppoe\n"}, []string{"==> /usr/local/etc/mpd5/mpd.conf\npppoe:\n\tset iface enable tcpmssfix\n\tcreate link static L1 pppoe\n"}},
	"kernel-gone":              {"/usr/src/sys/amd64/conf/R", []string{"options \tIPSEC_NAT_T\n", "device polling\n", "device igb # Intel\n"}, []string{"options IPSEC\ndevice tuntap\ndevice em\ndevice ix\n"}},
	"kernel-kind":              {"/usr/src/sys/amd64/conf/R", []string{"options CARP\n"}, []string{"device carp\noptions IPFIREWALL\n"}},
	"kernel-ipfw":              {"/usr/src/sys/amd64/conf/R", []string{"options IPFIREWALL_DEFAULT_TO_ACCEPT\n"}, []string{"options IPFIREWALL\noptions IPFIREWALL_DEFAULT_TO_ACCEPT\n"}},
	"kernel-libalias":          {"/usr/src/sys/amd64/conf/R", []string{"options IPFIREWALL\noptions IPFIREWALL_NAT\n"}, []string{"options IPFIREWALL\noptions IPFIREWALL_NAT\noptions LIBALIAS\n"}},
	"kernel-altq":              {"/usr/src/sys/amd64/conf/R", []string{"options ALTQ_HFSC\n"}, []string{"options ALTQ\noptions ALTQ_HFSC\n"}},
	"kernel-hz":                {"/usr/src/sys/amd64/conf/R", []string{"options HZ=20000\n"}, []string{"options HZ=1000\n"}},
	"kernel-lacks":             {"+", []string{"==> /usr/src/sys/amd64/conf/R\ninclude GENERIC\nnooptions TCPHPTS\n==> /boot/loader.conf\ntcp_rack_load=\"YES\"\n"}, []string{"==> /usr/src/sys/amd64/conf/R\ninclude GENERIC\nnooptions INET6\n==> /boot/loader.conf\ntcp_rack_load=\"YES\"\n"}},
	"kernel-lacks-device":      {"+", []string{"==> /usr/src/sys/amd64/conf/R\ninclude GENERIC\nnodevice ix\n==> /etc/rc.conf\nifconfig_ix0=\"up\"\n"}, []string{"==> /usr/src/sys/amd64/conf/R\ninclude GENERIC\nnodevice ix\n==> /etc/rc.conf\nifconfig_em0=\"up\"\n"}},
	"kernel-option":            {"/usr/src/sys/amd64/conf/R", []string{"options \tDEVICE_POLING\n"}, []string{"options \tDEVICE_POLLING\noptions HZ=1000\noptions \"IPFIREWALL\" # x\n"}},
	"src-without":              {"/etc/make.conf", []string{"WITHOUT_PF=no\n"}, []string{"WITHOUT_PF=yes\nKERNCONF=R\n"}},
	"src-lacks":                {"+", []string{"==> /etc/src.conf\nWITHOUT_PF=yes\n==> /etc/rc.conf\npf_enable=\"YES\"\n"}, []string{"==> /etc/src.conf\nWITHOUT_BLUETOOTH=yes\n==> /etc/rc.conf\npf_enable=\"YES\"\n"}},
	"unit-bytes":               {"/etc/systemd/system/a.service", []string{"[Service]\nMemoryMax=512\n", "[Service]\nLimitSTACK=8192\n"}, []string{"[Service]\nMemoryMax=512M\nMemoryHigh=80%\nMemoryLow=1073741824\nMemoryMin=0\nMemorySwapMax=infinity\n"}},
	"networkd-child":           {"+", []string{"==> /etc/systemd/network/a.netdev\n[NetDev]\nName=vlan5\nKind=vlan\n\n[VLAN]\nId=5\n==> /etc/systemd/network/e.network\n[Match]\nName=eth0\n[Network]\nVLAN=vlan6\n"}, []string{"==> /etc/systemd/network/a.netdev\n[NetDev]\nName=vlan5\nKind=vlan\n==> /etc/systemd/network/e.network\n[Network]\nVLAN=vlan6 vlan5\n", "==> /etc/systemd/network/a.netdev\n[NetDev]\nName=br0\nKind=bridge\n"}},
	"networkd-netdev":          {"+", []string{"==> /etc/systemd/network/e.network\n[Network]\nBond=bond1\n==> /etc/systemd/network/b.netdev\n[NetDev]\nName=bond0\nKind=bond\n"}, []string{"==> /etc/systemd/network/e.network\n[Network]\nBond=bond0\n==> /etc/systemd/network/b.netdev\n[NetDev]\nKind=bond\nName=bond0\n"}},
	"netplan-prefix":           {"/etc/netplan/a.yaml", []string{"   addresses: [198.18.0.5]\n", "   addresses:\n    - 198.18.0.5\n"}, []string{"   addresses: [198.18.0.5/24]\n   nameservers:\n     search: [a.example]\n     addresses: [198.18.0.1]\n", "   nameservers: {search: [a], addresses: [198.18.0.1, 198.18.0.2]}\n", "   nameservers:\n    addresses:\n    - 198.18.0.1\n"}},
	"bond-monitors":            {"/etc/modprobe.d/a.conf", []string{"options bonding mode=1 miimon=100 arp_interval=1000 arp_ip_target=198.18.0.1\n"}, []string{"options bonding mode=1 miimon=100\n", "options bonding mode=1 arp_interval=1000 miimon=0\n"}},
	"udev-queue":               {"/etc/udev/rules.d/1.rules", []string{"KERNEL==\"sda\", ATTR{queue/schedulers}=\"none\"\n"}, []string{"KERNEL==\"sda\", ATTR{queue/rotational}==\"0\", ATTR{queue/scheduler}=\"none\", ATTR{queue/hw_sector_size}==\"512\"\n"}},
	"ethtool-word":             {"/etc/rc.local", []string{"ethtool -C eth0 rx-usec 50\n", "ethtool -L eth0 combine 4\n"}, []string{"ethtool -C eth0 adaptive-rx off rx-usecs 50 || true\nethtool -G eth0 rx 4096 tx 4096\nethtool -L $IFACE combined 8\nethtool -A eth0 autoneg off rx off tx off\n"}},
	"docker-hosts":             {"+", []string{"==> /etc/docker/daemon.json\n{\"hosts\": [\"tcp://127.0.0.1:2375\"]}\n"}, []string{"==> /etc/docker/daemon.json\n{\"hosts\": [\"tcp://127.0.0.1:2375\"]}\n==> /etc/systemd/system/docker.service.d/a.conf\n[Service]\nExecStart=\nExecStart=/usr/bin/dockerd\n", "==> /etc/docker/daemon.json\n{}\n"}},
	"kubelet-swap":             {"+", []string{"==> /var/lib/kubelet/config.yaml\nkind: KubeletConfiguration\n==> /etc/fstab\n/swap.img none swap sw 0 0\n"}, []string{"==> /var/lib/kubelet/config.yaml\nkind: KubeletConfiguration\nfailSwapOn: false\n==> /etc/fstab\n/swap.img none swap sw 0 0\n", "==> /var/lib/kubelet/config.yaml\nkind: KubeletConfiguration\n==> /etc/fstab\n/dev/sda1 / ext4 defaults 0 1\n"}},
	"kubelet-unsafe":           {"/var/lib/kubelet/config.yaml", []string{"allowedUnsafeSysctls:\n- net.core.somaxconn\n- vm.swappiness\n"}, []string{"allowedUnsafeSysctls:\n- net.core.somaxconn\n- kernel.msg*\n- kernel.shm_rmid_forced\n- fs.mqueue.*\n- kernel.sem\nmaxPods: 110\n"}},
	"kubelet-static":           {"/var/lib/kubelet/config.yaml", []string{"cpuManagerPolicy: static\n"}, []string{"cpuManagerPolicy: static\nreservedSystemCPUs: \"0-1\"\n", "cpuManagerPolicy: none\n"}},
	"kubelet-cgroup":           {"+", []string{"==> /var/lib/kubelet/config.yaml\ncgroupDriver: systemd\n==> /etc/containerd/config.toml\n[a]\n  SystemdCgroup = false\n"}, []string{"==> /var/lib/kubelet/config.yaml\ncgroupDriver: systemd\n==> /etc/containerd/config.toml\n[a]\n  SystemdCgroup = true\n"}},
	"compose-global":           {"/opt/web/compose.yaml", []string{"services:\n  web:\n    sysctls:\n      - net.core.somaxconn=1024\n      - net.core.rmem_max=16777216\n", "services:\n  es:\n    sysctls:\n      vm.max_map_count: 262144\n"}, []string{"services:\n  web:\n    sysctls:\n      - net.core.somaxconn=1024\n      - net.ipv4.tcp_syncookies=0\n"}},
	"compose-host":             {"/opt/web/compose.yaml", []string{"services:\n  web:\n    network_mode: host\n    sysctls:\n      - net.core.somaxconn=1024\n"}, []string{"services:\n  web:\n    sysctls:\n      - net.core.somaxconn=1024\n  b:\n    network_mode: host\n"}},
	"compose-ulimit":           {"/opt/web/compose.yaml", []string{"    ulimits:\n      nofile:\n        soft: 1048576\n        hard: 65536\n"}, []string{"    ulimits:\n      nofile:\n        soft: 65536\n        hard: 1048576\n"}},
	"route-table":              {"+", []string{"==> /etc/network/interfaces\niface eth1 inet static\n up ip route add default via 198.18.0.1 table wan2\n==> /etc/iproute2/rt_tables\n255 local\n254 main\n100 wan1\n"}, []string{"==> /etc/network/interfaces\n up ip rule add from 198.18.0.5 lookup wan2\n up ip route add 198.18.0.0/24 dev eth0 table 100\n up ip route add 198.18.0.0/24 dev eth0 table main\n==> /etc/iproute2/rt_tables.d/wan.conf\n100 wan2\n"}},
	"tuned-profile":            {"+", []string{"==> /etc/tuned/active_profile\nthroughput-performace\n", "==> /etc/tuned/active_profile\nweb\n==> /etc/tuned/web/tuned.conf\n[main]\ninclude=network-latncy\n"}, []string{"==> /etc/tuned/active_profile\nweb\n==> /etc/tuned/web/tuned.conf\n[main]\ninclude=network-latency\n", "==> /etc/tuned/active_profile\nvirtual-guest\n"}},
	"netplan-key":              {"/etc/netplan/a.yaml", []string{"network:\n  bonds:\n    bond0:\n      interfaces: [a, b]\n      mii-monitor-interval: 100\n", "network:\n  ethernets:\n    a:\n      adresses: [198.18.0.1/24]\n"}, []string{"network:\n  version: 2\n  bonds:\n    bond0:\n      interfaces: [a, b]\n      addresses:\n      - 198.18.0.1/24\n      parameters:\n        mii-monitor-interval: 100\n\n  ethernets:\n    a: {}\n    b:\n      \"dhcp4\": true\n", "network:\n    ethernets:\n        a:\n            dhcp4: true\n"}},
	"modprobe-kvm":             {"/etc/modprobe.d/a.conf", []string{"options kvm nested=1\n"}, []string{"options kvm_intel nested=1\noptions kvm ignore_msrs=1 halt_poll_ns=0\n"}},
	"unit-exec-twice":          {"/etc/systemd/system/a.service.d/b.conf", []string{"[Service]\nExecStart=/usr/bin/a --more\n"}, []string{"[Service]\nExecStart=\nExecStart=/usr/bin/a --more\n", "[Service]\nExecStartPost=/usr/bin/b\n"}},
	"dropin-place":             {"+", []string{"==> /etc/systemd/system/nginx.d/a.conf\n[Service]\nLimitNOFILE=65536\n"}, []string{"==> /etc/systemd/system/nginx.service.d/a.conf\n[Service]\nLimitNOFILE=65536\n", "==> /etc/systemd/system/service.d/a.conf\n[Service]\n"}},
	"netplan-member":           {"+", []string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a:\n      dhcp4: true\n  vlans:\n    v:\n      id: 5\n      link: b\n", "==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a: {}\n  bonds:\n    bond0:\n      interfaces: [a, b]\n"}, []string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a: {dhcp4: true}\n  vlans:\n    v:\n      id: 5\n      link: a\n==> /etc/netplan/b.yaml\nnetwork:\n  bonds:\n    bond0:\n      interfaces: [a, v]\n"}},
	"ifupdown-option":          {"/etc/network/interfaces", []string{"iface br0 inet dhcp\n bridge_port eth0\n"}, []string{"iface br0 inet dhcp\n bridge-ports eth0\n bridge_stp off\n bridge-vlan-aware yes\n bridge-vids 2-4094\n bridge-mcsnoop 0\niface bond0 inet manual\n bond-slaves a b\n bond_xmit_hash_policy layer3+4\n bond-lacp-rate fast\niface a.5 inet manual\n vlan-raw-device a\n"}},
	"nm-controller":            {"+", []string{"==> /etc/NetworkManager/system-connections/a.nmconnection\n[connection]\nid=a\nmaster=bond1\n==> /etc/NetworkManager/system-connections/b.nmconnection\n[connection]\nid=b\ninterface-name=bond0\n"}, []string{"==> /etc/NetworkManager/system-connections/a.nmconnection\n[connection]\nid=a\ncontroller=bond0\n==> /etc/NetworkManager/system-connections/b.nmconnection\n[connection]\nid=b\ninterface-name=bond0\n"}},
	"udev-subsystem":           {"/etc/udev/rules.d/1.rules", []string{"ACTION==\"add\", SUBSYSTEM==\"network\", ATTR{mtu}=\"9000\"\n"}, []string{"ACTION==\"add\", SUBSYSTEM==\"net\", ATTR{mtu}=\"9000\"\n"}},
	"tc-parent":                {"/etc/rc.local", []string{"tc class add dev eth0 parent 1:5 classid 1:10 htb rate 100mbit\n"}, []string{"tc class add dev eth0 parent 1: classid 1:1 htb rate 1gbit\ntc class add dev eth0 parent 1:1 classid 1:10 htb rate 100mbit\n"}},
	"nft-hook-word":            {"/etc/nftables.conf", []string{"table inet f {\n chain i {\n  type filter hook inbound priority 0;\n }\n}\n"}, []string{"table inet f {\n chain i {\n  type filter hook input priority 0;\n }\n}\n"}},
	"input-sport":              {"/etc/nftables.conf", []string{"table inet f {\n chain i {\n  type filter hook input priority 0; policy drop;\n  tcp sport 22 accept\n }\n}\n"}, []string{"table inet f {\n chain i {\n  type filter hook input priority 0; policy drop;\n  tcp dport 22 accept\n }\n chain o {\n  type filter hook output priority 0;\n  tcp sport 22 accept\n }\n}\n"}},
	"iptables-port":            {"/etc/iptables/rules.v4", []string{"-A INPUT --dport 443 -j ACCEPT\n"}, []string{"-A INPUT -p tcp -m tcp --dport 443 -j ACCEPT\n-A INPUT -m set --match-set a src -j DROP\n"}},
	"iptables-untracked":       {"/etc/iptables/rules.v4", []string{"*raw\n-A PREROUTING -p udp -m udp --dport 53 -j CT --notrack\nCOMMIT\n*filter\n:INPUT DROP [0:0]\n-A INPUT -p udp -m udp --dport 53 -m conntrack --ctstate NEW -j ACCEPT\nCOMMIT\n"}, []string{"*raw\n-A PREROUTING -p udp -m udp --dport 53 -j CT --notrack\nCOMMIT\n*filter\n:INPUT DROP [0:0]\n-A INPUT -p udp -m udp --dport 53 -j ACCEPT\nCOMMIT\n"}},
	"docker-cidr":              {"/etc/docker/daemon.json", []string{"{\"bip\": \"198.18.0.1\"}\n"}, []string{"{\"bip\": \"198.18.0.1/16\"}\n"}},
	"wg-endpoint":              {"/etc/wireguard/a.conf", []string{"[Peer]\nEndpoint = vpn.example.net\n"}, []string{"[Peer]\nEndpoint = vpn.example.net:51820\n", "[Peer]\nEndpoint = [2001:2::1]:51820\n"}},
}

// filesOf are the files of a text in which each begins with a line of its path.
func filesOf(text string) map[string]string {
	all := map[string]string{}
	for part := range strings.SplitSeq(text, "==> ") {
		file, body, _ := strings.Cut(part, "\n")
		all[file] = body
	}
	return all
}

func TestSlips(t *testing.T) {
	found := func(file, text, name string) int {
		all, _ := SlipsIn(file, text)
		if file == "+" {
			all = SlipsAcross(filesOf(text))
		}
		i := slices.IndexFunc(all, func(p Problem) bool { return p.Message == name })
		if i < 0 {
			return 0
		}
		return all[i].Line
	}
	said, err := os.ReadFile("../../catalogue/rules/remarks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range slips() {
		if strings.Contains(s.name, ":") {
			continue // tells, and finds nothing
		}
		if !strings.Contains(string(said), "\n      "+s.name+":\n") {
			t.Errorf("LR-SLIP has no case %s", s.name)
		}
		c, ok := slipCases[s.name]
		if !ok {
			t.Errorf("%s has no text that shows it", s.name)
		}
		for _, text := range c.wrong {
			if found(c.file, text, s.name) == 0 || found("/etc/other", text, s.name) != 0 {
				t.Errorf("%s is not found in %q, or in another file too", s.name, text)
			}
		}
		for _, text := range c.allowed {
			if line := found(c.file, text, s.name); line != 0 {
				t.Errorf("%s is found in %q, line %d", s.name, text, line)
			}
		}
	}
	if line := found("/etc/network/interfaces", slipCases["bond-hash"].wrong[0], "bond-hash"); line != 3 {
		t.Errorf("line %d, want the wrong one of two, 3", line)
	}
}

// TestSlipsOfCaptures: masking a file's words, as a capture does, brings no slip that the file does not have.
func TestSlipsOfCaptures(t *testing.T) {
	has := func(file, text string) (names []string) {
		all, _ := SlipsIn(file, text)
		for _, p := range all {
			names = append(names, p.Message)
		}
		return names
	}
	for name, c := range slipCases {
		kind := redact.KindOf(c.file, "")
		if kind == "" || c.file == "+" {
			continue // not captured
		}
		for _, text := range slices.Concat(c.wrong, c.allowed) {
			shown, _ := redact.Text(kind, text)
			own := has(c.file, text)
			for _, n := range has(c.file, shown) {
				if !slices.Contains(own, n) {
					t.Errorf("%s: %q has %s as\n%s", name, text, n, shown)
				}
			}
		}
	}
}
