package inspect

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/internal/fact"
	"linerate/internal/fact/freebsd"
	"linerate/internal/fact/redact"
	"linerate/internal/fact/release"
	"linerate/internal/lazy"
)

// freebsd inspects a FreeBSD host: the running system, if any, then its files.
func (in *inspection) freebsd() {
	if in.f.From.Kind != fact.KindTree {
		in.freebsdLive()
	} else {
		in.freebsdTree()
	}
	product, config := in.appliance()
	in.freebsdFiles()
	in.addProduct(product, config)
}

// freebsdTree takes release, processors and memory from files that a copy of a host may have.
func (in *inspection) freebsdTree() {
	log, _ := in.Read(bootLog)
	freebsd.AddDmesg(in.f, log)
	if r, err := release.Parse(in.userland()); err == nil && in.f.Release.IsZero() {
		in.f.Release = r
	}
}

// freebsdLive queries the running system.
func (in *inspection) freebsdLive() {
	values := in.freebsdValues()
	in.freebsdRelease(values)
	freebsd.AddMachine(in.f, values)
	in.f.Jailed = values.Get("security.jail.jailed") == "1"
	in.freebsdUptime(values)
	in.freebsdDevices(values)
	loaded := answer(in, "kldstat", freebsd.ParseKldstat)
	freebsd.AddModules(in.f, loaded, answer(in, "kldstat-v", freebsd.ParseKernelModules))
	in.f.KernelOptions = answer(in, "conftxt", freebsd.ParseKernelConfig)
	in.freebsdCounters(values)
	in.freebsdRunningFirewall()
	in.f.Mounts = answer(in, "mount", freebsd.ParseMount)
}

// freebsdValues reads all running values, with types and access.
func (in *inspection) freebsdValues() freebsd.Values {
	types := answer(in, "sysctl-at", freebsd.ParseTypes)
	boot, runtime := answer(in, "sysctl-aNT", freebsd.ParseNames), answer(in, "sysctl-aNW", freebsd.ParseNames)
	text, _ := in.output("sysctl-a")
	values := freebsd.ParseValues(text, types)
	freebsd.AddValues(in.f, values, types, boot, runtime)
	env := answer(in, "kenv", freebsd.ParseKenv)
	in.f.Machine = strings.TrimSpace(env["smbios.system.maker"] + " " + env["smbios.system.product"])
	return values
}

// freebsdRelease takes the release from the best source: the caller, the kernel line of
// freebsd-version (with its patch level), the kernel.
func (in *inspection) freebsdRelease(v freebsd.Values) {
	if !in.opts.Release.IsZero() {
		return
	}
	text, _ := in.output("freebsd-version")
	name, _ := in.output("uname")
	words := strings.Fields(name)
	candidates := []string{firstLine(text), v.Get("kern.osrelease")}
	if len(words) > 2 {
		candidates = append(candidates, words[2])
	}
	candidates = append(candidates, in.userland())
	for _, c := range candidates {
		if r, err := release.Parse(c); err == nil {
			in.f.Release = r
			return
		}
	}
}

// userland returns the release in a tree's freebsd-version(1), which is a script, or os-release(5).
func (in *inspection) userland() string {
	_, v, _ := strings.Cut(in.text("/bin/freebsd-version")+in.text("/etc/os-release"), `VERSION="`)
	v, _, _ = strings.Cut(v, `"`)
	return v
}

func firstLine(s string) string {
	l, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return l
}

// freebsdUptime sets the time from boot to the inspection or capture.
func (in *inspection) freebsdUptime(v freebsd.Values) {
	_, rest, ok := strings.Cut(v.Get("kern.boottime"), "sec = ")
	if !ok {
		return
	}
	number, _, _ := strings.Cut(rest, ",")
	boot, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return
	}
	now := time.Now()
	if in.f.From.Taken != "" {
		if now, err = time.Parse(time.RFC3339, in.f.From.Taken); err != nil {
			return
		}
	}
	if up := now.Sub(time.Unix(boot, 0)); up > 0 {
		in.f.UptimeSeconds = up.Truncate(time.Second).Seconds()
	}
}

// bootLog holds the boot messages, as the kernel's buffer may have wrapped since.
const bootLog = "/var/run/dmesg.boot"

// freebsdDevices reads interfaces, their hardware and their interrupts.
func (in *inspection) freebsdDevices(v freebsd.Values) {
	if in.f.NICs = answer(in, "ifconfig", freebsd.ParseIfconfig); len(in.f.NICs) == 0 {
		in.f.NICs = answer(in, "ifconfig-a", freebsd.ParseIfconfig)
	}
	text, _ := in.output("pciconf")
	if text == "" {
		text, _ = in.output("pciconf-lv") // the full list needs privileges
	}
	freebsd.AddPCI(in.f, freebsd.ParsePciconf(text), v)
	log, err := in.Read(bootLog)
	if err != nil {
		in.record(bootLog, err)
	}
	messages, ok := in.output("dmesg")
	if !ok {
		messages = v.Get("kern.msgbuf")
	}
	freebsd.AddDmesg(in.f, log)
	freebsd.AddComplaints(in.f, messages)
	if log == "" {
		freebsd.AddDmesg(in.f, messages)
	}
	freebsd.AddNICValues(in.f, v)
	in.f.Interrupts = answer(in, "vmstat-i", freebsd.ParseVmstatI)
	in.freebsdAffinity()
}

// maxIRQs limits the number of affinity queries.
const maxIRQs = 512

// freebsdAffinity queries which CPUs the NICs' interrupts may use. Bundles contain the answers.
func (in *inspection) freebsdAffinity() {
	asked := 0
	for i := range in.f.Interrupts {
		irq := &in.f.Interrupts[i]
		number, ok := strings.CutPrefix(irq.Name, "irq")
		if !ok {
			continue
		}
		number, _, _ = strings.Cut(number, ":")
		n, err := strconv.Atoi(number)
		if _, isNIC := in.f.NIC(irq.Device); err != nil || !isNIC || asked >= maxIRQs {
			continue
		}
		asked++
		if cpus, ok := freebsd.ParseCPUSet(in.quiet(n)); ok {
			irq.CPUs = cpus
			if len(cpus) == 1 {
				irq.CPU = &cpus[0]
			}
		}
	}
}

func (in *inspection) freebsdCounters(v freebsd.Values) {
	for _, q := range []struct {
		id  string
		add func(*fact.Facts, string)
	}{
		{"netstat-m", freebsd.AddNetstatM}, {"netstat-Q", freebsd.AddNetstatQ}, {"netstat-i", freebsd.AddNetstatI},
		{"netstat-s", freebsd.AddNetstatS}, {"netstat-L", freebsd.AddListeners}, {"vmstat-z", freebsd.AddVmstatZ},
	} {
		if text, ok := in.output(q.id); ok {
			q.add(in.f, text)
		}
	}
	freebsd.AddNICCounters(in.f, v)
}

// freebsdRunningFirewall queries pf and ipfw, if present.
func (in *inspection) freebsdRunningFirewall() {
	pf := &fact.PF{}
	if text, ok := in.output("pfctl-si"); ok {
		freebsd.AddPFStatus(in.f, pf, text)
		in.pfDetails(pf)
		in.f.Firewall.PF = pf
	}
	fw := &fact.IPFW{}
	if text, ok := in.output("ipfw-list"); ok {
		freebsd.AddIPFWList(fw, text)
		if text, ok := in.output("ipfw-pipe"); ok {
			fw.Pipes = strings.Count(text, "burst")
		}
		if text, ok := in.output("ipfw-nat"); ok {
			freebsd.AddIPFWNAT(fw, text)
		}
		in.f.Firewall.IPFW = fw
	}
}

func (in *inspection) pfDetails(pf *fact.PF) {
	for _, q := range []struct {
		id  string
		add func(*fact.PF, string)
	}{
		{"pfctl-sm", freebsd.AddPFLimits}, {"pfctl-st", freebsd.AddPFTimeouts},
		{"pfctl-sr", freebsd.AddPFRules}, {"pfctl-sn", freebsd.AddPFRules},
	} {
		if text, ok := in.output(q.id); ok {
			q.add(pf, text)
		}
	}
}

// freebsdFiles reads the configuration in the system's own order.
func (in *inspection) freebsdFiles() {
	loader := freebsd.ReadLoader(files{in, redact.Loader}, in.f.Release)
	sysctl := freebsd.ReadSysctlConf(in)
	rc := freebsd.ReadRC(files{in, redact.RC})
	for _, c := range []freebsd.Config{loader, sysctl, rc} {
		in.addLines(in.notTheUsers(c.Lines))
		in.f.Problems = append(in.f.Problems, c.Problems...)
		in.f.Sources = append(in.f.Sources, c.Ignored...)
	}
	in.f.Normalise() // settings can be looked up from here on
	if in.f.Hostname == "" {
		in.f.Hostname, _ = in.f.RCValue("hostname")
	}
	in.addModules(freebsd.LoadedByLoader(loader.Lines))
	in.addModules(rc.Modules())
	freebsd.AddRCInterfaces(in.f, rc)
	in.freebsdFirewallFiles()
	in.freebsdServices()
	in.freebsdTexts()
	in.f.Mounts = append(in.f.Mounts, contents(in, "/etc/fstab", freebsd.ParseFstab)...)
}

// freebsdTexts reads what only slips are looked for in, and then compares the files.
func (in *inspection) freebsdTexts() {
	for _, s := range redact.FreeBSDTexts {
		dir, names := path.Dir(s.Pattern), []string{path.Base(s.Pattern)}
		if strings.Contains(names[0], "*") {
			names, _ = in.List(dir)
		}
		for _, n := range names {
			if ok, _ := path.Match(s.Pattern, dir+"/"+n); ok {
				_, _ = in.read(dir+"/"+n, s.Kind)
			}
		}
	}
	in.texts("/usr/local/")
}

// freebsdFirewallFiles reads the rulesets that rc.conf names, and unused ones, which it marks as
// not configured.
func (in *inspection) freebsdFirewallFiles() {
	fw := &in.f.Firewall
	file := &fact.PF{}
	in.stands[in.rcPath("pf_rules", "/etc/pf.conf")] = "/etc/pf.conf"
	_ = freebsd.ReadPF(files{in, redact.PF}, in.rcPath("pf_rules", "/etc/pf.conf"), file)
	if fw.PF == nil && file.File != "" {
		fw.PF = &fact.PF{}
	}
	in.ipfwFiles()
	in.f.RereadFirewalls()
	if fw.PF != nil {
		fw.PF.AddFile(*file)
	}
	in.f.Firewall.IPF = in.f.RCYes("ipfilter_enable")
}

// raw has the texts that were read, not redacted.
type raw struct{ *inspection }

func (r raw) Read(path string) (string, error) {
	if text := r.written[cmp.Or(r.stands[path], path)]; text != "" {
		return text, nil
	}
	return "", fs.ErrNotExist
}

// refused records problems that are found in texts which are not redacted, where nothing is known
// yet about the line: a word is named only if the redacted line has it.
func (in *inspection) refused(problems []fact.Problem) {
	for _, p := range problems {
		word, lines := p.Text, strings.Split(in.shown[cmp.Or(in.stands[p.File], p.File)], "\n")
		p.Text = lines[min(p.Line, len(lines))-1]
		if !strings.Contains(p.Text, word) {
			word = redact.Mark
		}
		p.Message = strings.ReplaceAll(p.Message, "%s", word)
		if !slices.ContainsFunc(in.f.Problems, func(o fact.Problem) bool { return o.File == p.File && o.Line == p.Line }) {
			in.f.Problems = append(in.f.Problems, p)
		}
	}
}

// ipfwCall matches a rule in a script; rc.firewall passes a file in firewall_type to ipfw(8).
var ipfwCall = lazy.Regexp(`(?m)^[ \t]*(?:(?:/sbin/)?ipfw|\$\{?\w+\}?)[ \t]`)

func (in *inspection) ipfwFiles() {
	kind, _ := in.f.RCValue("firewall_type")
	script := in.rcPath("firewall_script", "/etc/ipfw.rules")
	if script == "/etc/rc.firewall" {
		script = "/etc/ipfw.rules"
		if strings.HasPrefix(kind, "/") {
			script = kind
		}
	}
	file := &fact.IPFW{}
	in.stands[script] = "/etc/ipfw.rules"
	_ = freebsd.ReadIPFW(files{in, redact.IPFW}, script, file)
	problems, own, model := freebsd.Refused(raw{in}, in.rcPath("pf_rules", "/etc/pf.conf"), script)
	in.refused(problems)
	in.written["host"], in.network = own, model
	if at := ipfwCall().FindStringIndex(in.text(script)); script == kind && at != nil {
		in.f.Problems = append(in.f.Problems, fact.Problem{File: script, Line: 1 + strings.Count(in.text(script)[:at[1]], "\n"), Kind: fact.ProblemSlip, Message: "ipfw-command"})
	}
	if rc, _ := in.f.RCValue("firewall_script"); rc == "" || rc == "/etc/rc.firewall" { // a script of the owner has its rules of nat and divert itself
		in.rcNAT(file)
	}
	fw := in.f.Firewall.IPFW
	if fw == nil && (file.File != "" || in.f.RCYes("firewall_enable")) {
		fw = &fact.IPFW{}
		in.f.Firewall.IPFW = fw
	}
	if fw != nil {
		fw.AddFile(*file)
	}
}

// rcNAT adds the translation that rc.conf itself enables.
func (in *inspection) rcNAT(fw *fact.IPFW) {
	for _, name := range []string{"firewall_nat_enable", "natd_enable"} {
		if !in.f.RCYes(name) {
			continue
		}
		s, _ := in.f.RCVariable(name)
		if l, ok := s.EffectiveLine(fact.RCConf); ok {
			fw.NAT++
			fw.NATLines = append(fw.NATLines, l)
		}
	}
}

// rcPath returns a path that rc.conf may override.
func (in *inspection) rcPath(name, otherwise string) string {
	v, _ := in.f.RCValue(name)
	return cmp.Or(v, otherwise)
}
