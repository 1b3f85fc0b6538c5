package linux

import (
	"fmt"
	"linerate/internal/fact"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOffloads: what each source that configures offloads sets for an interface, whatever name it uses.
func TestOffloads(t *testing.T) {
	for _, c := range []struct {
		name string
		read func(fact.Files) Config
		tree tree
		want []string
	}{
		{".link, by the name that it gives or matches", ReadLinkFiles, tree{
			"/etc/systemd/network/10-wan.link":         "[Match]\nMACAddress=00:00:5e:00:53:01\n[Link]\nLargeReceiveOffload=no\nName=wan0\nTCPSegmentationOffload=true\n",
			"/etc/systemd/network/20-lan.link":         "[Match]\nOriginalName=enp2s0\n[Link]\nGenericReceiveOffload=false\nMTUBytes=9000\n",
			"/etc/systemd/network/25-two.link":         "[Match]\nOriginalName=enp3s0 enx* enp4s0\n[Link]\nGenericReceiveOffload=false\n",
			"/etc/systemd/network/30-any.link":         "[Match]\nDriver=igb\n[Link]\nGenericReceiveOffload=false\n",
			"/usr/lib/systemd/network/99-default.link": "[Match]\nOriginalName=*\n[Link]\nNamePolicy=keep\n",
			"/etc/systemd/network/99-late.link":        "[Match]\nOriginalName=eth0\n[Link]\nGenericReceiveOffload=false\n",
		}, []string{"wan0 ethernet? -large-receive-offload /etc/systemd/network/10-wan.link:4", "wan0 ethernet? tcp-segmentation-offload /etc/systemd/network/10-wan.link:6",
			"enp2s0 ethernet -generic-receive-offload /etc/systemd/network/20-lan.link:4",
			"enp3s0 ethernet -generic-receive-offload /etc/systemd/network/25-two.link:4", "enp4s0 ethernet -generic-receive-offload /etc/systemd/network/25-two.link:4"}},
		{"udev's rule for one device and for all", ReadUdevRules, tree{
			"/etc/udev/rules.d/60.rules": "SUBSYSTEM==\"net\", KERNEL==\"eth0\", RUN+=\"/sbin/ethtool -K %k gro off\"\nSUBSYSTEM==\"net\", RUN+=\"/sbin/ethtool -K %k lro off\"\n",
		}, []string{"eth0 ethernet -generic-receive-offload /etc/udev/rules.d/60.rules:1"}},
		{"ifupdown: a command, and the keys of the package ethtool", ReadScripts, tree{
			"/etc/network/interfaces": "iface ens3 inet dhcp\n  up ethtool -K $IFACE tso off gso off\n  offload-lro on\n  offload-tx off\n",
		}, []string{"ens3 ethernet -tcp-segmentation-offload /etc/network/interfaces:2", "ens3 ethernet -generic-segmentation-offload /etc/network/interfaces:2",
			"ens3 ethernet large-receive-offload /etc/network/interfaces:3", "ens3 ethernet -tx-checksumming /etc/network/interfaces:4"}},
		{"ifcfg", ReadScripts, tree{
			"/etc/sysconfig/network-scripts/ifcfg-ens1":   "DEVICE=ens1f0\nETHTOOL_OPTS=\"-G ${DEVICE} rx 4096; -K ens1f0 gro off\"\n",
			"/etc/sysconfig/network-scripts/ifcfg-x.bak":  "DEVICE=ens1f0\nETHTOOL_OPTS=\"-K ens1f0 lro on\"\n",
			"/etc/sysconfig/network-scripts/ifdown-ippp0": "ETHTOOL_OPTS=\"-K x gro off\"\n",
		}, []string{"ens1f0 ethernet -generic-receive-offload /etc/sysconfig/network-scripts/ifcfg-ens1:2"}},
		{"NetworkManager", ReadNetworkManager, tree{
			"/etc/NetworkManager/system-connections/a.nmconnection": "[connection]\ninterface-name=bond0\n[ethtool]\nfeature-lro=true\nfeature-gro=ignore\nring-rx=512\n",
		}, []string{"bond0 lagg large-receive-offload /etc/NetworkManager/system-connections/a.nmconnection:4"}},
		{"netplan", ReadNetplan, tree{
			"/etc/netplan/50.yaml": "network:\n  ethernets:\n    eno2:\n      large-receive-offload: true\n    eno1:\n      generic-receive-offload: false\n",
			"/run/netplan/60.yaml": "network:\n  ethernets:\n    eno1:\n      generic-receive-offload: true\n",
		}, []string{"eno1 ethernet -generic-receive-offload /etc/netplan/50.yaml:6", "eno2 ethernet large-receive-offload /etc/netplan/50.yaml:4", "eno1 ethernet generic-receive-offload /run/netplan/60.yaml:4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, n := range c.read(c.tree).NICs {
				kind := n.Kind
				if kind == "" {
					kind = "ethernet?"
				}
				got = append(got, fmt.Sprintf("%s %s %s %s:%d", n.Name, kind, n.ConfigFlags[0], n.Configured[0].File, n.Configured[0].Number))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}
