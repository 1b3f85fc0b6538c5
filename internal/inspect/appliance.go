package inspect

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"linerate/internal/appliance"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/host"
)

// appliance detects whether the host is an appliance, and reads its settings; it returns nil if it
// is none. If the host's release is unknown, it is the one that the product's release is built on.
func (in *inspection) appliance() (*appliance.Product, appliance.Config) {
	products, err := appliance.Products()
	if err != nil {
		in.record("the catalogue's appliances", err)
		return nil, appliance.Config{}
	}
	for _, p := range products {
		if p.OS != in.f.OS {
			continue
		}
		if files, ok := in.isProduct(p); ok {
			return p, in.readProduct(p, files)
		}
	}
	return nil, appliance.Config{}
}

// isProduct reads a product's configuration; ok reports whether that, or a file of the product,
// exists.
func (in *inspection) isProduct(p *appliance.Product) (files []appliance.File, ok bool) {
	for _, path := range p.Configs {
		text, err := in.settings(path)
		if err == nil && p.Recognises(text) && !slices.ContainsFunc(files, func(f appliance.File) bool { return f.Text == text }) { // one file by two names
			files = append(files, appliance.File{Path: path, Text: text})
		}
	}
	if len(p.Tells) == 0 {
		return files, len(files) > 0
	}
	told := slices.ContainsFunc(p.Tells, in.there)
	if p.Certain() {
		return files, told || len(files) > 0 && files[0].Path == host.TrueNASDatabase // no other product has that file
	}
	return files, told || len(files) > 0
}

// settings returns the text of a product's configuration; for a database the relevant rows.
func (in *inspection) settings(path string) (string, error) {
	if path == host.TrueNASDatabase {
		return in.tunablesOfDatabase()
	}
	return in.Read(path)
}

// there reports whether a file or a directory exists.
func (in *inspection) there(path string) bool {
	if _, err := in.r.ReadDir(in.ctx, path); err == nil {
		return true
	}
	_, err := in.r.ReadFile(in.ctx, path)
	return err == nil || errors.Is(err, fs.ErrPermission) || errors.Is(err, host.ErrTooLarge)
}

// readProduct reads a product's own files, and sets the facts about the product.
func (in *inspection) readProduct(p *appliance.Product, files []appliance.File) appliance.Config {
	c := p.Read(files)
	about := &fact.Product{Name: p.Name, Title: p.Title, Version: c.Version}
	for _, v := range p.Version {
		if text, err := in.Read(v.File); err == nil {
			if version := v.VersionIn(text); version != "" {
				about.Version = version
				break
			}
		}
	}
	if p.Speaks(in.opts.Release) {
		about.Version, in.f.Release = in.opts.Release.String(), release.Release{}
	}
	if r, near, ok := p.Judged(cmp.Or(about.Version, c.As)); ok {
		if near || about.Version == "" {
			about.As = r.Release
		}
		if in.f.Release.IsZero() {
			in.f.Release = r.BaseRelease()
		}
	}
	for _, f := range files {
		about.Config = f.Path
	}
	for _, w := range p.Rewrites {
		about.Rewrites = append(about.Rewrites, w.File)
	}
	in.f.Product = about
	return c
}

// addShipped adds the lines of sysctl.d files that a product ships, before those of its user.
func (in *inspection) addShipped(c *appliance.Config) {
	shipped, rest := []fact.Line{}, []fact.Line{}
	for _, l := range c.Lines {
		if l.Default && strings.Contains(l.File, "/sysctl.d/") {
			shipped = append(shipped, l)
		} else {
			rest = append(rest, l)
		}
	}
	in.addLines(shipped)
	c.Lines = rest
}

// addProduct adds a product's configuration after the files of the base system, which it overrides.
func (in *inspection) addProduct(p *appliance.Product, c appliance.Config) {
	if p == nil {
		return
	}
	in.addLines(c.Lines)
	in.f.Problems = append(in.f.Problems, c.Problems...)
	for _, n := range c.NICs {
		in.f.AddConfigured(n)
	}
	in.f.Services = append(in.f.Services, c.Services...)
	in.f.Shapers = append(in.f.Shapers, c.Shapers...)
	in.f.Hostname = cmp.Or(in.f.Hostname, c.Hostname)
	if c.PF != nil {
		if in.f.Firewall.PF == nil {
			in.f.Firewall.PF = &fact.PF{}
		}
		in.f.Firewall.PF.Configured = c.PF.Configured
		in.f.Firewall.PF.AddFile(*c.PF)
		appliance.AddLimits(in.f)
	}
}

// notTheUsers marks lines of files that a product itself writes: they are not its user's, if the
// user's settings were read.
func (in *inspection) notTheUsers(lines []fact.Line) []fact.Line {
	p := appliance.Of(in.f)
	if p == nil {
		return lines
	}
	for i := range lines {
		if p.Writes(lines[i].File, lines[i].Name) && in.f.Product.Config != "" {
			lines[i].Default, lines[i].Note = true, p.Title+" rewrites this file"
		}
	}
	return lines
}
