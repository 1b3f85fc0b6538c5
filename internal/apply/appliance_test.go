package apply

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/hint"
	"linerate/internal/plan"
)

// TestAppliancesRefuse: persistent settings are refused on appliances that generate their own files; running
// values can be set as on any host.
func TestAppliancesRefuse(t *testing.T) {
	lasts := plan.Plan{OS: "freebsd", Release: "14.3-RELEASE", Settings: []plan.Step{{Name: "net.inet.ip.redirect", Where: plan.Where{File: "/etc/sysctl.conf.local", Runtime: true}}}}
	runs := lasts
	runs.Settings = []plan.Step{{Name: "net.inet.ip.redirect", Where: plan.Where{Runtime: true}}}
	id := Identity{OS: "freebsd", Release: "14.3-RELEASE", Init: "rc", Product: "opnsense"}
	err := Fits(lasts, id)
	if err == nil || !strings.Contains(err.Error(), "OPNsense") || !strings.Contains(hint.Of(err), "System ▸ Settings ▸ Tunables") {
		t.Errorf("%v, hint %q", err, hint.Of(err))
	}
	if err := Fits(runs, id); err != nil {
		t.Errorf("settings of the running system only: %v", err)
	}
	vyos := lasts
	vyos.OS, vyos.Release = "linux", "6.6.56"
	err = Fits(vyos, Identity{OS: "linux", Release: "6.6.56-vyos", Init: "systemd", Product: "vyos"})
	for _, command := range []string{"configure, ", "--format vyos", "compare, commit-confirm 10, exit", "configure, confirm, save, exit", "rollback 1"} {
		if err == nil || !strings.Contains(hint.Of(err), command) {
			t.Errorf("VyOS: %v, hint %q without %q", err, hint.Of(err), command)
		}
	}
	for product, words := range map[string][]string{
		"pfsense":       {"pfSense", "System ▸ Advanced ▸ System Tunables", "--format pfsense", "/boot/loader.conf.local by Diagnostics ▸ Edit File", "Config History"},
		"truenas-core":  {"TrueNAS CORE", "System ▸ Tunables", "--format truenas-core", "boot environment"},
		"truenas-scale": {"TrueNAS", "System ▸ Advanced Settings ▸ Sysctl", "--format truenas-scale"},
		"openwrt":       {"OpenWrt", "--format openwrt", "sh plan.sh try", "takes it back after ten minutes", "sh plan.sh keep"},
	} {
		p, of := lasts, Identity{OS: "freebsd", Release: "14.3-RELEASE", Init: "rc", Product: product}
		if product == "openwrt" || product == "truenas-scale" {
			p.OS, p.Release, of.OS, of.Release = "linux", "6.6.56", "linux", "6.6.56"
		}
		err := Fits(p, of)
		for _, word := range words {
			if err == nil || !strings.Contains(err.Error()+" "+hint.Of(err), word) {
				t.Errorf("%s: %v, hint %q without %q", product, err, hint.Of(err), word)
			}
		}
	}
	id.Product = "proxmox"
	if err := Fits(lasts, id); err != nil {
		t.Errorf("Proxmox VE is Debian: %v", err)
	}
}

// TestProductsOfAHost: the agent's shell identifies an appliance by its files, and a plain host.
func TestProductsOfAHost(t *testing.T) {
	for file, want := range map[string]string{"etc/openwrt_release": "product openwrt\n", "usr/local/opnsense/version/core": "product opnsense\n", "etc/os-release": ""} {
		root := t.TempDir()
		at := filepath.Join(root, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/bin/sh", "-euc", "say() { echo \"$@\"; }\nROOT="+root+"\n"+products()+"\nproducts\n")
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("%s: %q %v", file, out, err)
		}
	}
	id, err := parseIdentity([]byte("os FreeBSD\nrelease 14.3\nproduct opnsense\n"))
	if err != nil || id.Product != "opnsense" {
		t.Errorf("%+v %v", id, err)
	}
}
