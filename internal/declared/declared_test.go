package declared

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// show is what was read, a line each: for whom, file:line, text.
func show(hosts []*Host) string {
	var b strings.Builder
	for _, h := range hosts {
		fmt.Fprintf(&b, "%s %s %s", h.Form, h.Node, h.Container)
		if h.Version != "" {
			fmt.Fprintf(&b, " on %s %s", h.System, h.Version)
		}
		b.WriteString("\n")
		for _, file := range slices.Sorted(maps.Keys(h.Files)) {
			for _, l := range h.Files[file] {
				fmt.Fprintf(&b, "%d %s %s\n", l.At, strings.TrimPrefix(file, "/etc/"), l.Text)
			}
		}
		for _, u := range h.Unresolved {
			fmt.Fprintf(&b, "%d ? %s: %s\n", u.At, u.Name, u.Why)
		}
	}
	return b.String()
}

// gz is a text as Ignition carries it.
func gz(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	z.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// TestForms reads each form as its makers document it: what is for whom, at which line.
func TestForms(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"a machine configuration of Talos": {"talos/cp1.yaml", `machine:
  type: controlplane
  install:
    image: ghcr.io/siderolabs/installer:v1.9.5
    extraKernelArgs: [talos.platform=metal, -selinux]
  sysctls:
    net.core.somaxconn: "65535"
    net.ipv4.tcp_rmem: 4096	131072 16777216 # with a tab
    net/ipv6/conf/bond0.70/disable_ipv6: 1
  sysfs:
    devices.system.cpu.cpu0.cpufreq.scaling_governor: performance
---
apiVersion: v1alpha1
kind: SysctlConfig
params: {vm.nr_hugepages: "1024"}
`, `Talos controlplane 
5 kernel/cmdline talos.platform=metal
11 rc.d/rc.local echo performance > /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
7 sysctl.d/declared.conf net.core.somaxconn = 65535
8 sysctl.d/declared.conf net.ipv4.tcp_rmem = 4096 131072 16777216
9 sysctl.d/declared.conf net/ipv6/conf/bond0.70/disable_ipv6 = 1
15 sysctl.d/declared.conf vm.nr_hugepages = 1024
`},
		"lines of a task of Ansible for FreeBSD's loader": {"base/tasks/main.yml", `- name: FreeBSD
  lineinfile: {path: /boot/loader.conf.d/tuning.conf, line: "{{ item }}"}
  loop:
    - net.isr.bindthreads=1
- lineinfile: {path: /etc/sysctl.conf, line: vm.overcommit=0}
- sysctl: {name: kern.panic_reboot_wait_time, value: 30}
- sysctl: {name: net.inet.tcp.msl, value: KOLLA_UNSET}
`, `Ansible  
4 /boot/loader.conf net.isr.bindthreads="1"
5 sysctl.conf vm.overcommit=0
6 sysctl.conf kern.panic_reboot_wait_time = 30
7 ? net.inet.tcp.msl: its value means another: KOLLA_UNSET
`},
		"an installer without an ending": {"http/freebsd/installerconfig", `DISTRIBUTIONS="kernel.txz base.txz"
#!/bin/sh
cat >> /boot/loader.conf << EOT
vm.kmem_size="200M"
vfs.zfs.arc_max="40M"
EOT
echo kern.ipc.somaxconn = 1024 >> /etc/sysctl.conf
sed -i "s@#{0,}?kern.ipc.maxsockbuf ?= ?([0-9]+)@kern.ipc.maxsockbuf = 4194304@g" /etc/sysctl.conf
`, `shell script  
4 /boot/loader.conf vm.kmem_size="200M"
5 /boot/loader.conf vfs.zfs.arc_max="40M"
7 sysctl.conf kern.ipc.somaxconn = 1024
8 sysctl.conf kern.ipc.maxsockbuf = 4194304
`},
		"a list that another program reads": {"files/lib/gluon/memory-64m.sysctl", `vm.min_free_kbytes="2048"
net.ipv4.ipfrag_low_thresh="393216"
`, `sysctls  
1 sysctl.d/declared.conf vm.min_free_kbytes = 2048
2 sysctl.d/declared.conf net.ipv4.ipfrag_low_thresh = 393216
`},
		"a template of Jinja with directives": {"talos/cluster.yaml.j2", `{% set n = 1 %}
machine:
  sysctls:
    {% if big %}
    net.core.rmem_max: "67108864"
    {% endif %}
    net.core.wmem_max: {{ wmem | default(4) }}
    net.ipv4.conf.{{ dev }}.rp_filter: 0
`, `Talos cluster.yaml 
5 sysctl.d/declared.conf net.core.rmem_max = 67108864
7 ? net.core.wmem_max: its value comes from a template
8 ? net.ipv4.conf.TEMPLATED.rp_filter: its name holds a variable
`},
		"a pod, its privileged container, and a DaemonSet on the node's network": {"k8s.yaml", `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      securityContext:
        sysctls:
        - name: net.core.somaxconn
          value: "1024"
        - {name: vm.swappiness, value: "10"}
      initContainers:
      - name: init
        securityContext: {privileged: true}
        command: ["sh", "-c", "sysctl -w vm.max_map_count=262144 && sysctl -w 'net.ipv4.tcp_rmem=4096 87380 6291456'"]
      containers: [{name: web}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: tune}
spec:
  template:
    spec:
      hostNetwork: true
      containers:
      - command: [sysctl, -w, net.core.somaxconn=2048]
`, `Kubernetes Deployment web kubernetes-privileged
15 sysctl.d/declared.conf net.ipv4.tcp_rmem = 4096 87380 6291456
15 sysctl.d/declared.conf vm.max_map_count = 262144
Kubernetes Deployment web kubernetes-pod
9 sysctl.d/declared.conf net.core.somaxconn = 1024
11 sysctl.d/declared.conf vm.swappiness = 10
Kubernetes DaemonSet tune 
26 sysctl.d/declared.conf net.core.somaxconn = 2048
`},
		"compose, as a mapping and as a list": {"docker-compose.yml", `services:
  vpn:
    image: wg
    sysctls:
      - net.ipv4.ip_forward=1
      - "net.ipv4.conf.all.src_valid_mark=1"
  web:
    sysctls: {net.core.somaxconn: 1024}
`, `compose vpn compose
5 sysctl.d/declared.conf net.ipv4.ip_forward = 1
6 sysctl.d/declared.conf net.ipv4.conf.all.src_valid_mark = 1
compose web compose
8 sysctl.d/declared.conf net.core.somaxconn = 1024
`},
		"MachineConfig with data URLs, plain, of base64 and zipped": {"99-worker.yaml", `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  labels: {machineconfiguration.openshift.io/role: worker}
spec:
  kernelArguments: [nosmt]
  config:
    storage:
      files:
      - path: /etc/sysctl.d/99-a.conf
        contents: {source: "data:,net.core.somaxconn%20%3D%204096%0Avm.swappiness%3D10"}
      - path: /etc/sysctl.d/99-b.conf
        contents:
          source: data:text/plain;charset=utf-8;base64,` + base64.StdEncoding.EncodeToString([]byte("net.ipv4.tcp_sack=0\n")) + `
      - path: /etc/sysctl.d/99-c.conf
        contents:
          compression: gzip
          source: data:;base64,` + gz("vm.max_map_count=262144\n") + `
`, `MachineConfig worker 
6 kernel/cmdline nosmt
11 sysctl.d/99-a.conf net.core.somaxconn = 4096
11 sysctl.d/99-a.conf vm.swappiness=10
14 sysctl.d/99-b.conf net.ipv4.tcp_sack=0
18 sysctl.d/99-c.conf vm.max_map_count=262144
`},
		"Butane, which pins a release of OpenShift": {"a.bu", `variant: openshift
version: 4.12.0
metadata:
  labels: {machineconfiguration.openshift.io/role: master}
storage:
  files:
  - path: /etc/sysctl.d/90.conf
    contents:
      inline: |
        # a comment
        vm.swappiness = 1
kernel_arguments: {should_exist: [quiet]}
`, `Butane master  on openshift 4.12
12 kernel/cmdline quiet
10 sysctl.d/90.conf # a comment
11 sysctl.d/90.conf vm.swappiness = 1
`},
		"Ignition": {"a.ign", `{"ignition": {"version": "3.4.0"}, "storage": {"files": [{"path": "/etc/sysctl.d/1.conf",
"contents": {"source": "data:,vm.swappiness%3D1"}}]}}`, "Ignition  \n2 sysctl.d/1.conf vm.swappiness=1\n"},
		"a profile of Tuned, in a block and in quotes": {"tuned.yaml", `apiVersion: tuned.openshift.io/v1
kind: Tuned
spec:
  profile:
  - name: ingress
    data: |
      [sysctl]
      net.ipv4.tcp_tw_reuse=1
  - data: "[sysctl]\nvm.swappiness=10\n
      vm.stat_interval=10\n"
    name: quoted
  recommend:
  - {priority: 20, profile: ingress}
`, `Tuned profile ingress 
6 tuned/active_profile ingress
7 tuned/ingress/tuned.conf [sysctl]
8 tuned/ingress/tuned.conf net.ipv4.tcp_tw_reuse=1
Tuned profile quoted 
9 tuned/active_profile quoted
9 tuned/quoted/tuned.conf [sysctl]
9 tuned/quoted/tuned.conf vm.swappiness=10
10 tuned/quoted/tuned.conf  vm.stat_interval=10
`},
		"Bottlerocket": {"user-data.toml", `[settings.kernel.sysctl]
"net.core.rmem_max" = "8388608"
# "vm.swappiness" = "1"
"user.max_user_namespaces"="16384"
`, `Bottlerocket  
2 sysctl.d/declared.conf net.core.rmem_max = 8388608
4 sysctl.d/declared.conf user.max_user_namespaces = 16384
`},
		"cloud-init": {"user-data.yaml", `#cloud-config
write_files:
- path: /etc/sysctl.d/10.conf
  content: |
    vm.swappiness=1
- path: /etc/sysctl.d/11.conf
  encoding: b64
  content: ` + base64.StdEncoding.EncodeToString([]byte("net.core.somaxconn=1\n")) + `
runcmd:
- sysctl -w net.ipv4.ip_forward=1
- echo 2 > /proc/sys/net/ipv4/conf/all/rp_filter
`, `cloud-init  
5 sysctl.d/10.conf vm.swappiness=1
8 sysctl.d/11.conf net.core.somaxconn=1
10 sysctl.d/declared.conf net.ipv4.ip_forward = 1
11 sysctl.d/declared.conf net.ipv4.conf.all.rp_filter = 2
`},
		"tasks of Ansible": {"roles/net/tasks/main.yml", `- name: forward
  ansible.posix.sysctl: {name: net.ipv4.ip_forward, value: 1, state: present}
- sysctl: name=vm.swappiness value="{{ swappiness }}" state=present
- ansible.posix.sysctl:
    name: net.core.somaxconn
    state: absent
- ansible.posix.sysctl:
    name: "{{ item.key }}"
    value: "{{ item.value }}"
  loop:
  - {key: net.core.rmem_max, value: 8388608}
- lineinfile: {path: /etc/sysctl.conf, line: net.ipv4.tcp_sack = 0}
- copy:
    dest: /etc/sysctl.d/9.conf
    content: |
      vm.dirty_ratio = 5
- fail: {msg: net.ipv4.tcp_sack = 1 is wanted}
  when: x
`, `Ansible net 
12 sysctl.conf net.ipv4.tcp_sack = 0
16 sysctl.d/9.conf vm.dirty_ratio = 5
2 sysctl.d/declared.conf net.ipv4.ip_forward = 1
11 sysctl.d/declared.conf net.core.rmem_max = 8388608
3 ? vm.swappiness: its value is a variable: {{ swappiness }}
`},
		"variables of a group": {"inventory/group_vars/routers.yml", `sysctl_config:
  net.ipv4.conf.all.forwarding: 1
  net.ipv4.tcp_sack: "{{ sack }}"
extra: [{name: vm.swappiness, value: 10}]
`, `Ansible routers 
2 sysctl.d/declared.conf net.ipv4.conf.all.forwarding = 1
4 sysctl.d/declared.conf vm.swappiness = 10
3 ? net.ipv4.tcp_sack: its value is a variable: {{ sack }}
`},
		"values of a chart": {"charts/x/values.yaml", "sysctl:\n  net.core.somaxconn: 4096\nspark:\n  fs.s3a.endpoint: x\n", "Helm values  \n2 sysctl.d/declared.conf net.core.somaxconn = 4096\n"},
		"hiera of puppet": {"data/common.yaml", "sysctl::base::values:\n  net.core.somaxconn:\n    value: '4096'\n  vm.swappiness: {ensure: present, value: 5}\n",
			"puppet  \n2 sysctl.d/declared.conf net.core.somaxconn = 4096\n4 sysctl.d/declared.conf vm.swappiness = 5\n"},
		"a module of NixOS": {"hosts/fw/default.nix", `{ lib, pkgs, ... }: {
  boot.kernelPackages = pkgs.linuxPackages_6_12;
  boot.kernelParams = [ "mitigations=off" "nosmt"
    "net.ifnames=0" ];
  boot.kernel.sysctl = {
    "net.ipv4.ip_forward" = true; # routes
    "net.core.somaxconn" = lib.mkForce 4096;
    "vm.swappiness" = config.my.swappiness;
    # "vm.dirty_ratio" = 1;
  };
  boot.kernel.sysctl."net.ipv4.tcp_rmem" = lib.mkDefault "4096 87380 6291456";
}
`, `NixOS fw  on kernel 6.12
3 kernel/cmdline mitigations=off
3 kernel/cmdline nosmt
4 kernel/cmdline net.ifnames=0
6 sysctl.d/declared.conf net.ipv4.ip_forward = 1
7 sysctl.d/declared.conf net.core.somaxconn = 4096
11 sysctl.d/declared.conf net.ipv4.tcp_rmem = 4096 87380 6291456
8 ? vm.swappiness: its value is an expression: config.my.swappiness
`},
		"node pools in Terraform": {"aks.tf", `linux_os_config {
  sysctl_config {
    net_core_somaxconn = 4096
    vm_max_map_count   = var.map_count
    fs_file_max        = optional(number)
    net_ipv4_ip_local_port_range_min = 1024
  }
}
linux_node_config { sysctls = { "net.core.rmem_max" = "8388608" } }
`, `Terraform  
3 sysctl.d/declared.conf net.core.somaxconn = 4096
9 sysctl.d/declared.conf net.core.rmem_max = 8388608
4 ? vm.max_map_count: its value is an expression: var.map_count
6 ? net.ipv4.ip_local_port_range: only one end of the range is set
`},
		"node pools of Azure's API": {"pool.json", `{"linuxOSConfig": {"sysctls": {"netCoreSomaxconn": 4096}}}`, "YAML  \n1 sysctl.d/declared.conf net.core.somaxconn = 4096\n"},
		// Azure/terraform-azurerm-aks, Apache-2.0: examples and what its module passes on.
		"both ends of AKS' range of ports, pages, and what a module passes on": {"main.tf", `  transparent_huge_page_enabled = "madvise"
  sysctl_config {
    net_ipv4_ip_local_port_range_max = 60999
    net_ipv4_ip_local_port_range_min = 16384
    net_core_somaxconn = sysctl_config.value.net_core_somaxconn
    vm_swappiness = (Optional) The sysctl setting vm.swappiness.
  }
`, `Terraform  
1 rc.d/rc.local echo madvise > /sys/kernel/mm/transparent_hugepage/enabled
4 sysctl.d/declared.conf net.ipv4.ip_local_port_range = 16384 60999
5 ? net.core.somaxconn: its value is an expression: sysctl_config.value.net_core_somaxconn
`},
		// terraform-google-modules/terraform-google-kubernetes-engine, Apache-2.0.
		"a script within Terraform": {"router.tf", "  startup = <<EOT\n  echo \"net.ipv4.ip_forward=1\" | sudo tee -a /etc/sysctl.conf\n", "Terraform  \n2 sysctl.d/declared.conf net.ipv4.ip_forward = 1\n"},
		"patches of talhelper": {"talconfig.yaml", "talosVersion: v1.9.0\nnodes:\n- hostname: a\n  patches:\n  - |-\n    cluster: {}\n    machine:\n      sysctls:\n        net.core.somaxconn: \"1024\"\npatches:\n- |-\n  - op: add\n    path: /machine/x\n- |\n  # both\n  machine:\n    sysctls:\n      net.core.optmem_max: \"65536\"\n", `Talos talconfig 
9 sysctl.d/declared.conf net.core.somaxconn = 1024
18 sysctl.d/declared.conf net.core.optmem_max = 65536
`},
		"modules of Talos": {"cp.yaml", "machine:\n  type: worker\n  kernel:\n    modules:\n    - name: nf_conntrack\n      parameters: [hashsize=262144]\n    - name: br_netfilter\n", `Talos worker 
6 modprobe.d/declared.conf options nf_conntrack hashsize=262144
5 modules-load.d/declared.conf nf_conntrack
7 modules-load.d/declared.conf br_netfilter
`},
		// miraheze/puppet, GPL-3.0; wikimedia/operations-puppet, Apache-2.0.
		"puppet": {"modules/base/manifests/sysctl.pp", `sysctl::parameters { 'wide':
  values => {
    'net.core.rmem_max' => 16777216, # default already
    'net.ipv4.tcp_rmem' => [ 4096, 87380, 16777216 ],
    'net.ipv4.conf.all.rp_filter' => $rp_filter_value,
  }
}
sysctl { 'net.core.somaxconn':
  value => '4096',
}
sysctl { 'vm.swappiness': ensure => absent }
`, `puppet  
3 sysctl.d/declared.conf net.core.rmem_max = 16777216
4 sysctl.d/declared.conf net.ipv4.tcp_rmem = 4096 87380 16777216
9 sysctl.d/declared.conf net.core.somaxconn = 4096
5 ? net.ipv4.conf.all.rp_filter: its value is an expression: $rp_filter_value
`},
		// Security-Onion-Solutions/securityonion, Elastic-2.0.
		"Salt": {"salt/common/init.sls", "vm.max_map_count:\n  sysctl.present:\n    - value: 262144\nother:\n  sysctl.present:\n    - name: net.core.wmem_default\n    - value: 26214400\n", `Salt  
3 sysctl.d/declared.conf vm.max_map_count = 262144
6 sysctl.d/declared.conf net.core.wmem_default = 26214400
`},
		// NotAShelf/nyx, GPL-3.0.
		"NixOS in one line, modules, products": {"boot.nix", `boot = {
  kernelModules = ["tls" "tcp_bbr"];
  kernel.sysctl = {"kernel.unprivileged_bpf_disabled" = 1;};
  kernel.sysctl."net.core.rmem_max" = 16 * 1024 * 1024;
  kernel.sysctl."net.ipv4.tcp_rmem" = ''4096 87380 16777216'';
  kernel.sysctl."vm.swappiness" = l.mkForce "1";
  echo 1500 > /proc/sys/vm/dirty_writeback_centisecs
`, `NixOS  
2 modules-load.d/declared.conf tls
2 modules-load.d/declared.conf tcp_bbr
3 sysctl.d/declared.conf kernel.unprivileged_bpf_disabled = 1
4 sysctl.d/declared.conf net.core.rmem_max = 16777216
5 sysctl.d/declared.conf net.ipv4.tcp_rmem = 4096 87380 16777216
6 sysctl.d/declared.conf vm.swappiness = 1
7 sysctl.d/declared.conf vm.dirty_writeback_centisecs = 1500
`},
		// mailcow/mailcow-dockerized, GPL-3.0: its container, not its host, is without IPv6.
		"a container of a script": {"backup.sh", "docker run --name backup \\\n  --sysctl net.ipv6.conf.all.disable_ipv6=1 \\\nsysctl -w net.ipv4.ip_forward=1\n", `shell script  
3 sysctl.d/declared.conf net.ipv4.ip_forward = 1
shell script  compose
2 sysctl.d/declared.conf net.ipv6.conf.all.disable_ipv6 = 1
`},
		"a quadlet of podman": {"web.container", "[Container]\nSysctl=net.core.somaxconn=1024\n", "shell script  compose\n2 sysctl.d/declared.conf net.core.somaxconn = 1024\n"},
		// ocochard/BSDRP, BSD-2-Clause: the last line only says what to type.
		"a script of FreeBSD": {"usr/local/bin/tuning", "#!/bin/sh\n# BSDRP: a FreeBSD router\necho 'net.inet.carp.preempt=1' >> /etc/sysctl.conf\nsysctl net.link.tap.up_on_open=1 > /dev/null 2>&1\necho \"sysctl kern.timecounter.hardware=HPET\"\n", `shell script  
3 sysctl.conf net.inet.carp.preempt = 1
4 sysctl.conf net.link.tap.up_on_open = 1
`},
		// jeremypass96/freebsd-stuff, BSD-2-Clause: boot-only tunables are where they belong, and a grep sets nothing.
		"a script that writes loader.conf": {"setup.sh", "#!/bin/sh\n# FreeBSD\ngrep -q 'kern.ipc.shmseg=10000' /boot/loader.conf ||\necho 'kern.ipc.shmseg=10000' >>/boot/loader.conf\n" +
			"cat > $root/boot/loader.conf <<EOF\nkern.racct.enable=1\nEOF\ncat <<EOF\nkern.hz=100\nEOF\nsysctl kern.ipc.maxsockbuf=1\n", `shell script  
4 /boot/loader.conf kern.ipc.shmseg="10000"
6 /boot/loader.conf kern.racct.enable="1"
11 sysctl.conf kern.ipc.maxsockbuf = 1
`},
		"an argument of a function":                     {"io.sh", "sysctl -w vm.nr_hugepages=\"$1\"\n", "shell script  \n1 ? vm.nr_hugepages: its value is a variable: $1\n"},
		"a script of rc.d, which rc.conf decides about": {"rc.d/netoptions", "#!/bin/sh\n# FreeBSD\n. /etc/rc.subr\nif checkyesno tcp_extensions; then :; else\n\tsysctl net.inet.tcp.rfc1323=0 >/dev/null\nfi\n", ""},
		"a template of the loader's":                    {"templates/loader.conf.j2", "# {{ ansible_managed }}, FreeBSD\nzfs_load=\"YES\"\nkern.geom.label.gptid.enable=\"0\"\n", "template  \n3 /boot/loader.conf kern.geom.label.gptid.enable=\"0\"\n"},
		"variables of a guest":                          {"vm.sh", "# FreeBSD\nbhyveload -m 2G -h / \\\n\t-e vfs.root.mountfrom=ufs:/dev/nda0p2 \\\n\tvm0\nsysctl net.link.tap.up_on_open=1\n", "shell script  \n5 sysctl.conf net.link.tap.up_on_open = 1\n"},
		"a script that only mentions rc.d":              {"tune.sh", "#!/bin/sh\n# FreeBSD, after /etc/rc.d/netoptions\nsysctl net.inet.tcp.rfc1323=0\n", "shell script  \n3 sysctl.conf net.inet.tcp.rfc1323 = 0\n"},
		"names that OpenBSD and macOS have, too":        {"setup.sh", "sysctl -w net.inet.ip.forwarding=1 kern.maxfiles=65536\n", ""},
		// cozystack/cozystack, Apache-2.0; debops/debops, GPL-3.0; wikimedia/operations-puppet.
		"labels, sysfs and facts":      {"x.yaml", "annotations:\n  vm.kubevirt.io/os: linux\nsysfs: [{name: kernel/mm/ksm/run, value: '1'}]\nfacts:\n  net.ipv4.tcp_min_snd_mss: true\n", ""},
		"what Nix evaluated":           {"-", `{"kernel.core_pattern":"|/bin/false","net.ipv4.ip_forward":true,"net.core.somaxconn":128}`, "sysctls  \n1 sysctl.d/declared.conf kernel.core_pattern = |/bin/false\n1 sysctl.d/declared.conf net.ipv4.ip_forward = 1\n1 sysctl.d/declared.conf net.core.somaxconn = 128\n"},
		"a boolean of Ansible":         {"group_vars/all.yml", "sysctl: {net.ipv4.ip_forward: yes}\n", "Ansible all \n1 sysctl.d/declared.conf net.ipv4.ip_forward = 1\n"},
		"a device of a script":         {"if-up.sh", "echo 1 > /proc/sys/net/ipv4/conf/$INTERFACE/forwarding\n", "shell script  \n1 ? net.ipv4.conf.$INTERFACE.forwarding: its name holds a variable\n"},
		"a profile that is a template": {"tuned/node", "[main]\nsummary=x\n\n[sysctl]\nvm.swappiness=10\n{{if .X}}\nvm.dirty_ratio={{.Ratio}}\n{{end}}\n", "template  \n5 sysctl.d/declared.conf vm.swappiness = 10\n7 ? vm.dirty_ratio: its value is a variable: {{.Ratio}}\n"},
		"nothing":                      {"README.yaml", "a: 1\nuser.name: x\nnet.example: y\n", ""},
		"nothing that parses":          {"x.yaml", "a: [\n\x01", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, show(Read(c.file, []byte(c.text), nil))); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestVariables: a role's variables are those of its defaults and of the inventory, where
// these agree; a variable of another role is none of its own.
func TestVariables(t *testing.T) {
	var vars Variables
	vars.Add("roles/net/defaults/main.yml", []byte("backlog: 4096\nswap: \"{{ base }}\"\nbase: 5\nsack: 1\nmax: '65536 16384'\n"))
	vars.Add("inventory/group_vars/all", []byte("sack: 0\nfwd: true\n"))
	vars.Add("roles/other/vars/main.yml", []byte("alien: 1\nbacklog: 1\n"))
	text := `- sysctl: {name: net.core.somaxconn, value: "{{ backlog | int }}"}
- sysctl: {name: vm.swappiness, value: "{{ swap }}"}
- sysctl: {name: net.ipv4.tcp_sack, value: "{{ sack }}"}
- sysctl: {name: net.ipv4.ip_forward, value: "{{ fwd }}"}
- sysctl: {name: net.ipv4.tcp_ecn, value: "{{ alien }}"}
- sysctl: {name: vm.dirty_ratio, value: "{{ nowhere | default('10') }}"}
- sysctl: {name: vm.stat_interval, value: "{{ fwd | ternary(1, 2) }}"}
`
	want := `Ansible net 
1 sysctl.d/declared.conf net.core.somaxconn = 4096
2 sysctl.d/declared.conf vm.swappiness = 5
4 sysctl.d/declared.conf net.ipv4.ip_forward = 1
6 sysctl.d/declared.conf vm.dirty_ratio = 10
3 ? net.ipv4.tcp_sack: sack is 1 in roles/net/defaults/main.yml and 0 in inventory/group_vars/all
5 ? net.ipv4.tcp_ecn: the repository does not define alien
7 ? vm.stat_interval: its value is a variable: {{ fwd | ternary(1, 2) }}
`
	if d := cmp.Diff(want, show(Read("roles/net/tasks/main.yml", []byte(text), &vars))); d != "" {
		t.Error(d)
	}
}

// TestRepositoryOfFreeBSD: a role need not say whose settings they are where its repository
// does, unless it speaks of a system that has some of the names.
func TestRepositoryOfFreeBSD(t *testing.T) {
	var vars Variables
	text := "- sysctl: {name: net.inet.tcp.drop_synfin, value: 1}\n- sysctl: {name: vm.overcommit, value: 0}\n"
	read := func(name string) string { return show(Read(name, []byte(text), &vars)) }
	if got := read("base/tasks/main.yml"); strings.Contains(got, "drop_synfin") {
		t.Errorf("no file speaks of FreeBSD: %s", got)
	}
	vars.Add("site.yml", []byte("- hosts: all\n  when: ansible_os_family == 'FreeBSD'\n"))
	want := "Ansible  \n1 sysctl.conf net.inet.tcp.drop_synfin = 1\n2 sysctl.conf vm.overcommit = 0\n"
	if d := cmp.Diff(want, read("base/tasks/main.yml")); d != "" {
		t.Error(d)
	}
	if got := read("macos/tasks/main.yml"); strings.Contains(got, "drop_synfin") {
		t.Errorf("read as FreeBSD's: %s", got)
	}
}

// TestPlain: a file that a host reads itself, by whatever name.
func TestPlain(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"etc/99-net", "# x\nnet.core.somaxconn=4096\nvm.swappiness = 1\n", true},
		{"profiles/node", "[main]\nsummary=a\ninclude=b\n[sysctl]\nvm.swappiness=1\n", true},
		{"a.nix", "net.core.somaxconn=4096\n", false},
		{"x.conf", "{{ a }}\nnet.core.somaxconn=4096\n", false},
		{"php.ini.conf", "a=1\nb=2\nnet.core.somaxconn=4096\n", false},
	} {
		if got := Plain(c.name, []byte(c.text)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	for name, want := range map[string]bool{"a/README.tpl": false, "pkg/testdata/x.yaml": false, "meta/argument_specs.yml": false, "molecule/x/verify.yml": false, "bin/tuning": true, "a.md": false, "x.container": true} {
		if May(name) != want {
			t.Errorf("May(%s) is not %v", name, want)
		}
	}
}

// TestBombs: what grows in the reading does not grow beyond bounds.
func TestBombs(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 {net.core.somaxconn: 1}\n")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&laughs, "a%d: &a%d [*a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1)
	}
	if got := Read("x.yaml", []byte(laughs.String()), nil); len(got) != 1 || len(got[0].Files[SysctlFile]) != 1 {
		t.Errorf("aliases: %s", show(got))
	}
	zeros := gz(strings.Repeat("vm.swappiness=1\n", 2<<20))
	bomb := "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nspec: {f: {path: /etc/sysctl.d/1.conf, contents: {compression: gzip, source: 'data:;base64," + zeros + "'}}}\n"
	if got := Read("x.yaml", []byte(bomb), nil); len(got) != 1 || len(got[0].Files["/etc/sysctl.d/1.conf"]) > maxLines {
		t.Errorf("a bomb of gzip: %d hosts", len(got))
	}
	if got := Read("x.yaml", bytes.Repeat([]byte("a"), MaxFile+1), nil); got != nil {
		t.Error("a file beyond the bound was read")
	}
	deep := strings.Repeat("[", 900) + strings.Repeat("]", 900)
	Read("x.yaml", []byte(deep), nil)
}

// FuzzRead: no text makes a reader panic, loop, or place a line where there is none.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"x.yaml", "x.nix", "x.tf", "x.toml", "x.sh", "x.j2"} {
		f.Add(name, "machine:\n  sysctls: {net.core.somaxconn: 1}\n")
		f.Add(name, "boot.kernel.sysctl.\"vm.swappiness\" = 1;\n{{ x }}\nkernelParams = [ \"a\"")
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		lines := strings.Count(text, "\n") + 2
		for _, h := range Read(name, []byte(text), nil) {
			for file, all := range h.Files {
				for _, l := range all {
					if l.At < 1 || l.At > lines {
						t.Errorf("%s:%d of %d lines: %q", file, l.At, lines, l.Text)
					}
				}
			}
		}
	})
}
