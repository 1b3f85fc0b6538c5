package linux

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// networkCases are mistakes in the files of an interface's programs, a case each, and next to them
// files that are right. A file begins with "==> PATH".
var networkCases = []struct {
	name         string
	wrong, right []string
}{
	{"two-gateways", []string{
		"==> /etc/network/interfaces\niface a inet static\n gateway 198.18.0.1\niface b inet static\n gateway 198.18.1.1\n",
		"==> /etc/network/interfaces\niface a inet static\n gateway 198.18.0.1\n==> /etc/network/interfaces.d/b\niface b inet static\n gateway 198.18.1.1\n",
		"==> /etc/netplan/a.yaml\nnetwork:\n ethernets:\n  a:\n   routes: [{to: default, via: 198.18.0.1}]\n  b:\n   routes: [{to: default, via: 198.18.1.1}]\n",
		"==> /etc/netplan/a.yaml\nnetwork:\n ethernets:\n  a:\n   gateway4: 198.18.0.1\n  b:\n   routes: [{to: 0.0.0.0/0, via: 198.18.1.1}]\n",
		"==> /etc/systemd/network/a.network\n[Match]\nName=a\n[Network]\nGateway=198.18.0.1\n==> /etc/systemd/network/b.network\n[Match]\nName=b\n[Route]\nGateway=198.18.1.1\n",
		"==> /etc/NetworkManager/system-connections/a.nmconnection\n[connection]\ninterface-name=a\n[ipv4]\nmethod=manual\naddress1=198.18.0.2/24,198.18.0.1\n==> /etc/NetworkManager/system-connections/b.nmconnection\n[connection]\ninterface-name=b\n[ipv4]\nmethod=manual\naddress1=198.18.1.2/24\ngateway=198.18.1.1\n",
	}, []string{
		"==> /etc/network/interfaces\niface a inet static\n gateway 198.18.0.1\niface b inet static\n gateway 198.18.1.1\n metric 10\n",
		"==> /etc/network/interfaces\niface a inet static\n gateway 198.18.0.1\niface a inet6 static\n gateway 2001:2::1\n",
		"==> /etc/network/interfaces\niface a inet static\n address 198.18.0.2/24\n gateway 198.18.0.1\n==> /etc/network/interfaces.d/b\niface b inet static\n address 198.18.1.2/24\n",
		"==> /etc/netplan/a.yaml\nnetwork:\n ethernets:\n  a:\n   routes: [{to: default, via: 198.18.0.1}]\n  b:\n   routes: [{to: default, via: 198.18.1.1, metric: 200}]\n",
		"==> /etc/netplan/a.yaml\nnetwork:\n ethernets:\n  a:\n   routes: [{to: default, via: 198.18.0.1}, {to: default, via: \"2001:2::1\"}]\n",
		"==> /etc/netplan/a.yaml\nnetwork:\n ethernets:\n  a:\n   routes: [{to: default, via: 198.18.0.1}]\n  b:\n   routes: [{to: default, via: 198.18.1.1, table: 7}]\n   routing-policy: [{from: 198.18.1.2, table: 7}]\n",
		"==> /etc/NetworkManager/system-connections/a.nmconnection\n[connection]\ninterface-name=a\n[ipv4]\ngateway=198.18.0.1\n==> /etc/NetworkManager/system-connections/b.nmconnection\n[connection]\ninterface-name=b\n[ipv4]\ngateway=198.18.1.1\nroute-metric=300\n",
	}},
	{"netplan-merge", []string{
		"==> /etc/netplan/50-cloud-init.yaml\nnetwork:\n  ethernets:\n    a:\n      dhcp4: true\n==> /etc/netplan/60-static.yaml\nnetwork:\n  ethernets:\n    a:\n      addresses: [198.18.0.2/24]\n      routes: [{to: default, via: 198.18.0.1}]\n",
	}, []string{
		"==> /etc/netplan/50-cloud-init.yaml\nnetwork:\n  ethernets:\n    a:\n      dhcp4: true\n==> /etc/netplan/60-static.yaml\nnetwork:\n  ethernets:\n    a:\n      dhcp4: false\n      addresses: [198.18.0.2/24]\n      routes: [{to: default, via: 198.18.0.1}]\n",
		"==> /etc/netplan/50-cloud-init.yaml\nnetwork:\n  ethernets:\n    a:\n      dhcp4: true\n==> /etc/netplan/60-static.yaml\nnetwork:\n  ethernets:\n    a:\n      addresses: [198.18.0.2/24]\n    b:\n      addresses: [198.18.1.2/24]\n      routes: [{to: default, via: 198.18.1.1}]\n",
		"==> /etc/netplan/50.yaml\nnetwork:\n  ethernets:\n    a:\n      dhcp6: true\n==> /etc/netplan/60.yaml\nnetwork:\n  ethernets:\n    a:\n      addresses: [198.18.0.2/24]\n      routes: [{to: default, via: 198.18.0.1}]\n",
	}},
	{"net-two-programs", []string{
		"==> /etc/netplan/50-cloud-init.yaml\nnetwork:\n  ethernets:\n    a:\n      dhcp4: true\n==> /etc/systemd/network/20-a.network\n[Match]\nName=a\n[Network]\nAddress=198.18.0.2/24\n",
	}, []string{
		"==> /etc/netplan/50-cloud-init.yaml\nnetwork:\n  ethernets:\n    a:\n      dhcp4: true\n==> /etc/systemd/network/20-a.network\n[Match]\nName=b\n[Network]\nAddress=198.18.0.2/24\n",
		"==> /etc/netplan/50-cloud-init.yaml\nnetwork:\n  ethernets:\n    a:\n      dhcp4: true\n==> /etc/systemd/network/20-a.network\n[Match]\nName=a\n[Link]\nMTUBytes=1400\n",
		"==> /etc/network/interfaces\niface a inet dhcp\n==> /etc/network/interfaces.d/a\niface a inet6 auto\n",
		"==> /etc/network/interfaces\niface a inet dhcp\n==> /etc/NetworkManager/system-connections/a.nmconnection\n[connection]\ninterface-name=a\n[ipv4]\nmethod=manual\naddress1=198.18.1.2/24\n",
	}},
	{"net-router-far", []string{
		"==> /etc/systemd/network/a.network\n[Match]\nName=eno1\n[Network]\nAddress=198.18.0.21/27\nGateway=198.18.0.62\n",
		"==> /etc/NetworkManager/system-connections/a.nmconnection\n[ipv4]\nmethod=manual\naddress1=198.18.0.21/24,198.18.1.1\n",
		"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a:\n      addresses: [198.18.0.2/24]\n      routes:\n        - to: default\n          via: 198.18.1.1\n",
		"==> /etc/network/interfaces\niface a inet static\n address 198.18.0.2\n netmask 255.255.255.192\n gateway 198.18.0.100\n",
		"==> /etc/sysconfig/network-scripts/ifcfg-a\nDEVICE=a\nBOOTPROTO=none\nIPADDR=198.18.0.2\nPREFIX=26\nGATEWAY=\"198.18.0.100\"\n",
	}, []string{
		"==> /etc/systemd/network/a.network\n[Match]\nName=eno1\n[Network]\nAddress=198.18.0.21/26\nGateway=198.18.0.62\n",
		"==> /etc/systemd/network/a.network\n[Match]\nName=eno1\n[Network]\nAddress=198.18.0.21/32\n[Route]\nGateway=198.18.0.62\nGatewayOnLink=yes\n",
		"==> /etc/systemd/network/a.network\n[Match]\nName=eno1\n[Address]\nAddress=198.18.0.21/32\nPeer=198.18.0.62/32\n[Route]\nDestination=198.18.0.62\n[Route]\nGateway=198.18.0.62\n",
		"==> /etc/systemd/network/a.network\n[Match]\nName=eno1\n[Network]\nDHCP=yes\nAddress=198.18.0.21/27\nGateway=198.18.0.62\n",
		"==> /etc/NetworkManager/system-connections/a.nmconnection\n[ipv4]\nmethod=manual\naddress1=198.18.0.21/24,198.18.0.1\n",
		"==> /etc/network/interfaces\niface a inet static\n address 198.18.0.2\n netmask 255.255.255.128\n gateway 198.18.0.100\n",
		"==> /etc/network/interfaces\niface a inet static\n address 198.18.0.2/32\n pointopoint 198.18.0.1\n gateway 198.18.0.1\n",
		"==> /etc/network/interfaces\niface a inet static\n address 198.18.0.2/32\n up ip route add 198.18.7.1 dev a\n gateway 198.18.7.1\n",
		"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a:\n      addresses:\n        - 198.18.0.2/24:\n            lifetime: 0\n      routes:\n        - to: default\n          via: 198.18.0.1\n",
		"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a:\n      addresses: [198.18.0.2/32]\n      routes:\n        - to: default\n          via: 198.18.1.1\n          on-link: true\n",
	}},
	{"net-route-far", []string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a:\n      addresses: [198.18.0.2/24]\n      routes:\n        - to: 198.19.0.0/16\n          via: 198.18.1.1\n"},
		[]string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a:\n      addresses: [198.18.0.2/24]\n      routes:\n        - to: 198.19.0.0/16\n          via: 198.18.0.1\n"}},
	{"net-router-self", []string{"==> /etc/systemd/network/a.network\n[Match]\nName=eth0\n[Network]\nAddress=198.18.0.2/24\nGateway=198.18.0.2\n"},
		[]string{"==> /etc/systemd/network/a.network\n[Match]\nName=eth0\n[Network]\nAddress=198.18.0.2/24\nGateway=198.18.0.1\n"}},
	{"net-address-twice", []string{
		"==> /etc/systemd/network/a.network\n[Match]\nName=eth0\n[Network]\nAddress=198.18.0.2/24\n==> /etc/systemd/network/b.network\n[Match]\nName=eth1\n[Network]\nAddress=198.18.0.2/24\n",
	}, []string{
		"==> /etc/systemd/network/a.network\n[Match]\nName=ve-a\n[Network]\nAddress=2001:2::1/64\n[Route]\nDestination=2001:2::a/128\n==> /etc/systemd/network/b.network\n[Match]\nName=ve-b\n[Network]\nAddress=2001:2::1/64\n[Route]\nDestination=2001:2::b/128\n",
		"==> /etc/systemd/network/a.network\n[Match]\nName=eth0\n[Network]\nAddress=198.18.0.2/24\n==> /etc/systemd/network/b.network\n[Match]\nName=eth1\n[Network]\nAddress=198.18.1.2/24\n",
		"==> /etc/systemd/network/a.network\n[Match]\nName=eth0\n[Network]\nAddress=198.18.0.2/32\n==> /etc/systemd/network/b.network\n[Match]\nName=eth1\n[Network]\nAddress=198.18.0.2/32\n",
		"==> /etc/systemd/network/a.network\n[Match]\nName=eth0\n[Network]\nAddress=198.18.0.2/24\nVRF=x\n==> /etc/systemd/network/b.network\n[Match]\nName=eth1\n[Network]\nAddress=198.18.0.2/24\n==> /etc/systemd/network/x.netdev\n[NetDev]\nName=x\nKind=vrf\n[VRF]\nTable=7\n",
		"==> /etc/NetworkManager/system-connections/a.nmconnection\n[connection]\ninterface-name=e\n[ipv4]\naddress1=198.18.0.2/24\n==> /etc/NetworkManager/system-connections/b.nmconnection\n[connection]\ninterface-name=e\n[ipv4]\naddress1=198.18.0.3/24\n",
	}},
	{"net-same-network", []string{
		"==> /etc/network/interfaces\niface a inet static\n address 198.18.0.2/24\niface b inet static\n address 198.18.0.3\n netmask 255.255.255.0\n",
	}, []string{
		"==> /etc/network/interfaces\niface a inet static\n address 198.18.0.2/24\niface a:1 inet static\n address 198.18.0.3/24\n",
		"==> /etc/sysconfig/network-scripts/ifcfg-a\nIPADDR=198.18.0.2\nNETMASK=255.255.255.0\n==> /etc/sysconfig/network-scripts/ifcfg-b\nONBOOT=no\nIPADDR=198.18.0.3\nNETMASK=255.255.255.0\n",
		"==> /etc/network/interfaces\niface a inet static\n address 198.18.0.2/31\niface b inet static\n address 198.18.0.4/31\n",
		"==> /etc/network/interfaces\niface a inet static\n address 198.18.0.2/24\n up ip rule add from 198.18.0.2 table 7\niface b inet static\n address 198.18.0.3/24\n",
	}},
	{"net-network-address", []string{
		"==> /etc/network/interfaces\niface eth0 inet static\n address 198.18.0.0/24\n", "==> /etc/network/interfaces\niface eth0 inet static\n address 198.18.0.255/24\n",
		"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a:\n      addresses:\n        - 198.18.0.0/24\n",
	}, []string{
		"==> /etc/network/interfaces\niface eth0 inet static\n address 198.18.0.1/24\n", "==> /etc/network/interfaces\niface eth0 inet static\n address 198.18.0.0/31\n",
		"==> /etc/network/interfaces\niface eth0 inet static\n address 198.18.4.255/23\n", "==> /etc/network/interfaces\niface lo inet static\n address 198.18.4.0/24\n",
	}},
	{"net-undefined", []string{
		"==> /etc/systemd/network/e.network\n[Network]\nBond=bond1\n==> /etc/systemd/network/b.netdev\n[NetDev]\nName=bond0\nKind=bond\n",
		"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a:\n      dhcp4: true\n  vlans:\n    v:\n      id: 5\n      link: b\n",
		"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a: {}\n  bonds:\n    bond0:\n      interfaces: [a, b]\n",
		"==> /etc/NetworkManager/system-connections/a.nmconnection\n[connection]\nid=a\nmaster=bond1\n==> /etc/NetworkManager/system-connections/b.nmconnection\n[connection]\nid=b\ninterface-name=bond0\n",
	}, []string{
		"==> /etc/systemd/network/e.network\n[Network]\nBond=bond0\n==> /etc/systemd/network/b.netdev\n[NetDev]\nKind=bond\nName=bond0\n",
		"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a: {dhcp4: true}\n  vlans:\n    v:\n      id: 5\n      link: a\n==> /etc/netplan/b.yaml\nnetwork:\n  ethernets: {c: {}}\n  bonds:\n    bond0:\n      interfaces: [c, v]\n",
		"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets: {e1: {}, e2: {}}\n  bonds:\n    b0:\n      interfaces: [e1, e2]\n",
		"==> /etc/NetworkManager/system-connections/a.nmconnection\n[connection]\nid=a\ncontroller=bond0\n==> /etc/NetworkManager/system-connections/b.nmconnection\n[connection]\nid=b\ninterface-name=bond0\n",
		"==> /etc/NetworkManager/system-connections/a.nmconnection\n[connection]\nid=a\ncontroller=7f1c\n==> /etc/NetworkManager/system-connections/b.nmconnection\n[connection]\nuuid=7f1c\ninterface-name=bond0\n",
		"==> /etc/netplan/a.yaml\nnetwork:\n  bonds:\n    bond0:\n      interfaces: &ports [a, b]\n",
	}},
	{"networkd-child", []string{"==> /etc/systemd/network/a.netdev\n[NetDev]\nName=vlan5\nKind=vlan\n\n[VLAN]\nId=5\n==> /etc/systemd/network/e.network\n[Match]\nName=eth0\n[Network]\nVLAN=vlan6\n==> /etc/systemd/network/b.netdev\n[NetDev]\nName=vlan6\nKind=vlan\n",
		"==> /etc/systemd/network/a.netdev\n[NetDev]\nName=gre1\nKind=gre\n[Tunnel]\nRemote=198.19.0.1\n==> /etc/systemd/network/e.network\n[Match]\nName=eth0\n[Network]\nAddress=198.18.0.2/24\n"},
		[]string{"==> /etc/systemd/network/a.netdev\n[NetDev]\nName=vlan5\nKind=vlan\n==> /etc/systemd/network/e.network\n[Network]\nVLAN=vlan5\n", "==> /etc/systemd/network/a.netdev\n[NetDev]\nName=br0\nKind=bridge\n",
			"==> /etc/systemd/network/a.netdev\n[NetDev]\nName=gre1\nKind=gre\n[Tunnel]\nRemote=198.19.0.1\n==> /etc/systemd/network/e.network\n[Match]\nName=eth0\n[Network]\nTunnel=gre1\n",
			"==> /etc/systemd/network/a.netdev\n[NetDev]\nName=vx1\nKind=vxlan\n[VXLAN]\nIndependent=yes\n==> /etc/systemd/network/b.netdev\n[NetDev]\nName=wg0\nKind=wireguard\n"}},
	{"table-unused", []string{"==> /etc/systemd/network/w.network\n[Route]\nGateway=198.18.0.1\nTable=200\n"},
		[]string{"==> /etc/systemd/network/w.network\n[Route]\nGateway=198.18.0.1\nTable=200\n[RoutingPolicyRule]\nFrom=198.18.0.2\nTable=200\n", "==> /etc/systemd/network/w.network\n[Route]\nGateway=198.18.0.1\nTable=254\n"}},
	{"net-rule-empty", []string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a:\n      routes: [{to: default, via: 198.18.0.1, table: 100}]\n      routing-policy: [{from: 198.18.0.2, table: 100}, {from: 198.18.0.3, table: 101}]\n"},
		[]string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a:\n      routes: [{to: default, via: 198.18.0.1, table: 100}]\n      routing-policy: [{from: 198.18.0.2, table: 100}, {from: 198.18.0.3, table: 254}]\n"}},
	{"member-address", []string{
		"==> /etc/systemd/network/a.network\n[Match]\nName=eth0\n\n[Network]\nBridge=br0\nAddress=198.18.0.2/24\n",
		"==> /etc/systemd/network/a.network\n[Network]\nDHCP=yes\nBond=bond0\n==> /etc/systemd/network/a.netdev\n[NetDev]\nName=bond0\nKind=bond\n",
		"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a:\n      dhcp4: true\n  bridges:\n    br0:\n      interfaces: [a]\n",
		"==> /etc/network/interfaces\niface a inet static\n address 198.18.0.2/24\niface br0 inet static\n address 198.18.1.3/24\n bridge_ports a\n",
		"==> /etc/sysconfig/network-scripts/ifcfg-a\nIPADDR=198.18.0.2\nNETMASK=255.255.255.0\nMASTER=bond0\nSLAVE=yes\n",
	}, []string{
		"==> /etc/systemd/network/a.network\n[Match]\nName=eth0\n\n[Network]\nBridge=br0\nLinkLocalAddressing=no\n", "==> /etc/systemd/network/a.network\n[Network]\nAddress=198.18.0.2/24\n",
		"==> /etc/network/interfaces\niface a inet manual\niface br0 inet static\n address 198.18.0.3/24\n bridge_ports a\n",
	}},
	{"net-port-twice", []string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets: {a: {}, b: {}}\n  bonds:\n    bond0:\n      interfaces: [a, b]\n  bridges:\n    br0:\n      interfaces: [b]\n"},
		[]string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets: {a: {}, b: {}}\n  bonds:\n    bond0:\n      interfaces: [a, b]\n  bridges:\n    br0:\n      interfaces: [bond0]\n"}},
	{"net-bond-primary", []string{"==> /etc/network/interfaces\niface bond0 inet manual\n bond-slaves a b\n bond-mode active-backup\n bond-miimon 100\n bond-primary c\n"},
		[]string{"==> /etc/network/interfaces\niface bond0 inet manual\n bond-slaves a b\n bond-mode active-backup\n bond-miimon 100\n bond-primary a\n", "==> /etc/network/interfaces\niface bond0 inet manual\n bond-primary a\niface a inet manual\n bond-master bond0\n"}},
	{"net-bond-mtu", []string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets: {a: {mtu: 9000}, b: {mtu: 9000}}\n  bonds:\n    bond0:\n      interfaces: [a, b]\n"},
		[]string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets: {a: {mtu: 9000}, b: {mtu: 9000}}\n  bonds:\n    bond0:\n      mtu: 9000\n      interfaces: [a, b]\n"}},
	{"net-bond-watch", []string{
		"==> /etc/systemd/network/bond0.netdev\n[NetDev]\nName=bond0\nKind=bond\n[Bond]\nMode=active-backup\n",
		"==> /etc/network/interfaces\nauto bond0\niface bond0 inet dhcp\n bond-slaves eth0 eth1\n bond-mode 1\n",
		"==> /etc/sysconfig/network-scripts/ifcfg-bond0\nDEVICE=bond0\nBONDING_OPTS=\"mode=active-backup miimon=0\"\n",
		"==> /etc/netplan/1.yaml\nnetwork:\n  ethernets: {e0: {}, e1: {}}\n  bonds:\n    bond0:\n      interfaces: [e0, e1]\n      parameters:\n        mode: active-backup\n",
		"==> /etc/NetworkManager/system-connections/a.nmconnection\n[connection]\ntype=bond\ninterface-name=bond0\n[bond]\nmode=active-backup\nmiimon=0\n",
	}, []string{
		"==> /etc/systemd/network/bond0.netdev\n[NetDev]\nName=bond0\nKind=bond\n[Bond]\nMode=active-backup\nMIIMonitorSec=0.1s\n",
		"==> /etc/network/interfaces\nauto bond0\niface bond0 inet dhcp\n bond-slaves eth0 eth1\n bond-mode 802.3ad\n",
		"==> /etc/network/interfaces\nauto bond0\niface bond0 inet dhcp\n bond-slaves eth0 eth1\n bond-mode 1\n==> /etc/modprobe.d/b.conf\noptions bonding miimon=100\n",
		"==> /etc/NetworkManager/system-connections/a.nmconnection\n[connection]\ntype=bond\ninterface-name=bond0\n[bond]\nmode=active-backup\n",
	}},
	{"bond-monitors", []string{"==> /etc/network/interfaces\niface bond0 inet dhcp\n bond-slaves a b\n bond-mode 1\n bond-miimon 100\n bond-arp-interval 500\n bond-arp-ip-target 198.18.0.1\n"},
		[]string{"==> /etc/network/interfaces\niface bond0 inet dhcp\n bond-slaves a b\n bond-mode 1\n bond-miimon 0\n bond-arp-interval 500\n bond-arp-ip-target 198.18.0.1\n"}},
	{"net-bond-primary-mode", []string{"==> /etc/netplan/1.yaml\nnetwork:\n  ethernets: {e0: {}, e1: {}}\n  bonds:\n    bond0:\n      interfaces: [e0, e1]\n      parameters: {mode: 802.3ad, primary: e0}\n"},
		[]string{"==> /etc/netplan/1.yaml\nnetwork:\n  ethernets: {e0: {}, e1: {}}\n  bonds:\n    bond0:\n      interfaces: [e0, e1]\n      parameters: {mode: active-backup, primary: e0, mii-monitor-interval: 100}\n"}},
	{"net-bond-delay", []string{"==> /etc/network/interfaces\niface bond0 inet dhcp\n bond-slaves a b\n bond-miimon 100\n bond-updelay 150\n"},
		[]string{"==> /etc/network/interfaces\niface bond0 inet dhcp\n bond-slaves a b\n bond-miimon 100\n bond-updelay 200\n", "==> /etc/systemd/network/a.netdev\n[NetDev]\nName=a\nKind=bond\n[Bond]\nMIIMonitorSec=0.1s\nUpDelaySec=1s\n"}},
	{"net-vlan-mtu", []string{
		"==> /etc/network/interfaces\nauto eth0\niface eth0 inet static\n address 198.18.0.1/24\n mtu 1500\nauto eth0.5\niface eth0.5 inet static\n address 198.18.1.1/24\n mtu 9000\n",
		"==> /etc/systemd/network/1.network\n[Match]\nName=eth0\n[Network]\nVLAN=v5\n==> /etc/systemd/network/v5.netdev\n[NetDev]\nName=v5\nKind=vlan\nMTUBytes=9000\n",
		"==> /etc/NetworkManager/system-connections/a.nmconnection\n[connection]\ntype=ethernet\ninterface-name=a\n[ethernet]\nmtu=1500\n==> /etc/NetworkManager/system-connections/v.nmconnection\n[connection]\ntype=vlan\ninterface-name=v\n[ethernet]\nmtu=9000\n[vlan]\nid=2\nparent=a\n",
	}, []string{
		"==> /etc/systemd/network/1.network\n[Match]\nName=eth0\n[Link]\nMTUBytes=9000\n[Network]\nVLAN=v5\n==> /etc/systemd/network/v5.netdev\n[NetDev]\nName=v5\nKind=vlan\nMTUBytes=9000\n",
		"==> /etc/systemd/network/1.link\n[Match]\nMACAddress=02:00:00:00:00:01\n[Link]\nMTUBytes=9000\n==> /etc/systemd/network/1.network\n[Match]\nName=eth0\n[Network]\nVLAN=v5\n==> /etc/systemd/network/v5.netdev\n[NetDev]\nName=v5\nKind=vlan\nMTUBytes=9000\n",
	}},
	{"net-bridge-mtu", []string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets: {a: {}}\n  bridges:\n    br0:\n      mtu: 9000\n      interfaces: [a]\n"},
		[]string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets: {a: {mtu: 9000}}\n  bridges:\n    br0:\n      mtu: 9000\n      interfaces: [a]\n"}},
	{"net-unmade", []string{
		"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets: {a: {}}\n  vlans:\n    vlan5: {id: 5, link: a}\n==> /etc/nftables.conf\ntable inet f {\n chain c {\n  iifname \"vlan6\" accept\n }\n}\n",
		"==> /etc/network/interfaces\niface e inet manual\niface e.5 inet static\n address 198.18.0.1/24\n==> /etc/iptables/rules.v4\n*filter\n-A INPUT -i e.50 -j ACCEPT\nCOMMIT\n",
	}, []string{
		"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets: {a: {}}\n  vlans:\n    vlan5: {id: 5, link: a}\n==> /etc/nftables.conf\ntable inet f {\n chain c {\n  iifname { vlan5, eth7 } accept\n }\n}\n",
		"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets: {a: {}}\n  vlans:\n    vlan5: {id: 5, link: a}\n==> /etc/nftables.conf\ntable inet f {\n chain c {\n  iifname \"br0\" accept\n }\n}\n",
		"==> /etc/network/interfaces\niface e.5 inet static\n address 198.18.0.1/24\n==> /etc/rc.local\nip link add link e name e.50 type vlan id 50\n==> /etc/iptables/rules.v4\n*filter\n-A INPUT -i e.50 -j ACCEPT\nCOMMIT\n",
		"==> /etc/network/interfaces\niface br0 inet static\n bridge_ports none\n==> /etc/docker/daemon.json\n{}\n==> /etc/iptables/rules.v4\n*filter\n-A INPUT -i br1 -j ACCEPT\nCOMMIT\n",
	}},
	{"ifup-dhcp-mtu", []string{"==> /etc/network/interfaces\nauto e\niface e inet dhcp\n mtu 9000\n"},
		[]string{"==> /etc/network/interfaces\nauto e\niface e inet static\n address 198.18.0.2/24\n mtu 9000\n", "==> /etc/network/interfaces\niface vmbr0 inet dhcp\n mtu 9000\n"}},
	{"netplan-ra", []string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a:\n      dhcp6: true\n      accept-ra: false\n"},
		[]string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a:\n      dhcp6: true\n", "==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    a:\n      dhcp6: true\n      accept-ra: false\n      routes: [{to: \"::/0\", via: \"fe80::1\"}]\n"}},
	{"net-name-long", []string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets: {a: {}}\n  vlans:\n    production-network: {id: 5, link: a}\n"},
		[]string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets:\n    production-network:\n      match: {macaddress: \"02:00:00:00:00:01\"}\n      set-name: a\n"}},
	{"net-vlan-twice", []string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets: {a: {}}\n  vlans:\n    x: {id: 5, link: a}\n    y: {id: 5, link: a}\n"},
		[]string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets: {a: {}, b: {}}\n  vlans:\n    x: {id: 5, link: a}\n    y: {id: 5, link: b}\n"}},
	{"net-vlan-name", []string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets: {a: {}}\n  vlans:\n    a.20: {id: 10, link: a}\n"},
		[]string{"==> /etc/netplan/a.yaml\nnetwork:\n  ethernets: {a: {}}\n  vlans:\n    a.0010: {id: 10, link: a}\n"}},
	{"tunnel-mtu", []string{
		"==> /etc/NetworkManager/system-connections/a.nmconnection\n[connection]\ntype=wireguard\n[wireguard]\nmtu=1500\n",
		"==> /etc/systemd/network/a.netdev\n[NetDev]\nName=gre1\nKind=gre\nMTUBytes=1500\n[Tunnel]\nIndependent=yes\n", "==> /etc/network/interfaces\niface wg0 inet static\n mtu 1500\n",
		"==> /etc/netplan/a.yaml\nnetwork:\n  tunnels:\n    x: {mode: vxlan, mtu: 1500}\n",
	}, []string{
		"==> /etc/NetworkManager/system-connections/a.nmconnection\n[connection]\ntype=wireguard\n[wireguard]\nmtu=1420\n", "==> /etc/NetworkManager/system-connections/a.nmconnection\n[connection]\ntype=ethernet\n[ethernet]\nmtu=1500\n",
		"==> /etc/systemd/network/a.netdev\n[NetDev]\nName=gre1\nKind=gre\nMTUBytes=1500\n[Tunnel]\nIndependent=yes\n==> /etc/systemd/network/a.network\n[Match]\nName=e\n[Link]\nMTUBytes=9000\n",
	}},
	{"net-tunnel-local", []string{"==> /etc/systemd/network/a.netdev\n[NetDev]\nName=gre1\nKind=gre\n[Tunnel]\nIndependent=yes\nLocal=198.18.0.9\nRemote=198.19.0.1\n==> /etc/systemd/network/e.network\n[Match]\nName=e\n[Network]\nAddress=198.18.0.2/24\n"},
		[]string{"==> /etc/systemd/network/a.netdev\n[NetDev]\nName=gre1\nKind=gre\n[Tunnel]\nIndependent=yes\nLocal=198.18.0.2\nRemote=198.19.0.1\n==> /etc/systemd/network/e.network\n[Match]\nName=e\n[Network]\nAddress=198.18.0.2/24\n",
			"==> /etc/systemd/network/a.netdev\n[NetDev]\nName=gre1\nKind=gre\n[Tunnel]\nIndependent=yes\nLocal=198.18.0.9\n==> /etc/systemd/network/e.network\n[Match]\nName=e\n[Network]\nDHCP=yes\n"}},
	{"network-order", []string{
		"==> /etc/systemd/network/15-dhcp.network\n[Match]\nName=en*\n\n[Network]\nDHCP=yes\n==> /etc/systemd/network/20-bond.network\n[Match]\nName=enp1s0 enp2s0\n\n[Network]\nDHCP=yes\n",
		"==> /etc/systemd/network/15-a.network\n[Match]\nName=enp1s0\n\n[Network]\nDHCP=yes\n==> /etc/systemd/network/20-b.network\n[Match]\nName=enp1s0\n\n[Network]\nAddress=198.18.0.2/24\n",
	}, []string{
		"==> /etc/systemd/network/15-bond.network\n[Match]\nName=enp1s0 enp2s0\n\n[Network]\nLLDP=yes\n==> /etc/systemd/network/20-dhcp.network\n[Match]\nName=en*\n\n[Network]\nDHCP=yes\n",
		"==> /etc/systemd/network/15-dhcp.network\n[Match]\nName=en*\nDriver=virtio_net\n\n[Network]\nDHCP=yes\n==> /etc/systemd/network/20-bond.network\n[Match]\nName=enp1s0\n\n[Network]\nDHCP=yes\n",
		"==> /etc/systemd/network/15-dhcp.network\n[Match]\nName=en*\n\n[Network]\nDHCP=yes\n==> /etc/systemd/network/20-br.network\n[Match]\nName=br0\n\n[Network]\nDHCP=no\n",
	}},
}

// filesOf splits texts that begin with "==> PATH".
func filesOf(joined string) map[string]string {
	texts := map[string]string{}
	for part := range strings.SplitSeq(joined, "==> ") {
		if name, text, ok := strings.Cut(part, "\n"); ok {
			texts[name] = text
		}
	}
	return texts
}

func TestNetworkProblems(t *testing.T) {
	says := func(joined string) []string {
		found := map[string]bool{}
		texts := filesOf(joined)
		for _, p := range NetworkProblems(texts) {
			if lines := strings.Count(texts[p.File], "\n"); p.Line < 1 || p.Line > lines {
				t.Errorf("%s: line %d of %d in %s", p.Message, p.Line, lines, p.File)
			}
			found[p.Message] = true
		}
		return slices.Sorted(maps.Keys(found))
	}
	for _, c := range networkCases {
		for _, joined := range c.wrong {
			if got := says(joined); !slices.Equal(got, []string{c.name}) {
				t.Errorf("want only %s, got %q:\n%s", c.name, got, joined)
			}
		}
		for _, joined := range c.right {
			if got := says(joined); len(got) > 0 {
				t.Errorf("want silence, got %q:\n%s", got, joined)
			}
		}
	}
}
