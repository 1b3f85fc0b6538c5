package redact

import (
	_ "embed" // the catalogue's words
	"strings"
)

// The sets of words. A rule that names one holds for its words only.
const (
	setWord    = "word"    // values: choices, algorithms, options
	setPlain   = "plain"   // words that stay in any place
	setBoot    = "boot"    // parameters of a Linux kernel
	setParam   = "param"   // parameters of its modules
	setModule  = "module"  // modules of a Linux kernel
	setRC      = "rc"      // variables of rc.conf
	setLoader  = "loader"  // variables of loader.conf that are no kernel's
	setSystemd = "systemd" // keys of systemd's files
	setShell   = "shell"   // sh's own words
)

// catalogueWords are the names and choices of the catalogue, a set and a word
// a line. A test of the catalogue holds them to it, and its -update writes them.
//
//go:embed words.txt
var catalogueWords string

// Known reports whether a set holds a word.
func Known(set, word string) bool {
	_, ok := compiled().words[set+" "+word]
	return ok
}

// ownWords are those that the catalogue does not have.
var ownWords = map[string]string{
	setPlain: Mark + " yes no on off true false none auto Yes No YES NO ON OFF True False TRUE FALSE NONE AUTO",
	setShell: "if then elif else fi case esac in for while until do done { } ! : export unset return exit local [ ] [[ ]] test",
	setBoot: "BOOT_IMAGE root ro rw quiet splash console resume initrd init single nomodeset text nofb noefi rd.shell ipv6.disable debug noresume " +
		"net.ifnames biosdevname nosmt maxcpus nr_cpus mem memmap hugepagesz hugepages default_hugepagesz crashkernel earlyprintk panic elevator selinux apparmor audit ds " +
		"rootflags rootfstype rootdelay rootwait fsck.mode swapaccount cgroup_enable systemd.unified_cgroup_hierarchy vga video loglevel acpi apic lapic noapic nolapic",
	setModule: "8021q bonding team dummy veth tun tap vxlan geneve gre ipip sit macvlan ipvlan overlay br_netfilter bridge wireguard loop zfs btrfs xfs fuse cifs nfs nfsd sunrpc lp ppdev parport_pc softdog msr cpuid kvm kvm_intel kvm_amd vfio vfio_pci vfio-pci " +
		"uinput nbd drbd rbd ceph iscsi_tcp target_core_mod coretemp nct6775 it87 w83627ehf e1000 e1000e igb igc ixgbe ixgbevf i40e iavf ice mlx4_core mlx5_core bnxt_en bnx2x tg3 r8169 cxgb4 ena gve vmxnet3 hv_netvsc ifb pktgen netconsole netem tls af_packet af_key algif_skcipher " +
		"ip_tables ip6_tables ip_vs ip_vs_rr ip_vs_wrr ip_vs_lc ip_vs_sh ip_set nfnetlink nfnetlink_queue nfnetlink_log sctp dccp mptcp tipc xfrm_user esp4 esp6 ah4 ah6 tcp_bbr tcp_htcp",
	setLoader: "autoboot_delay beastie_disable loader_logo loader_brand loader_color loader_menu loader_delay boot_multicons boot_serial boot_verbose boot_single boot_mute boot_ddb console comconsole_speed " +
		"comconsole_port efi_max_resolution screen.font vm.kmem_size nextboot_enable cpu_microcode_name init_path rootdev currdev opensolaris_load zfs_load verbose_loading nfs.nfs_privport boot_dfltroot prompt_timeout",
	setRC: "gateway_enable ipv6_gateway_enable harvest_mask powerd_flags performance_cx_lowest performance_cpu_freq economy_cx_lowest economy_cpu_freq " +
		"dumpdev background_fsck savecore_flags mixer_enable nfs_server_flags nfsd_flags sshd_flags powerdxx_flags icmp_bmcastecho icmp_drop_redirect icmp_log_redirect tcp_drop_synfin tcp_extensions tcp_keepalive " +
		"tcp_extentions ip_portrange_first ip_portrange_last log_in_vain static_arp_pairs firewall_nat_enable firewall_nat_interface firewall_nat_flags firewall_logging firewall_quiet natd_interface pf_flags pflog_flags pfsync_syncdev " +
		"pfsync_ifconfig dummynet_enable ipfw_netflow_enable kern_securelevel entropy_save_sz update_motd clear_tmp_X sendmail_submit_enable sendmail_outbound_enable sendmail_msp_queue_enable rcshutdown_timeout " +
		"allscreens_flags moused_type defaultrouter_fib0 synchronous_dhclient",
	setWord: Mark + " yes no true false automatic always never madvise defer strict loose inherit only permit ask enabled disabled enable disable default standard simple deferrable direct hybrid dispatch " +
		// Congestion control, queues, governors, clocks.
		"cubic reno newreno bbr bbr2 bbr3 htcp vegas westwood hybla illinois scalable yeah veno lp nv dctcp cdg chd dcqcn bic highspeed hd " +
		"fq fq_codel fq_pie codel pie pfifo pfifo_fast bfifo cake sfq htb hfsc tbf prio mq mqprio noqueue ingress red sfb etf taprio netem drr qfq " +
		"performance powersave ondemand conservative schedutil userspace passive active guided pt lazy tsc hpet acpi_pm kvm-clock none mq-deadline kyber bfq deadline noop cfq nohz full auto,nosmt nosmt force on,nosmt " +
		"freebsd rack bbr_stack sw hw mixed high low C1 C2 C3 C4 Cmax HIGH LOW NONE C1E " +
		// Words of rc.conf and of ifconfig(8).
		"DHCP dhcp SYNCDHCP NOSYNCDHCP metric autoconf hadp hiadaptive adaptive minimum maximum S1 S2 S3 S4 S5 WPA HOSTAP NOAUTO POLICY open client simple workstation closed UNKNOWN AUTO NO YES inet inet6 ether link up down alias delete netmask prefixlen broadcast mtu media mediaopt mode autoselect " +
		"full-duplex half-duplex 10baset/utp 100basetx 1000baset 10gbase-t rxcsum txcsum rxcsum6 txcsum6 tso tso4 tso6 lro polling vlanhwtag vlanhwtso vlanhwcsum vlanhwfilter vlanmtu vlanhwfilter toe wol wol_magic wol_mcast wol_ucast " +
		"txrtlmt mextpg netcons promisc txtls rxtls -rxcsum -txcsum -rxcsum6 -txcsum6 -tso -tso4 -tso6 -lro -polling -vlanhwtag -vlanhwtso -vlanhwcsum -vlanhwfilter -vlanmtu -toe -wol -txrtlmt -mextpg -promisc -txtls -rxtls -arp arp " +
		"-alias monitor -monitor create vlan vlandev vlanpcp lagghash laggproto laggport l2 l3 l4 l2,l3,l4 lacp failover loadbalance roundrobin broadcast addm deletem stp -stp edge ptp span maxaddr timeout vhid advskew advbase carpdev state master backup pass " +
		"accept_rtadv -accept_rtadv no_radr auto_linklocal -auto_linklocal ifdisabled -ifdisabled -nud nud tunnel tunnelfib fib group key -grekey rxpause txpause flow-control flowid use_flowid -use_flowid flowid_shift lacp_strict lacp_fast_timeout regdomain country ssid " +
		"wlanmode wlandev hostap sta adhoc channel authmode wpa wepmode weptxkey wepkey wpakey psk jumbo " +
		// Interfaces that every system has.
		"lo lo0 lo1 egress self all any me me6 " +
		// Options of ethtool(8) and its values.
		"rx tx sg gso gro ufo tso lro rxvlan txvlan ntuple rxhash rx-jumbo rx-mini combined other autoneg adaptive-rx adaptive-tx rx-usecs tx-usecs rx-frames tx-frames rx-usecs-irq tx-usecs-irq rx-usecs-low tx-usecs-low rx-frames-irq tx-frames-irq " +
		"stats-block-usecs duplex half speed advertise wol g d p u m b a s equal weight hfunc toeplitz xor context flow-type tcp4 udp4 tcp6 udp6 rx-flow-hash sdfn sdf " +
		// File systems and their options.
		"tmpfs proc procfs sysfs devpts devtmpfs cgroup cgroup2 debugfs tracefs securityfs pstore bpf mqueue hugetlbfs fusectl configfs overlay linprocfs linsysfs fdesc fdescfs devfs nullfs zfs ufs ffs ext2 ext3 ext4 xfs btrfs vfat msdosfs iso9660 cd9660 udf nfs nfs4 nfsv4 smbfs cifs swap none defaults ro rw rq noatime " +
		"atime relatime norelatime strictatime lazytime nodiratime async sync dirsync dev nodev exec noexec suid nosuid auto noauto nofail late failok user nouser users _netdev discard nodiscard barrier nobarrier hard soft intr nointr tcp udp vers nolock " +
		"noacl acl user_xattr usrquota grpquota quota noquota userquota groupquota softupdates soft-updates journaled journal ordered writeback multilabel snapshot local union noclusterr noclusterw nosymfollow linrdlnk remount bind rbind errors=remount-ro nconnect inode64 " +
		"logbufs largeio seclabel x-systemd.automount x-systemd.growfs xx sw nfsv3 nfsv4acls " +
		// pf.conf(5) and what pfctl(8) prints of it.
		"pass block match antispoof anchor nat-anchor rdr-anchor binat-anchor scrub-anchor table scrub nat rdr binat no load set in out quick log to from on proto inet inet6 port keep modulate synproxy state flags tcp udp icmp icmp6 ipv6-icmp esp ah gre carp pfsync igmp ospf sctp route-to reply-to dup-to fastroute divert-to divert-reply nat-to rdr-to binat-to af-to " +
		"rtable tag tagged queue priq cbq hfsc fairq codel altq bandwidth priority qlimit parent default borrow ecn rio red limit states src-nodes frags tables table-entries anchors timeout interval frag optimization ruleset-optimization block-policy fail-policy drop return return-rst return-icmp return-icmp6 state-policy if-bound floating " +
		"skip fingerprints debug hostid loginterface require-order reassemble fragment crop drop-ovl max-mss no-df random-id min-ttl set-tos tos dscp ttl allow-opts first probability user group received-on rule label persist const counters file self any all urpf-failed static-port bitmask random source-hash round-robin sticky-address overload flush global " +
		"max max-src-nodes max-src-states max-src-conn max-src-conn-rate source-track adaptive.start adaptive.end src.track sloppy pflow no-sync dynamic basic profile aggressive normal high-latency satellite conservative urgent misc loud none os unknown echoreq unreach squench redir S/SA SA/SA S/SAFR A/A SA S F R A P U E W code icmp-type icmp6-type eq ne le ge gt lt " +
		"tcp.first tcp.opening tcp.established tcp.closing tcp.finwait tcp.closed tcp.tsdiff sctp.first sctp.opening sctp.established sctp.closing sctp.closed udp.first udp.single udp.multiple icmp.first icmp.error other.first other.single other.multiple network broadcast peer port prio ridentifier syncookies always never adaptive start end adaptive(start binat and or not " +
		"ssh http https domain www smtp ntp imap imaps pop3 pop3s bootps bootpc snmp syslog ftp " +
		// ipfw(8), nft(8), iptables(8).
		"ipfw add delete flush pipe sched config nat table deny allow accept permit reject unreach reset reset6 count skipto fwd forward divert tee netgraph ngtee setfib call return check-state keep-state record-state limit set-limit set-options setup established frag ip ip4 ip6 ipv4 ipv6 icmptypes icmp6types via recv xmit if out in src-addr dst-addr src-ip dst-ip src-port dst-port " +
		"dst-ip6 src-ip6 me6 log logamount prob layer2 mac ipoptions tcpflags tcpoptions verrevpath versrcreach antispoof uid gid jail diverted diverted-loopback natd bw delay plr burst buckets mask flow flow_mask sched_mask noerror same_ports unreg_only unreg_cgn reverse proxy_only skip_global redirect_addr redirect_port redirect_proto deny_in deny_incoming global tablearg queue weight type wf2q+ rr " +
		"src-state dst-host src-host Kbit/s Mbit/s Gbit/s create info lookup valtype number create-if addr iface reass ruleset chain hook priority policy filter raw mangle security srcnat dstnat input output prerouting postrouting forward ct state status new related invalid untracked established, related, new, mark zone helper meta iif iifname oif oifname l4proto nfproto saddr daddr sport dport dnat snat " +
		"masquerade redirect jump goto continue notrack synproxy flags offload flowtable devices elements interval timeout size typeof counter packets bytes limit rate over second minute hour day vmap map th numgen jhash mod fib queue dup tproxy socket wildcard dnat/snat persistent fully-random " +
		"ACCEPT DROP REJECT RETURN LOG NFLOG MARK CONNMARK CT NOTRACK TCPMSS MASQUERADE SNAT DNAT REDIRECT SET INPUT OUTPUT FORWARD PREROUTING POSTROUTING *filter *nat *mangle *raw *security COMMIT conntrack tcp udp icmp multiport addrtype recent hashlimit connlimit connmark physdev ctstate ctstatus limit NEW RELATED ESTABLISHED INVALID UNTRACKED NEW,RELATED RELATED,ESTABLISHED ESTABLISHED,RELATED NEW,ESTABLISHED " +
		"NEW,RELATED,ESTABLISHED INVALID,NEW SYN,RST SYN,ACK FIN,SYN,RST,ACK FIN SYN RST ACK LOCAL BROADCAST MULTICAST --ctstate --state --clamp-mss-to-pmtu tcp-reset icmp-port-unreachable LIBVIRT_PRT Chain policy pkts target prot opt source destination anywhere references -- opnsense pfsense fbsd fbsdbw beastie orb " +
		// Daemons' directives, and what fixed texts of /proc and /sys hold.
		"listen accept_filter httpready dataready backlog reuseport fastopen rcvbuf sndbuf so_keepalive ipv6only ssl http2 quic default_server deferred bind sendfile sendfile_max_chunk worker_processes worker_connections aio threads Listen AcceptFilter ListenBacklog EnableSendfile http https tcp-listen-queue " +
		"N Y n y (null) sec usec",
}

// allWords are all sets, each word behind its set and a blank.
func allWords() []string {
	all := strings.Split(strings.TrimSpace(catalogueWords), "\n")
	for _, set := range []string{setWord, setPlain, setBoot, setParam, setModule, setRC, setLoader, setSystemd, setShell} {
		for _, w := range strings.Fields(ownWords[set]) {
			all = append(all, set+" "+w)
		}
	}
	return all
}
