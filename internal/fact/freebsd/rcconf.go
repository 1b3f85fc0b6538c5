package freebsd

import (
	"strings"

	"linerate/internal/fact"
)

const (
	rcDefaults = "/etc/defaults/rc.conf"
	rcVendor   = "/etc/defaults/vendor.conf"
	// stdRCFiles is rc_conf_files of /etc/defaults/rc.conf.
	stdRCFiles = "/etc/rc.conf /etc/rc.conf.local"
	// rcMisc is read by BSDRP, whose own defaults name it before rc.conf.
	rcMisc = "/etc/rc.conf.misc"
)

// ReadRC reads the system's rc configuration in the order in which rc.subr sources it: defaults,
// the vendor's, each of rc_conf_files (again, if they change it), then rc.conf.d of each service
// (libexec/rc/rc.subr, load_rc_config; libexec/rc/rc.conf, source_rc_confs). It interprets
// assignments and never executes anything.
func ReadRC(files fact.Files) Config {
	r := &rc{files: files, vars: map[string]string{}, seen: map[string]bool{}}
	hasDefaults := r.source(rcDefaults, "")
	r.partial = !hasDefaults
	if !hasDefaults {
		r.vars["rc_conf_files"] = stdRCFiles
	}
	r.source(rcVendor, "")
	if !hasDefaults {
		r.source(rcMisc, "a stock FreeBSD does not read this file; BSDRP does, before rc.conf")
	}
	for range 2 { // files may redefine rc_conf_files; the system looks twice
		for _, path := range strings.Fields(r.vars["rc_conf_files"]) {
			r.source(path, "")
		}
	}
	r.services()
	r.ignored()
	return r.Config
}

// rc is the state of reading the configuration.
type rc struct {
	Config
	files fact.Files
	vars  map[string]string
	seen  map[string]bool
	depth int
	// partial means that not all files of the host are available, so that a missing one may exist.
	partial bool
}

// source reads one file once; it returns false if it does not exist.
func (r *rc) source(path, note string) bool {
	if r.seen[path] || len(r.seen) >= maxFiles || r.depth >= maxDepth {
		return true
	}
	text, err := r.files.Read(path)
	if err != nil {
		return false
	}
	r.seen[path] = true
	r.depth++
	sh := &shell{rc: r, path: path, text: text, line: 1, note: note, isDefault: strings.HasPrefix(path, "/etc/defaults/")}
	sh.run()
	r.depth--
	return true
}

// services reads rc.conf.d: each file (or directory of files) is sourced only by the service of its
// name.
func (r *rc) services() {
	for _, dir := range []string{"/etc/rc.conf.d", "/usr/local/etc/rc.conf.d"} {
		names, _ := r.files.List(dir) // none if missing
		for _, n := range names {
			path, note := dir+"/"+n, "read only by the service "+n
			if r.source(path, note) {
				continue
			}
			parts, _ := r.files.List(path)
			for _, p := range parts {
				r.source(path+"/"+p, note)
			}
		}
	}
}

// ignored reports files next to rc.conf that nothing reads.
func (r *rc) ignored() {
	r.Ignored = append(r.Ignored, neighbours(r.files, "/etc", "rc.conf", r.seen, "rc does not read it: rc_conf_files does not name it")...)
}

// Modules returns the modules that kld_list loads, with the line.
func (c *Config) Modules() map[string]fact.Line {
	mods := map[string]fact.Line{}
	for _, l := range c.Lines {
		if l.Name != "kld_list" || !l.Effective {
			continue
		}
		clear(mods) // a later kld_list replaces an earlier one
		for _, m := range strings.Fields(l.Value) {
			m = m[strings.LastIndexByte(m, '/')+1:]
			mods[strings.TrimSuffix(m, ".ko")] = l
		}
	}
	return mods
}
