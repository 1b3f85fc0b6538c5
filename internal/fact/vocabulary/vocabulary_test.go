package vocabulary

import (
	"fmt"
	"strings"
	"testing"

	"linerate/internal/fact"
)

// cases has for each format texts with a mistake, "TEXT|LINE WORDS OF THE MESSAGE", and texts without.
var cases = map[string]struct {
	file         string
	wrong, right []string
}{
	"swanctl": {"/etc/swanctl/swanctl.conf", []string{
		"connections {\n  a {\n    mtu = 1400\n  }\n}\n|3 mtu is not known in connections/*",
		"connections {\n  a {\n    fragmentation = maybe\n  }\n}\n|3 fragmentation takes yes, no, accept or force",
		"connections {\n  a {\n    proposals = aes256-sha256-modp2049\n  }\n}\n|3 proposals takes a list of proposals",
		"connections {\n  a {\n    children {\n      b {\n        dpd_delay = 30\n      }\n    }\n  }\n}\n|5 dpd_delay does not belong in connections/*/children/* but in connections/*",
		"connections {\n  a {\n    children {\n      b {\n        rekey_time = 2h\n        life_time = 1h\n      }\n    }\n  }\n}\n|5 swan-lifetime",
		"connections {\n  a {\n    dpd_delay = 5m\n    dpd_timeout = 60s\n  }\n}\n|3 swan-dpd",
	}, []string{"include conf.d/*.conf\nconnections {\n  a : b {\n    version=2\n    proposals = aes128gcm16-prfsha256-ke1_mlkem768-x25519, default\n    local-1 {\n      auth = eap-tls\n      id = a.example\n    }\n    remote {\n      cacert = x.pem\n    }\n    children {\n      net {\n        local_ts = 198.18.0.0/24, 198.18.1.0/24\n        start_action = trap|start\n        rekey_time = 1h\n      }\n    }\n  }\n}\nsecrets {\n  ike-a {\n    secret = \"x = {y}\"\n  }\n}\npools {\n  p {\n    addrs = 198.18.9.0/24\n    dns = 198.18.0.1\n  }\n}\n"}},
	"ipsec":      {"/etc/ipsec.conf", []string{"conn a\n  leftsubnett=198.18.0.0/24\n|2 leftsubnett is not known in conn: did you mean leftsubnet?", "conn a\n  dpdacton=restart\n|2 dpdacton is not known in conn: did you mean dpdaction?"}, []string{"version 2.0\nconfig setup\n  charondebug=\"ike 1\"\n  virtual_private=%v4:198.18.0.0/15\nconn %default\n  keyexchange=ikev2\n  x-note=a\nconn a\n  also=b\n  left-id=@a\n  rightsubnet=198.18.0.0/24\n  ikev2=insist\ninclude /etc/ipsec.d/*.conf\n"}},
	"hostapd":    {"/etc/hostapd/hostapd.conf", []string{"ssdi=a\n|1 ssdi is not known in the main part of the file: did you mean ssid?", "hw_mode=n\n|1 hw_mode takes a, b, g", "wpa_key_mgmt=WPA2-PSK\n|1 wpa_key_mgmt takes WPA-PSK", "wpa=4\n|1 wpa takes 0 to 3"}, []string{"# a\ninterface=a\nssid=b c\nhw_mode=g\nwpa=2\nwpa_key_mgmt=WPA-PSK SAE\nrsn_pairwise=CCMP\nwmm_ac_bk_cwmin=4\nrts_threshold=-1\nvendor_elements=dd\n"}},
	"tuned":      {"/etc/tuned/a/tuned.conf", []string{"[cpu]\ngovernr=performance\n|2 governr is not known in [cpu]: did you mean governor?", "[vm]\ngovernor=performance\n|2 governor does not belong in [vm] but in [cpu]"}, []string{"[main]\nsummary=a\n[variables]\nx=1\n[cpu]\ngovernor=performance\nforce_latency=cstate.id:1|3\n[mine]\ntype=net\nrx=4\n[sysctl]\nnet.core.somaxconn=1\n[bootloader]\ncmdline_a=b\n[scheduler]\ngroup.x=0:f:2:*:y\nruntime=0\n"}},
	"bird":       {"/etc/bird/bird.conf", []string{"protocol static s {\n  ipv4;\n}\nprotocol bgp s from t {\n}\n|4 bird-name", "ipv4 table a;\ntable b;\ntable b;\n|3 bird-table"}, []string{"/* protocol bgp s { } */\nprotocol kernel {\n  ipv4 { export all; };\n}\nprotocol kernel {\n  ipv6;\n}\nprotocol device { }\nprotocol bgp a { local as 1; }\nfilter f { if proto = \"a\" then accept; }\n"}},
	"interfaces": {"/etc/network/interfaces", []string{"iface a inet static\n  adress 198.18.0.2/24\n|2 adress is not known in iface: did you mean address?", "iface a inet static\n  address 198.18.0.2/24\n  post_up ip link\n|3 post_up is not known in iface: did you mean post-up?", "iface a inet6 auto\n  accept_ra 3\n|2 accept_ra takes 0 to 2"}, []string{"auto a b\nallow-hotplug c\nsource /etc/network/interfaces.d/*\nmapping a\n  script b\niface c inet manual\n  clag-id 1\n  bond-xmit_hash_policy layer2\n  bridge-mclmc 3\n  % endfor\niface a inet static inherits c\n  address 198.18.0.2/24\n  mine x\n  up ip link set $IFACE up # y\niface b inet6 auto\n  accept_ra 2\nno-auto-down b\n"}}, //nolint:misspell // a mistake on purpose
	"wireguard": {"/etc/wireguard/a.conf", []string{
		"[Peer]\nPublicKey = a=\n[Peer]\nPublicKey = a=\n|4 wg-peer",
		"[Peer]\nAllowedIPs = 198.18.0.2/24\n[Peer]\nAllowedIPs = 198.18.0.3/24\n|4 wg-allowed",
	}, []string{"[Interface]\nAddress = 198.18.0.1/24\n[Peer]\nPublicKey = a=\nAllowedIPs = 198.18.0.2/32, 198.18.2.0/24\n[Peer]\nPublicKey = b=\nAllowedIPs = 198.18.0.3/32, 198.18.2.9/32\n"}},
	"dhcpd": {"/etc/dhcp/dhcpd.conf", []string{
		"option foo bar;\n|1 option takes an option of dhcp-options(5)",
		"option domain-name-servers 198.18.0.1 198.18.0.2;\n|1 option takes",
		"subnet 198.18.0.0 netmask 255.255.255.0 {\n  rnage 198.18.0.5 198.18.0.9;\n}\n|2 rnage is not known in subnet: did you mean range?",
		"ddns-update-style adhoc;\n|1 ddns-update-style takes none",
		"subnet 198.18.0.0 netmask 255.255.255.0 {\n  pool { range 198.18.0.5 198.18.1.9; }\n}\n|2 dhcp-range",
		"subnet 198.18.0.0 netmask 255.255.255.0 {\n  option routers 198.18.1.1;\n}\n|2 dhcp-routers",
		"subnet 198.18.0.0 netmask 255.255.255.0 {\n  range 198.18.0.5 198.18.0.50;\n  range 198.18.0.40 198.18.0.60;\n}\n|3 dhcp-overlap",
		"subnet 198.18.0.0 netmask 255.255.255.0 {\n}\nsubnet 198.18.0.128 netmask 255.255.255.128 {\n}\n|3 dhcp-overlap",
		"subnet 198.18.0.0 netmask 255.255.255.0 {\n  range 198.18.0.5 198.18.0.50;\n}\nhost a {\n  hardware ethernet 02:00:00:00:00:01;\n  fixed-address 198.18.0.7;\n}\n|6 dhcp-fixed",
		"default-lease-time 7200;\nmax-lease-time 600;\n|1 dhcp-lease",
		"subnet6 2001:2::/64 {\n  range6 2001:2:0:1::10 2001:2:0:1::20;\n}\n|2 dhcp-range",
	}, []string{
		"authoritative;\noption space a;\noption a.b code 1 = text;\noption c code 150 = ip-address;\noption c 198.18.0.1;\ndefault-lease-time 600;\nmax-lease-time 7200;\nclass \"x\" {\n match if option vendor-class-identifier = \"a\";\n log(info, \"b\");\n}\nzone a.example. { primary 127.0.0.1; key k; }\n",
		"shared-network s {\n  option routers 198.18.1.1;\n  subnet 198.18.0.0 netmask 255.255.255.0 { option routers 198.18.1.1; range 198.18.0.5 198.18.0.9; }\n  subnet 198.18.1.0 netmask 255.255.255.0 { }\n}\nhost a { fixed-address a.example.net; }\n",
		"subnet 198.18.0.0 netmask 255.255.255.0 {\n  range dynamic-bootp 198.18.0.5;\n  option routers 198.18.0.1, 198.18.0.2;\n  if exists user-class { filename \"a\"; } elsif known { filename \"b\"; } else { next-server 198.18.0.1; }\n}\n",
	}},
	"kea-dhcp4": {"/etc/kea/kea-dhcp4.conf", []string{
		"{\"Dhcp4\": {\n\"lease-databse\": {}}}\n|2 lease-databse is not known in Dhcp4: did you mean lease-database?",
		"{\"Dhcp4\": {\"subnet4\": [ { \"subnet\": \"198.18.0.0/24\",\n\"pools\": [{\"pool\": \"198.18.0.5 - 198.18.1.9\"}]}]}}\n|2 dhcp-range",
		"{\"Dhcp4\": {\"subnet4\": [ { \"subnet\": \"198.18.0.0/24\",\n\"option-data\": [{\"name\": \"routers\", \"data\": \"198.18.1.1\"}]}]}}\n|2 dhcp-routers",
		"{\"Dhcp4\": {\"subnet4\": [ { \"subnet\": \"198.18.0.0/24\",\n\"reservations\": [{\"ip-address\": \"198.18.1.1\"}]}]}}\n|2 dhcp-reserved",
		"{\"Dhcp4\": {\"subnet4\": [ { \"id\": 1, \"subnet\": \"198.18.0.0/24\"},\n{\"id\": 1, \"subnet\": \"198.18.1.0/24\"}]}}\n|2 kea-id",
		"// a\n{\"Dhcp4\": {\n\"renew-timer\": 900, \"rebind-timer\": 800}}\n|3 kea-timers",
		"{\"Dhcp4\": {\n\"valid-lifetime\": \"long\"}}\n|2 valid-lifetime takes a number",
	}, []string{"/* a\n */\n{ # b\n\"Dhcp4\": { // c\n \"control-socket\": {\"socket-type\": \"unix\", \"socket-name\": \"//x\"}, \"subnet4\": [ {\"id\": 1, \"subnet\": \"198.18.0.0/24\", \"pools\": [{\"pool\": \"198.18.0.128/25\"}], \"option-data\": [{\"name\": \"routers\", \"data\": \"198.18.0.1\"}, {\"name\": \"domain-name-servers\", \"data\": \"198.19.0.1\"}], \"reservations\": [{\"ip-address\": \"198.18.0.130\"}]}]}}\n"}},
	"kea-dhcp6": {"/etc/kea/kea-dhcp6.conf", []string{"{\"Dhcp6\": {\n\"preferred-lifetime\": 7000, \"valid-lifetime\": 6000}}\n|2 kea-timers"}, []string{"{\"Dhcp6\": {\"renew-timer\": 1000, \"rebind-timer\": 2000, \"preferred-lifetime\": 3000, \"valid-lifetime\": 4000, \"subnet6\": [{\"id\": 1, \"subnet\": \"2001:2::/64\", \"pools\": [{\"pool\": \"2001:2::/80\"}], \"pd-pools\": [{\"prefix\": \"2001:2:1::\", \"prefix-len\": 48, \"delegated-len\": 56}]}]}}\n"}},
	"named": {"/etc/bind/named.conf", []string{
		"options {\n  listen-onv6 { any; };\n};\n|2 listen-onv6 is not known in options: did you mean listen-on-v6?",
		"options {\n  dnssec-validation ture;\n};\n|2 dnssec-validation takes",
		"options {\n  tcp-clients many;\n};\n|2 tcp-clients takes a number",
		"tcp-clients 100;\n|1 tcp-clients does not belong in the main part of the file but in options",
		"zone \"a.example\" { type primary; };\nzone \"a.example\" { type primary; };\n|2 bind-twice",
	}, []string{
		"// a\n/* options { b; */\noptions {\n  listen-on port 53 { 127.0.0.1; 198.18.0.1; };\n  forwarders { 198.18.0.1 port 53; };\n  response-policy { zone \"a\"; } qname-wait-recurse no;\n  dnssec-enable yes;\n};\nlogging { channel a { file \"b\" versions 3 size 5m; severity info; }; category default { a; }; };\nview a { match-clients { any; }; zone \"a.example\" { type master; file \"c\"; }; };\nview b { zone \"a.example\" { type slave; masters { 198.18.0.1; } ; }; };\nacl x { !198.18.0.1; localnets; };\n",
	}},
	"radvd": {"/etc/radvd.conf", []string{
		"interface a {\n  AdvSendAdvrt on;\n};\n|2 AdvSendAdvrt is not known in interface: did you mean AdvSendAdvert?",
		"interface a {\n  AdvManagedFlag yes;\n};\n|2 AdvManagedFlag takes on or off",
		"interface a {\n  MinRtrAdvInterval 100;\n  MaxRtrAdvInterval 100;\n};\n|2 radvd-interval",
		"interface a {\n  MaxRtrAdvInterval 600;\n  AdvDefaultLifetime 300;\n};\n|2 radvd-default",
		"interface a {\n  prefix 2001:2::/64 {\n    AdvPreferredLifetime 900;\n    AdvValidLifetime 600;\n  };\n};\n|3 radvd-lifetime",
		"interface a {\n};\ninterface a {\n};\n|3 radvd-interface",
		"interface a {\n  AdvOnLink on;\n};\n|2 AdvOnLink does not belong in interface but in prefix",
	}, []string{"interface a {\n  AdvSendAdvert on;\n  MinRtrAdvInterval 3;\n  MaxRtrAdvInterval 10;\n  AdvDefaultLifetime 0;\n  prefix 2001:2::/64 {\n    AdvOnLink on;\n    AdvValidLifetime infinity;\n    AdvPreferredLifetime 600;\n  };\n  RDNSS 2001:2::1 { AdvRDNSSLifetime 30; };\n  clients { fe80::1; };\n};\n"}},
	"network": {"/etc/systemd/network/a.network", []string{
		"[Match]\nName=a\n[Network]\nMTUBytes=9000\n|4 MTUBytes does not belong in [Network] but in [Link] or [Route]",
		"[Network]\nAddresss=198.18.0.1/24\n|2 Addresss is not known in [Network]: did you mean Address?",
		"[Networks]\nDHCP=yes\n|1 [Networks] is not a section of this file: did you mean [Network]?",
		"[Network]\nDHCP=treu\n|2 DHCP takes yes or no, ipv4",
		"[Link]\nMTUBytes=9k\n|2 MTUBytes takes a number of bytes (1500, 64K, 1G), not \"9k\"",
		"[Route]\nGateway=198.18.0.1\nMetric=low\n|3 Metric takes a number",
		"[DHCPv4]\nUseDNS=no # ours\n|2 UseDNS takes yes or no, not \"no # ours\"",
	}, []string{
		"[Match]\nName=a \\\n# both\n  b\n[Network]\nDHCP=ipv4\nDNS=\nIPv6AcceptRA=no\n[X-Ours]\nA=b\n[Network]\nX-Note=a\n",
		"[Network]\nDHCP={{ dhcp }}\nREDACTED=yes\n",
		"[SR-IOV]\nVirtualFunction=0\nVLANId=5\n",
	}},
	"netdev":        {"/etc/systemd/network/a.netdev", []string{"[NetDev]\nName=a\nKind=vlan\nId=5\n|4 Id does not belong in [NetDev] but in", "[VLAN]\nId=4095\n|2 Id takes 0 to 4094, not \"4095\"", "[Bond]\nMode=lacp\n|2 Mode takes balance-rr"}, []string{"[NetDev]\nName=a\nKind=bond\n[Bond]\nMode=802.3ad\nMIIMonitorSec=100ms\n"}},
	"link":          {"/etc/systemd/network/a.link", []string{"[Link]\nRxBuffers=4096\n|2 RxBuffers is not known in [Link]", "[Link]\nRxBufferSize=big\n|2 RxBufferSize takes"}, []string{"[Match]\nOriginalName=*\n[Link]\nRxBufferSize=max\nNamePolicy=keep kernel path\nWakeOnLan=magic\n[EnergyEfficientEthernet]\nEnable=no\n"}},
	"networkd.conf": {"/etc/systemd/networkd.conf", []string{"[Network]\nManageForeignRoute=no\n|2 ManageForeignRoute is not known in [Network]: did you mean ManageForeignRoutes?"}, []string{"[Network]\nManageForeignRoutes=no\n[DHCPv4]\nDUIDType=vendor\n"}},
	"unit": {"/etc/systemd/system/a.service.d/b.conf", []string{
		"[Service]\nLimitNoFile=65536\n|2 LimitNoFile is not known in [Service]: did you mean LimitNOFILE?",
		"[Service]\nAfter=network.target\n|2 After does not belong in [Service] but in [Unit]",
		"[Service]\nRestart=yes\n|2 Restart takes no, on-success",
		"[Service]\nNice=-21\n|2 Nice takes -20 to 19",
		"[Service]\nTimeoutStartSec=5 parsecs\n|2 TimeoutStartSec takes a time",
		"[Install]\nWantedby=multi-user.target\n|2 Wantedby is not known in [Install]: did you mean WantedBy?",
	}, []string{"[Unit]\nAfter=a.service\n[Service]\nExecStart=/bin/a \\\n  --b=c \\\n  d\nNice=%i\nMemoryMax=50%\nCPUWeight=idle\nRestart=always\n[Install]\nWantedBy=multi-user.target\n"}},
	"system.conf": {"/etc/systemd/system.conf", []string{"[Manager]\nRuntimeWatchdog=30\n|2 RuntimeWatchdog is not known in [Manager]: did you mean RuntimeWatchdogSec?"}, []string{"[Manager]\nDefaultLimitNOFILE=65536\nRuntimeWatchdogSec=30s\n"}},
	"journald":    {"/etc/systemd/journald.conf", []string{"[Journal]\nStorage=memory\n|2 Storage takes", "[Journal]\nSystemMaxUsage=1G\n|2 SystemMaxUsage is not known in [Journal]"}, []string{"[Journal]\nStorage=persistent\nSystemMaxUse=1G\nRateLimitIntervalSec=0\n"}},
	"logind":      {"/etc/systemd/logind.conf", []string{"[Login]\nKillUserProcess=no\n|2 KillUserProcess is not known in [Login]: did you mean KillUserProcesses?"}, []string{"[Login]\nKillUserProcesses=no\n"}},
	"resolved":    {"/etc/systemd/resolved.conf", []string{"[Resolve]\nDNSSEC=maybe\n|2 DNSSEC takes", "[Resolve]\nNameservers=198.18.0.1\n|2 Nameservers is not known in [Resolve]"}, []string{"[Resolve]\nDNS=198.18.0.1#a.example\nDNSSEC=allow-downgrade\nCache=no-negative\n"}},
	"timesyncd":   {"/etc/systemd/timesyncd.conf", []string{"[Time]\nNTPServers=a.example\n|2 NTPServers is not known in [Time]"}, []string{"[Time]\nNTP=a.example\n"}},
	"oomd":        {"/etc/systemd/oomd.conf", []string{"[OOM]\nSwapUsed=90%\n|2 SwapUsed is not known in [OOM]"}, []string{"[OOM]\nSwapUsedLimit=90%\n"}},
	"coredump":    {"/etc/systemd/coredump.conf", []string{"[Coredump]\nStorge=none\n|2 Storge is not known in [Coredump]: did you mean Storage?"}, []string{"[Coredump]\nStorage=none\n"}},
	"sleep":       {"/etc/systemd/sleep.conf", []string{"[Sleep]\nSuspend=no\n|2 Suspend is not known in [Sleep]"}, []string{"[Sleep]\nAllowSuspend=no\n"}},
	"pstore":      {"/etc/systemd/pstore.conf", []string{"[PStore]\nUnlnk=no\n|2 Unlnk is not known in [PStore]: did you mean Unlink?"}, []string{"[PStore]\nUnlink=no\n"}},
	"sshd": {"/etc/ssh/sshd_config", []string{
		"PermitRootLogn no\n|1 PermitRootLogn is not known in the main part of the file: did you mean PermitRootLogin?",
		"PermitRootLogin false\n|1 PermitRootLogin takes prohibit-password",
		"X11Forwarding=true\n|1 X11Forwarding takes yes or no",
		"Match User a\n  PidFile /a\n|2 PidFile does not belong in match but in the main part of the file",
		"Ciphers aes128-ctr,arcfour\n|1 Ciphers takes ciphers of sshd's",
		"Port 22222222\n|1 Port takes 1 to 65535",
		"MaxStartups 10:30\n|1 MaxStartups takes",
	}, []string{"port 22 # a\nUseDNS no\nListenAddress ::1\nKexAlgorithms -diffie-hellman-*\nDebianBanner no\nGSSAPIKeyExchange yes\nSubsystem sftp internal-sftp\nMaxStartups 10:30:100\nLoginGraceTime 2m\nMatch all\nX11Forwarding no\nMatch User b\nBanner none\n"}},
	"nginx.conf": {"/etc/nginx/nginx.conf", []string{
		"worker_proceses 4;\nevents {}\n|1 worker_proceses is not known in main: did you mean worker_processes?",
		"http {\n sendfile yes;\n}\n|2 sendfile takes on or off",
		"http {\n server {\n  worker_connections 5;\n }\n}\n|3 worker_connections does not belong in server but in events",
		"http {\n server {\n  location / { proxy_pas http://a; }\n }\n}\n|3 proxy_pas is not known in location: did you mean proxy_pass?",
		"http {\n client_max_body_size 10mb;\n}\n|2 client_max_body_size takes a size",
		"http {\n server {\n  proxy_pass http://a;\n }\n}\n|3 proxy_pass does not belong in server but in location",
		"http {\n server { listen 443 ssl reuse_port; }\n}\n|2 listen takes an address and parameters",
		"http {\n server { listen 80;\n location / { root /a; }\n}\n|4 a block is not closed",
	}, []string{
		"load_module modules/a.so;\nevents { worker_connections 4096; use epoll; }\nhttp {\n types { text/html html; }\n map $a $b { default 1; ~x \"a;b\"; }\n more_set_headers \"a: b\";\n client_max_body_size 10m;\n server {\n  listen 80;\n  location ~ \"^/a{2}\" { proxy_pass http://a; proxy_read_timeout 1h30m; limit_rate $r; }\n }\n}\nstream {\n server { listen 53 udp; proxy_pass a; }\n}\nrtmp { server { application a { live on; } } }\n",
	}},
	"nftables": {"/etc/nftables.conf", []string{"table inet f {\n chain i {\n  tcp dport { 22, 80 } accept\n}\n|4 a block is not closed: a { has no }", "table inet f {\n}\n}\n|3 this } closes a block that no { opened"}, []string{"#!/usr/sbin/nft -f\n# don't {\ndefine a = { 1, 2 }\ntable inet f {\n chain i {\n  log prefix \"a {\" counter\n  tcp dport { 22, 80 } accept\n }\n}\n"}},
	"nginx":    {"/etc/nginx/conf.d/a.conf", []string{"server {\n listn 80;\n}\n|2 listn is not known in server: did you mean listen?", "proxy_cash_path /a;\n|1 proxy_cash_path is not known in the main part of the file: did you mean proxy_cache_path?"}, []string{"upstream a { server b; keepalive 8; }\nserver { listen 80; if ($a) { return 301 /b; } }\nproxy_pass http://a;\n"}},
	"haproxy": {"/etc/haproxy/haproxy.cfg", []string{
		"global\n  maxcon 5\n|2 maxcon is not known in global: did you mean maxconn?",
		"defaults\n  mode htp\n|2 mode takes tcp, http",
		"defaults\n  timeout conect 5s\n|2 timeout takes a kind (connect", "defaults\n  timeout connect 5sec\n|2 timeout takes a kind",
		"defaults\n  option httlog\n|2 option takes",
		"backend a\n  balance rundrobin\n|2 balance takes roundrobin",
		"frontend a\n  nbthread 4\n|2 nbthread does not belong in frontend but in global",
		"frontend a\n  http-request set-haeder a b\n|2 http-request takes",
		"frontend a\n  server b 198.18.0.1:80\n|2 server does not belong in frontend but in listen or backend or peers",
	}, []string{"global\n  maxconn 5 # a\n  tune.quic.new-in-a-later-release 1\n  log /dev/log local0\ndefaults\n  log global\n  mode http\n  timeout client 5s\n  no option httpclose\n.if defined(A)\nfrontend a\n  bind :80\n  http-request set-var(txn.a) src\n  http-request add-acl(/a) src\n.endif\nbackend b\n  balance hdr(a)\n  balance\n  server c 198.18.0.1:80 check\nresolvers d\n  nameserver e 198.18.0.2:53\n"}},
	"nmconnection":        {"/etc/NetworkManager/system-connections/a.nmconnection", []string{"[connection]\nautoconect=true\n|2 autoconect is not known in [connection]: did you mean autoconnect?", "[ipv4]\nmethod=static\n|2 method takes auto, manual", "[ipv4]\nmtu=9000\n|2 mtu does not belong in [ipv4] but in", "[bond]\nmode=lacp\n|2 mode takes"}, []string{"[connection]\nid=a\ntype=ethernet\n[ethernet]\nmtu=9000\n[ipv4]\naddress1=198.18.0.1/24,198.18.0.2\nroute1_options=mtu=1400\nmethod=manual\n[vpn]\nany=thing\n[wireguard-peer.abc=]\nendpoint=a:1\n"}},
	"NetworkManager.conf": {"/etc/NetworkManager/NetworkManager.conf", []string{"[main]\ndns=resolved\n|2 dns takes default", "[main]\nplugin=keyfile\n|2 plugin is not known in [main]: did you mean plugins?", "[ifupdown]\nmanage=true\n|2 manage is not known in [ifupdown]: did you mean managed?"}, []string{"[main]\nplugins=ifupdown,keyfile\n[connection-ours]\nipv6.new=1\nmatch-device=*\n[device-a]\nmanaged=0\n[keyfile]\nunmanaged-devices+=a\n"}},
	"unbound":             {"/etc/unbound/unbound.conf", []string{"server:\n  num-thread: 4\n|2 num-thread is not known in server: did you mean num-threads?", "server:\n  forward-addr: 198.18.0.1\n|2 forward-addr does not belong in server but in forward-zone", "server:\n  prefetch: on\n|2 prefetch takes yes or no", "server:\n  num-threads: many\n|2 num-threads takes a number"}, []string{"include-toplevel: \"/etc/unbound/unbound.conf.d/*.conf\"\nserver:\n  interface: ::0\n  num-threads: 4 # two each\n  wait-limit-netblock: 198.18.0.0/15 10\nforward-zone:\n  name: \".\"\n  forward-addr: 198.18.0.1@853#a.example\n"}},
	"chrony":              {"/etc/chrony/chrony.conf", []string{"makesteps 1 3\n|1 makesteps is not known in the main part of the file: did you mean makestep?"}, []string{"! old\n% older\nSERVER a.example iburst\nmakestep 1 3\nrtcsync\n"}},
	"dnsmasq":             {"/etc/dnsmasq.conf", []string{"dhcp-ranges=198.18.0.50,198.18.0.99\n|1 dhcp-ranges is not known in the main part of the file: did you mean dhcp-range?"}, []string{"bind-interfaces\ndhcp-range=198.18.0.50,198.18.0.99 # all\nserver=/a.example/198.18.0.1#5353\n"}},
	"keepalived":          {"/etc/keepalived/keepalived.conf", []string{"vrrp_instance A {\n interfaces eth0\n}\n|2 interfaces does not belong in vrrp_instance but in garp_group", "vrrp_instance A {\n priorty 100\n}\n|2 priorty is not known in vrrp_instance: did you mean priority?", "vrrp_instances A {\n}\n|1 vrrp_instances is not known in the main part of the file: did you mean vrrp_instance?"}, []string{"! comment\nglobal_defs {\n router_id a\n}\nvrrp_script c {\n script \"/bin/a; b\"\n interval 2\n}\nvrrp_sync_group G {\n group {\n  A\n }\n}\nvrrp_instance A {\n state BACKUP\n interface eth0\n virtual_ipaddress {\n  198.18.0.1/24 dev eth0\n }\n track_script {\n  c\n }\n}\nvirtual_server 198.18.0.1 80 {\n lb_algo rr\n real_server 198.18.0.2 80 {\n  TCP_CHECK {\n   connect_timeout 3\n  }\n }\n}\n"}},
	"kubelet":             {"/var/lib/kubelet/config.yaml", []string{"kind: KubeletConfiguration\nmaxPod: 250\n|2 maxPod is not known in the main part of the file: did you mean maxPods?", "cpuManagerPolicy: dynamic\n|1 cpuManagerPolicy takes none or static", "authentication:\n  webhooks:\n    enabled: true\n|2 webhooks is not known in authentication: did you mean webhook?"}, []string{"kind: KubeletConfiguration\nmaxPods: 250\nauthentication:\n  webhook:\n    enabled: true\nevictionHard:\n  memory.available: 100Mi\nfeatureGates: {A: true}\n"}},
	"postgresql":          {"/etc/postgresql/15/main/postgresql.conf", []string{"shared_buffer = 4GB\n|1 shared_buffer is not known in the main part of the file: did you mean shared_buffers?", "wal_level = hot\n|1 wal_level takes minimal", "max_connections = 20\nsuperuser_reserved_connections = 30\n|2 pg-reserved", "fsync = never\n|1 fsync takes on or off", "work_mem = 64mb\n|1 work_mem takes a number, with a unit"}, []string{"Shared_Buffers = '4GB' # a quarter\nwork_mem 64MB\nfsync on\npg_stat_statements.max = 5000\nlisten_addresses = '*'\n"}},
	"redis":               {"/etc/redis/redis.conf", []string{"tcp-backlogs 511\n|1 tcp-backlogs is not known in the main part of the file: did you mean tcp-backlog?", "appendonly true\n|1 appendonly takes yes or no"}, []string{"bind 127.0.0.1 ::1\nappendonly yes\nsave \"\"\nsearch.threads 4\nclient-output-buffer-limit pubsub 32mb 8mb 60\n"}},
	"php-fpm":             {"/etc/php/8.2/fpm/pool.d/www.conf", []string{"[www]\npm.max_childrens = 50\n|2 pm.max_childrens is not known in [*]: did you mean pm.max_children?", "[www]\npm = auto\n|2 pm takes static, dynamic or ondemand"}, []string{"[www]\n; comment\npm = dynamic\npm.max_children = 50\nphp_admin_value[memory_limit] = 64M\nenv[PATH] = /bin\n[global]\ndaemonize = no\n"}},
	"netplan": {"/etc/netplan/a.yaml", []string{
		"network:\n  ethernets:\n    eth0:\n      addressses: [198.18.0.1/24]\n|4 addressses is not known in network/ethernets/*: did you mean addresses?",
		"network:\n  vlans:\n    v:\n      id: 4095\n      link: a\n|4 id takes 0 to 4094",
		"network:\n  bonds:\n    b:\n      mode: 802.3ad\n|4 mode does not belong in network/bonds/* but in",
		"network:\n  bonds:\n    b:\n      mii-monitor-interval: 100\n|4 mii-monitor-interval does not belong in network/bonds/* but in network/bonds/*/parameters",
		"network:\n  render: networkd\n|2 render is not known in network: did you mean renderer?",
		"network: {ethernets: {a: {dhcp4: ture}}}\n|1 dhcp4 takes true or false",
	}, []string{"network:\n    ethernets:\n        a:\n            \"dhcp4\": true\n            addresses : [198.18.0.1/24]\n", "network:\n  version: 2\n  ethernets:\n    eth0:\n      match: {macaddress: \"02:00:00:00:00:01\"}\n      addresses: [198.18.0.1/24]\n      routes:\n        - to: default\n          via: 198.18.0.2\n      dhcp4-overrides: {use-dns: no}\n  bonds:\n    b:\n      interfaces: [eth0]\n      parameters: {mode: 802.3ad}\n"}},
}

// TestFormats: each format finds its mistakes, and nothing in files without.
func TestFormats(t *testing.T) {
	for _, f := range formats() {
		c, ok := cases[f.name]
		if !ok || len(c.wrong) == 0 || len(c.right) == 0 {
			t.Errorf("%s has no case", f.name)
		}
		for _, w := range c.wrong {
			text, want, _ := strings.Cut(w, "|")
			if got := told(Problems(c.file, text)); len(got) != 1 || !strings.HasPrefix(got[0], want) {
				t.Errorf("%s: %q: %q, want %q", f.name, text, got, want)
			}
		}
		for _, text := range c.right {
			if got := told(Problems(c.file, text)); len(got) > 0 {
				t.Errorf("%s: false alarm in %q: %q", f.name, text, got)
			}
		}
	}
}

func told(all []fact.Problem) (lines []string) {
	for _, p := range all {
		lines = append(lines, fmt.Sprintf("%d %s", p.Line, strings.Replace(p.Message, "%s", p.Text, 1)))
	}
	return lines
}

// TestRefused: what a program refuses to start with differs from what it passes over.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{"frontend a\n server b c\n": fact.ProblemIgnored, "frontend a\n nbthread 4\n": fact.ProblemRefused, "frontend a\n bnid :80\n": fact.ProblemRefused} {
		if got := Problems("/etc/haproxy/haproxy.cfg", text); len(got) != 1 || got[0].Kind != want {
			t.Errorf("%q: %v, want %s", text, got, want)
		}
	}
}

// TestKindsExist: each kind of value that a format names is in types.txt.
func TestKindsExist(t *testing.T) {
	for _, f := range formats() {
		for s, keys := range f.section {
			for _, e := range keys {
				for _, a := range strings.Split(strings.TrimLeft(e.values, "+^"), "|") {
					if _, ok := kinds()[a]; strings.HasPrefix(a, "<") && !ok {
						t.Errorf("%s: %s: %s takes %s, which types.txt does not have", f.name, s, e.name, a)
					}
				}
			}
		}
	}
}
