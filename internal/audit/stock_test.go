package audit_test

import "testing"

// Files that several distributions share, rewritten.
const (
	systemdDefaults = "kernel.sysrq = 16\nkernel.core_uses_pid = 1\nnet.ipv4.conf.default.rp_filter = 2\nnet.ipv4.conf.*.rp_filter = 2\n-net.ipv4.conf.all.rp_filter\n" +
		"net.ipv4.conf.default.accept_source_route = 0\nnet.ipv4.conf.*.accept_source_route = 0\n-net.ipv4.conf.all.accept_source_route\n" +
		"net.ipv4.conf.default.promote_secondaries = 1\nnet.ipv4.conf.*.promote_secondaries = 1\n-net.ipv4.conf.all.promote_secondaries\n" +
		"-net.ipv4.ping_group_range = 0 2147483647\n-net.core.default_qdisc = fq_codel\nfs.protected_hardlinks = 1\nfs.protected_symlinks = 1\nfs.protected_regular = 1\nfs.protected_fifos = 1"
	coredump     = "kernel.core_pattern=|/usr/lib/systemd/systemd-coredump %P %u %g %s %t %c %h\nkernel.core_pipe_limit=16\nfs.suid_dumpable=2"
	redhat       = "kernel.sysrq = 16\nkernel.core_uses_pid = 1\nkernel.kptr_restrict = 1\nnet.ipv4.conf.default.rp_filter = 1\nnet.ipv4.conf.*.rp_filter = 1\n-net.ipv4.conf.all.rp_filter\nnet.core.optmem_max = 81920"
	ubuntuPTrace = "kernel.yama.ptrace_scope = 1"
	rpFilters    = "net.ipv4.conf.default.rp_filter=2\nnet.ipv4.conf.all.rp_filter=2"
	privacy      = "net.ipv6.conf.all.use_tempaddr = 2\nnet.ipv6.conf.default.use_tempaddr = 2"
	linkFile     = "[Match]\nOriginalName=*\n[Link]\nNamePolicy=keep kernel database onboard slot path\nAlternativeNamesPolicy=database onboard slot path\nMACAddressPolicy=persistent"
	firewalld    = "install nf_conntrack /usr/sbin/modprobe --ignore-install nf_conntrack $CMDLINE_OPTS && /usr/sbin/sysctl --quiet --pattern 'net[.]netfilter[.]nf_conntrack.*' --system"
	persistent   = "SUBSYSTEM==\"net\", ACTION==\"add\", DRIVERS==\"?*\", ATTR{address}==\"52:54:00:12:34:56\", NAME=\"eth0\""
)

// moreStockHosts are the files that installers and cloud images of distributions leave in /etc,
// which no administrator wrote. Debian 12's are the settings of its packages (procps, systemd, udev,
// kmod, tuned, ufw, grub-common, mdadm, ceph-osd, lxc, lxd and systemd-coredump of bookworm,
// unpacked), without comments; the others follow what the distributions document and publish.
var moreStockHosts = map[string]struct {
	release, role string
	files         map[string]string
}{
	"Debian 11": {"5.10.0-32-amd64", "", map[string]string{
		"/etc/os-release": "ID=debian", "/etc/sysctl.conf": "#kernel.domainname = example.com\n", "/etc/sysctl.d/99-sysctl.conf": "#kernel.domainname = example.com\n", "/etc/sysctl.d/README.sysctl": "Put settings in *.conf.",
		"/usr/lib/sysctl.d/50-pid-max.conf": "kernel.pid_max = 4194304", "/usr/lib/sysctl.d/protect-links.conf": "fs.protected_fifos = 1\nfs.protected_hardlinks = 1\nfs.protected_regular = 2\nfs.protected_symlinks = 1", "/etc/sysctl.d/protect-links.conf": "fs.protected_fifos = 1\nfs.protected_hardlinks = 1\nfs.protected_regular = 2\nfs.protected_symlinks = 1",
		"/etc/default/grub": "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\nGRUB_CMDLINE_LINUX=\"\"", "/etc/default/grub.d/10_cloud.cfg": "GRUB_CMDLINE_LINUX_DEFAULT=\"console=tty0 console=ttyS0,115200 earlyprintk=ttyS0,115200 consoleblank=0\"",
		"/etc/modules": "#", "/etc/network/interfaces": "source-directory /etc/network/interfaces.d\nauto lo\niface lo inet loopback", "/etc/network/interfaces.d/50-cloud-init": "auto lo\niface lo inet loopback\nauto ens5\niface ens5 inet dhcp",
		"/etc/systemd/system/multi-user.target.wants/cron.service": "", "/etc/systemd/network/99-default.link": linkFile,
	}},
	"Debian 12": {"6.1.0-42-amd64", "", map[string]string{
		"/etc/os-release": "ID=debian\nVERSION_ID=\"12\"", "/etc/sysctl.conf": "#kernel.domainname = example.com\n", "/etc/sysctl.d/99-sysctl.conf": "#kernel.domainname = example.com\n", "/etc/sysctl.d/README.sysctl": "Kernel system variables configuration files\n\nFiles found under the /etc/sysctl.d directory that end with .conf are\nparsed within sysctl(8) at boot time.",
		"/usr/lib/sysctl.d/50-pid-max.conf": "kernel.pid_max = 4194304", "/usr/lib/sysctl.d/99-protect-links.conf": "fs.protected_fifos = 1\nfs.protected_hardlinks = 1\nfs.protected_regular = 2\nfs.protected_symlinks = 1",
		"/usr/lib/sysctl.d/50-coredump.conf": "kernel.core_pattern=|/lib/systemd/systemd-coredump %P %u %g %s %t 9223372036854775808 %h %d\nkernel.core_pipe_limit=16\nfs.suid_dumpable=2",
		"/etc/sysctl.d/30-ceph-osd.conf":     "fs.aio-max-nr = 1048576\nkernel.pid_max = 4194304", "/etc/sysctl.d/30-lxc-inotify.conf": "fs.inotify.max_user_instances = 1024", "/etc/sysctl.d/10-lxd-inotify.conf": "fs.inotify.max_user_instances = 1024",
		"/lib/modprobe.d/systemd.conf": "options bonding max_bonds=0\noptions dummy numdummies=0\noptions ifb numifbs=0", "/lib/modprobe.d/aliases.conf": "alias net-pf-3 off\nalias net-pf-6 off", "/lib/modprobe.d/fbdev-blacklist.conf": "blacklist arkfb", "/etc/modprobe.d/mdadm.conf": "options md_mod start_ro=1",
		"/etc/modprobe.d/tuned.conf": "# This file specifies additional parameters to kernel modules added by tuned.", "/etc/ufw/ufw.conf": "ENABLED=yes\nLOGLEVEL=low", "/etc/default/ufw": "IPV6=yes\nIPT_SYSCTL=/etc/ufw/sysctl.conf", "/etc/ufw/sysctl.conf": "net/ipv4/conf/all/accept_redirects=0\nnet/ipv4/conf/default/accept_redirects=0\nnet/ipv6/conf/all/accept_redirects=0",
		"/etc/default/grub": "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\nGRUB_CMDLINE_LINUX=\"\"", "/etc/default/grub.d/init-select.cfg": "# Work around a bug", "/lib/systemd/network/99-default.link": linkFile, "/lib/systemd/system/systemd-sysctl.service": "[Unit]",
	}},
	"Debian 13 cloud": {"6.12.48+deb13-cloud-amd64", "", map[string]string{
		"/etc/os-release": "ID=debian", "/usr/lib/sysctl.d/50-default.conf": systemdDefaults, "/usr/lib/sysctl.d/10-coredump-debian.conf": coredump, "/usr/lib/sysctl.d/50-pid-max.conf": "kernel.pid_max = 4194304",
		"/usr/lib/systemd/system/systemd-sysctl.service": "[Unit]", "/usr/lib/systemd/network/99-default.link": linkFile, "/etc/netplan/90-default.yaml": "network:\n    version: 2\n    ethernets:\n        all-en:\n            match:\n                name: en*\n            dhcp4: true\n            dhcp6: true\n",
		"/etc/default/grub.d/10_cloud.cfg": "GRUB_CMDLINE_LINUX=\"console=tty0 console=ttyS0,115200 earlyprintk=ttyS0,115200 consoleblank=0\"", "/etc/default/grub": "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\nGRUB_CMDLINE_LINUX=\"\"",
	}},
	"Ubuntu 20.04": {"5.4.0-198-generic", "", map[string]string{
		"/etc/os-release": "ID=ubuntu\nID_LIKE=debian", "/etc/sysctl.conf": "#net.ipv4.ip_forward=1", "/etc/sysctl.d/99-sysctl.conf": "#net.ipv4.ip_forward=1", "/etc/sysctl.d/10-console-messages.conf": "kernel.printk = 4 4 1 7", "/etc/sysctl.d/10-ipv6-privacy.conf": privacy,
		"/etc/sysctl.d/10-kernel-hardening.conf": "kernel.kptr_restrict = 1", "/etc/sysctl.d/10-link-restrictions.conf": "fs.protected_hardlinks = 1\nfs.protected_symlinks = 1", "/etc/sysctl.d/10-magic-sysrq.conf": "kernel.sysrq = 176", "/etc/sysctl.d/10-network-security.conf": rpFilters + "\nnet.ipv4.tcp_syncookies=1",
		"/etc/sysctl.d/10-ptrace.conf": ubuntuPTrace, "/etc/sysctl.d/10-zeropage.conf": "vm.mmap_min_addr = 65536", "/usr/lib/sysctl.d/50-default.conf": systemdDefaults, "/etc/sysctl.d/99-cloudimg-ipv6.conf": "net.ipv6.conf.all.use_tempaddr = 0\nnet.ipv6.conf.default.use_tempaddr = 0",
		"/etc/sysctl.d/10-lxd-inotify.conf": "fs.inotify.max_user_instances = 1024", "/etc/modprobe.d/mdadm.conf": "options md_mod start_ro=1", "/etc/modprobe.d/iwlwifi.conf": "remove iwlwifi \\\n(/sbin/lsmod | grep -o -e ^iwlmvm)", "/etc/modprobe.d/blacklist-framebuffer.conf": "blacklist vga16fb",
		"/etc/default/grub": "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet splash\"\nGRUB_CMDLINE_LINUX=\"\"", "/etc/default/grub.d/50-cloudimg-settings.cfg": "GRUB_CMDLINE_LINUX_DEFAULT=\"console=tty1 console=ttyS0\"", "/etc/default/grub.d/init-select.cfg": "# Work around",
		"/etc/systemd/system/multi-user.target.wants/ssh.service": "", "/etc/udev/rules.d/70-snap.core.rules": "SUBSYSTEM==\"usb\", ENV{x}=\"1\"",
	}},
	"Ubuntu 22.04": {"5.15.0-119-generic", "", map[string]string{
		"/etc/os-release": "ID=ubuntu\nID_LIKE=debian", "/etc/sysctl.conf": "#", "/etc/sysctl.d/99-sysctl.conf": "#", "/etc/sysctl.d/10-console-messages.conf": "kernel.printk = 4 4 1 7", "/etc/sysctl.d/10-ipv6-privacy.conf": privacy, "/etc/sysctl.d/10-kernel-hardening.conf": "kernel.kptr_restrict = 1",
		"/etc/sysctl.d/10-magic-sysrq.conf": "kernel.sysrq = 176", "/etc/sysctl.d/10-network-security.conf": rpFilters, "/etc/sysctl.d/10-ptrace.conf": ubuntuPTrace, "/etc/sysctl.d/10-zeropage.conf": "vm.mmap_min_addr = 65536", "/usr/lib/sysctl.d/50-default.conf": systemdDefaults, "/usr/lib/sysctl.d/50-pid-max.conf": "kernel.pid_max = 4194304",
		"/usr/lib/sysctl.d/99-protect-links.conf": "fs.protected_fifos = 1\nfs.protected_hardlinks = 1\nfs.protected_regular = 2\nfs.protected_symlinks = 1", "/etc/netplan/00-installer-config.yaml": "# This is the network config written by 'subiquity'\nnetwork:\n  ethernets:\n    ens3:\n      dhcp4: true\n  version: 2\n",
		"/etc/default/grub": "GRUB_CMDLINE_LINUX_DEFAULT=\"\"\nGRUB_CMDLINE_LINUX=\"\"", "/etc/modprobe.d/amd64-microcode-blacklist.conf": "blacklist microcode", "/etc/systemd/system/multi-user.target.wants/networkd-dispatcher.service": "", "/usr/lib/modprobe.d/systemd.conf": "options bonding max_bonds=0\noptions dummy numdummies=0\noptions ifb numifbs=0",
	}},
	"Ubuntu 26.04": {"7.0.0-10-generic", "", map[string]string{
		"/etc/os-release": "ID=ubuntu\nID_LIKE=debian", "/usr/lib/sysctl.d/50-default.conf": systemdDefaults, "/usr/lib/sysctl.d/55-network-security.conf": rpFilters, "/usr/lib/sysctl.d/55-ptrace.conf": ubuntuPTrace, "/etc/sysctl.d/20-apparmor-donotremove.conf": "kernel.apparmor_restrict_unprivileged_userns = 1",
		"/usr/lib/sysctl.d/55-ipv6-privacy.conf": privacy, "/usr/lib/sysctl.d/55-map-count.conf": "vm.max_map_count=1048576", "/etc/netplan/50-cloud-init.yaml": "network:\n  version: 2\n  ethernets:\n    enp1s0:\n      dhcp4: true\n", "/etc/default/grub": "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet splash\"\nGRUB_CMDLINE_LINUX=\"\"", "/usr/lib/systemd/system/systemd-sysctl.service": "[Unit]",
	}},
	"RHEL 8": {"4.18.0-553.el8_10.x86_64", "", map[string]string{
		"/etc/os-release": "ID=\"rhel\"\nID_LIKE=\"fedora\"", "/etc/sysctl.conf": "# sysctl settings are defined through files in\n", "/etc/sysctl.d/99-sysctl.conf": "# sysctl settings are defined through files in\n", "/usr/lib/sysctl.d/50-default.conf": systemdDefaults, "/usr/lib/sysctl.d/50-coredump.conf": coredump, "/usr/lib/sysctl.d/50-libkcapi-optmem_max.conf": "net.core.optmem_max = 81920", "/usr/lib/sysctl.d/10-default-yama-scope.conf": "kernel.yama.ptrace_scope = 0",
		"/etc/default/grub": "GRUB_CMDLINE_LINUX=\"console=tty0 console=ttyS0,115200n8 no_timer_check net.ifnames=0 crashkernel=auto\"\nGRUB_ENABLE_BLSCFG=true", "/etc/modprobe.d/firewalld-sysctls.conf": firewalld, "/etc/modprobe.d/tuned.conf": "# written by tuned\n", "/etc/modprobe.d/lockd.conf": "# options lockd nlm_timeout=10",
		"/etc/sysconfig/network-scripts/ifcfg-eth0": "BOOTPROTO=dhcp\nDEVICE=eth0\nONBOOT=yes\nTYPE=Ethernet\nUSERCTL=no", "/etc/udev/rules.d/70-persistent-ipoib.rules": "# ACTION==\"add\"", "/etc/systemd/system/multi-user.target.wants/tuned.service": "", "/etc/tuned/active_profile": "virtual-guest",
		"/usr/lib/tuned/virtual-guest/tuned.conf": "[main]\nsummary=guest\ninclude=throughput-performance\n[sysctl]\nvm.dirty_ratio = 30\nvm.swappiness = 30", "/usr/lib/tuned/throughput-performance/tuned.conf": "[cpu]\ngovernor=performance\nenergy_perf_bias=performance\n[disk]\nreadahead=>4096\n[sysctl]\nkernel.sched_min_granularity_ns = 10000000\nkernel.sched_wakeup_granularity_ns = 15000000\nvm.dirty_ratio = 40\nvm.dirty_background_ratio = 10\nvm.swappiness=10",
	}},
	"RHEL 10": {"6.12.0-55.9.1.el10_0.x86_64", "", map[string]string{
		"/etc/os-release": "ID=\"rhel\"\nID_LIKE=\"centos fedora\"", "/etc/sysctl.conf": "# sysctl settings\n", "/etc/sysctl.d/99-sysctl.conf": "# sysctl settings\n", "/usr/lib/sysctl.d/50-redhat.conf": redhat, "/usr/lib/sysctl.d/50-coredump.conf": coredump, "/usr/lib/sysctl.d/10-map-count.conf": "vm.max_map_count=1048576", "/etc/kernel/cmdline": "root=UUID=0 ro console=tty0 console=ttyS0,115200n8 no_timer_check",
		"/etc/default/grub": "GRUB_CMDLINE_LINUX=\"console=tty0 console=ttyS0,115200n8 no_timer_check crashkernel=1G-4G:192M,4G-64G:256M,64G-:512M\"\nGRUB_ENABLE_BLSCFG=true", "/etc/NetworkManager/system-connections/cloud-init-eth0.nmconnection": "[connection]\nid=cloud-init eth0\ntype=ethernet\ninterface-name=eth0\n[ethernet]\n[ipv4]\nmethod=auto", "/etc/systemd/system/multi-user.target.wants/sshd.service": "", "/usr/lib/systemd/network/99-default.link": linkFile,
	}},
	"Fedora 42": {"6.14.0-63.fc42.x86_64", "", map[string]string{
		"/etc/os-release": "ID=fedora", "/etc/sysctl.conf": "# sysctl\n", "/etc/sysctl.d/99-sysctl.conf": "# sysctl\n", "/usr/lib/sysctl.d/50-default.conf": systemdDefaults, "/usr/lib/sysctl.d/50-coredump.conf": coredump, "/usr/lib/sysctl.d/50-pid-max.conf": "kernel.pid_max = 4194304", "/usr/lib/sysctl.d/10-map-count.conf": "vm.max_map_count=1048576", "/usr/lib/sysctl.d/10-default-yama-scope.conf": "kernel.yama.ptrace_scope = 0",
		"/etc/default/grub": "GRUB_CMDLINE_LINUX=\"rd.luks.uuid=luks-0 rhgb quiet\"\nGRUB_ENABLE_BLSCFG=true", "/etc/kernel/cmdline": "root=UUID=0 ro rootflags=subvol=root no_timer_check console=tty1 console=ttyS0,115200n8", "/usr/lib/systemd/network/99-default.link": linkFile, "/etc/modprobe.d/firewalld-sysctls.conf": firewalld, "/etc/systemd/system/multi-user.target.wants/NetworkManager.service": "",
	}},
	"openSUSE Leap 15.6": {"6.4.0-150600.23.65-default", "", map[string]string{
		"/etc/os-release": "ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"", "/etc/sysctl.conf": "####\n# /etc/sysctl.conf is meant for local sysctl settings\n", "/usr/lib/sysctl.d/99-sysctl.conf": "####\n", "/usr/lib/sysctl.d/50-default.conf": "net.ipv4.icmp_echo_ignore_broadcasts = 1\nnet.ipv4.conf.default.rp_filter = 2\nnet.ipv4.conf.default.promote_secondaries = 1\nnet.ipv4.conf.all.promote_secondaries = 1\nnet.ipv6.conf.default.use_tempaddr = 1\nnet.ipv4.ping_group_range = 0 2147483647\nfs.inotify.max_user_watches = 65536\nkernel.sysrq = 184\nfs.protected_hardlinks = 1\nfs.protected_symlinks = 1\nkernel.kptr_restrict = 1",
		"/usr/lib/sysctl.d/51-network.conf": "net.ipv4.conf.all.accept_redirects = 0\nnet.ipv4.conf.default.accept_redirects = 0\nnet.ipv4.conf.all.accept_source_route = 0\nnet.ipv4.conf.default.accept_source_route = 0\nnet.ipv6.conf.all.accept_redirects = 0\nnet.ipv6.conf.default.accept_redirects = 0", "/etc/sysctl.d/70-yast.conf": "net.ipv4.ip_forward = 0\nnet.ipv6.conf.all.forwarding = 0\nnet.ipv6.conf.all.disable_ipv6 = 0",
		"/etc/default/grub": "GRUB_CMDLINE_LINUX_DEFAULT=\"splash=silent mitigations=auto quiet security=apparmor\"\nGRUB_CMDLINE_LINUX=\"\"", "/etc/modprobe.d/50-blacklist.conf": "blacklist usbkbd", "/etc/modprobe.d/99-local.conf": "# local", "/etc/udev/rules.d/70-persistent-net.rules": persistent, "/etc/systemd/system/multi-user.target.wants/wicked.service": "",
	}},
	"Arch": {"6.17.8-arch1-1", "", map[string]string{
		"/etc/os-release": "ID=arch", "/usr/lib/sysctl.d/50-default.conf": systemdDefaults, "/usr/lib/sysctl.d/50-coredump.conf": coredump, "/usr/lib/sysctl.d/10-arch.conf": "fs.inotify.max_user_instances = 1024\nfs.inotify.max_user_watches = 524288\nvm.max_map_count = 1048576", "/etc/default/grub": "GRUB_CMDLINE_LINUX_DEFAULT=\"loglevel=3 quiet\"\nGRUB_CMDLINE_LINUX=\"\"",
		"/usr/lib/systemd/network/99-default.link": linkFile, "/etc/systemd/network/20-ethernet.network": "[Match]\nName=en*\nName=eth*\n[Link]\nRequiredForOnline=routable\n[Network]\nDHCP=yes\nMulticastDNS=yes\n[DHCPv4]\nRouteMetric=100", "/usr/lib/systemd/system/systemd-sysctl.service": "[Unit]", "/usr/lib/modprobe.d/systemd.conf": "options bonding max_bonds=0\noptions dummy numdummies=0",
	}},
	"Alpine 3.22": {"6.12.38-0-lts", "", map[string]string{
		"/etc/os-release": "ID=alpine", "/etc/sysctl.conf": "# content of this file will override /etc/sysctl.d/*\n", "/etc/sysctl.d/README": "Local sysctl files.", "/usr/lib/sysctl.d/00-alpine.conf": "net.ipv4.tcp_syncookies = 1\nnet.ipv4.conf.default.rp_filter = 1\nnet.ipv4.conf.all.rp_filter = 1\nnet.ipv4.ping_group_range=999 59999\nkernel.unprivileged_bpf_disabled = 1\nkernel.kexec_load_disabled = 1\nfs.protected_hardlinks = 1\nfs.protected_symlinks = 1\nkernel.panic = 120",
		"/etc/modprobe.d/aliases.conf": "alias net-pf-10 ipv6", "/etc/modprobe.d/blacklist.conf": "blacklist e100", "/etc/modprobe.d/i386.conf": "alias parport_lowlevel parport_pc", "/etc/modules": "af_packet\nipv6", "/etc/network/interfaces": "auto lo\niface lo inet loopback\n\nauto eth0\niface eth0 inet dhcp", "/etc/default/grub": "GRUB_CMDLINE_LINUX_DEFAULT=\"modules=sd-mod,usb-storage,ext4 quiet rootfstype=ext4\"",
	}},
	"Alpine 3.15": {"5.15.16-0-lts", "", map[string]string{
		"/etc/os-release": "ID=alpine", "/etc/sysctl.conf": "# content of this file will override /etc/sysctl.d/*\n", "/etc/sysctl.d/00-alpine.conf": "net.ipv4.ip_forward = 0\nnet.ipv4.tcp_syncookies = 1\nnet.ipv4.conf.default.rp_filter = 1\nnet.ipv4.conf.all.rp_filter = 1\nkernel.panic = 120\nnet.ipv4.ping_group_range=999 59999\nkernel.unprivileged_bpf_disabled = 1",
	}},
	"OpenWrt 24.10": {"6.6.73", "router", map[string]string{
		"/etc/os-release": "ID=\"openwrt\"\nID_LIKE=\"lede openwrt\"", "/etc/sysctl.conf": "# Defaults are configured in /etc/sysctl.d/* and can be changed in this file\n",
		"/etc/sysctl.d/10-default.conf":      "kernel.panic=3\nkernel.core_pattern=/tmp/%e.%t.%p.%s.core\nfs.suid_dumpable=2\nnet.ipv4.conf.default.arp_ignore=1\nnet.ipv4.conf.all.arp_ignore=1\nnet.ipv4.ip_forward=1\nnet.ipv4.icmp_echo_ignore_broadcasts=1\nnet.ipv4.icmp_ignore_bogus_error_responses=1\nnet.ipv4.igmp_max_memberships=100\nnet.ipv4.tcp_fin_timeout=30\nnet.ipv4.tcp_keepalive_time=120\nnet.ipv4.tcp_syncookies=1\nnet.ipv4.tcp_timestamps=1\nnet.ipv4.tcp_sack=1\nnet.ipv4.tcp_dsack=1\nnet.ipv6.conf.default.forwarding=1\nnet.ipv6.conf.all.forwarding=1",
		"/etc/sysctl.d/11-nf-conntrack.conf": "net.netfilter.nf_conntrack_acct=1\nnet.netfilter.nf_conntrack_checksum=0\nnet.netfilter.nf_conntrack_tcp_max_retrans=5\nnet.netfilter.nf_conntrack_tcp_timeout_established=7440\nnet.netfilter.nf_conntrack_udp_timeout=60\nnet.netfilter.nf_conntrack_udp_timeout_stream=180",
		"/etc/sysctl.d/11-br-netfilter.conf": "net.bridge.bridge-nf-call-arptables=0\nnet.bridge.bridge-nf-call-ip6tables=0\nnet.bridge.bridge-nf-call-iptables=0",
		"/etc/sysctl.d/12-tcp-bbr.conf":      "net.ipv4.tcp_congestion_control=bbr\nnet.core.default_qdisc=fq",
		"/etc/modules.d/nf-conntrack":        "nf_conntrack",
	}},
	"Proxmox VE 8": {"6.8.12-4-pve", "", map[string]string{
		"/etc/os-release": "ID=debian", "/etc/sysctl.conf": "#", "/etc/sysctl.d/99-sysctl.conf": "#", "/etc/sysctl.d/pve.conf": "net.bridge.bridge-nf-call-ip6tables = 0\nnet.bridge.bridge-nf-call-iptables = 0\nnet.bridge.bridge-nf-call-arptables = 0\nnet.bridge.bridge-nf-filter-vlan-tagged = 0\nfs.aio-max-nr = 1048576",
		"/etc/default/grub": "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\nGRUB_CMDLINE_LINUX=\"\"", "/etc/modprobe.d/pve-blacklist.conf": "blacklist nvidiafb", "/etc/network/interfaces": "auto lo\niface lo inet loopback\niface eno1 inet manual\nauto vmbr0\niface vmbr0 inet static\n\taddress 198.18.0.2/24\n\tbridge-ports eno1\n\tbridge-stp off\n\tbridge-fd 0", "/etc/systemd/system/multi-user.target.wants/pveproxy.service": "",
	}},
	"Google's image": {"5.10.0-32-cloud-amd64", "", map[string]string{
		"/etc/os-release": "ID=debian", "/etc/sysctl.d/60-gce-network-security.conf": "net.ipv4.tcp_syncookies=1\nnet.ipv4.conf.all.accept_source_route=0\nnet.ipv4.conf.default.accept_source_route=0\nnet.ipv4.conf.all.accept_redirects=0\nnet.ipv4.conf.default.accept_redirects=0\nnet.ipv4.conf.all.secure_redirects=1\nnet.ipv4.conf.default.secure_redirects=1\nnet.ipv4.ip_forward=0\nnet.ipv4.conf.all.send_redirects=0\nnet.ipv4.conf.default.send_redirects=0\nnet.ipv4.conf.all.rp_filter=1\nnet.ipv4.conf.default.rp_filter=1\nnet.ipv4.icmp_echo_ignore_broadcasts=1\nnet.ipv4.icmp_ignore_bogus_error_responses=1\nnet.ipv4.conf.all.log_martians=1\nnet.ipv4.conf.default.log_martians=1\nkernel.randomize_va_space=2\nkernel.panic=10",
	}},
	"Amazon Linux 2023": {"6.1.112-122.189.amzn2023.x86_64", "", map[string]string{
		"/etc/os-release": "ID=\"amzn\"\nID_LIKE=\"fedora\"", "/etc/sysctl.d/99-sysctl.conf": "#", "/etc/sysctl.conf": "#", "/usr/lib/sysctl.d/50-default.conf": systemdDefaults, "/usr/lib/sysctl.d/00-defaults.conf": "kernel.printk = 8 4 1 7\nkernel.panic = 5\nnet.ipv4.neigh.default.gc_thresh1 = 0\nnet.ipv6.neigh.default.gc_thresh1 = 0\nnet.ipv4.neigh.default.gc_thresh2 = 15360\nnet.ipv6.neigh.default.gc_thresh2 = 15360\nnet.ipv4.neigh.default.gc_thresh3 = 16384\nnet.ipv6.neigh.default.gc_thresh3 = 16384\nnet.ipv4.tcp_wmem = 4096 20480 4194304\nnet.ipv4.ip_default_ttl = 127",
		"/etc/default/grub": "GRUB_CMDLINE_LINUX_DEFAULT=\"console=tty0 console=ttyS0,115200n8 nvme_core.io_timeout=4294967295 rd.emergency=poweroff rd.shell=0 selinux=1 security=selinux quiet\"\nGRUB_CMDLINE_LINUX=\"\"", "/etc/systemd/system/multi-user.target.wants/sshd.service": "",
	}},
}

// TestStockDistributionsAreWell: the audit reports nothing on a freshly installed distribution.
func TestStockDistributionsAreWell(t *testing.T) {
	for name, h := range moreStockHosts {
		t.Run(name, func(t *testing.T) {
			role := h.role
			if role == "" {
				role = "endpoint"
			}
			for _, f := range run(t, tree(t, h.release, h.files), role).Findings {
				t.Errorf("%s %s (%s) %s:%d: %s", f.Severity, f.ID, f.Text, f.File, f.Line, f.Message)
			}
		})
	}
}

// TestAdminsFilesAreJudged: a file name that OpenWrt uses for its own files is an administrator's
// file on other systems.
func TestAdminsFilesAreJudged(t *testing.T) {
	files := map[string]string{"/etc/sysctl.d/11-nf-conntrack.conf": "net.netfilter.nf_conntrack_checksum=0\n", "/etc/os-release": "ID=debian"}
	if r := run(t, tree(t, "6.12", files), "router"); len(find(r, "LR-ORDER", "net.netfilter.nf_conntrack_checksum")) != 1 {
		t.Errorf("an administrator's line is treated as the distribution's: %v", r.Findings)
	}
	files["/etc/os-release"] = "ID=\"openwrt\""
	if r := run(t, tree(t, "6.12", files), "router"); len(r.Findings) > 0 {
		t.Errorf("OpenWrt's own line is judged: %v", r.Findings)
	}
}
