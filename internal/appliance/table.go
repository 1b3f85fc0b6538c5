package appliance

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"sync"

	"linerate/catalogue/appliances"
	"linerate/internal/fact"
	"linerate/internal/fact/release"
	"linerate/internal/yamlfile"
)

// Product is what is known of an appliance: a file of catalogue/appliances.
type Product struct {
	// Name is in small letters, Title as its maker writes it.
	Name  string `yaml:"name"`
	Title string `yaml:"title"`
	OS    string `yaml:"os"`
	// Configs are the files in which it keeps its settings, Tells the files that
	// tell it from a plain base system where those could not be read, and
	// VersionFile the one that has its release, behind VersionAfter.
	Configs []string  `yaml:"configs"`
	Tells   []string  `yaml:"tells"`
	Version []Version `yaml:"version"`
	// Names are patterns of the configuration's file name when that file alone is given;
	// Looks is a pattern of a line that only it has.
	Names []string `yaml:"names"`
	Looks string   `yaml:"looks"`
	// Loader: tunables of its list are for the loader and for sysctl(8) both.
	Loader   bool      `yaml:"loader"`
	Releases []Release `yaml:"releases"`
	Sets     []Set     `yaml:"sets"`
	Rewrites []Rewrite `yaml:"rewrites"`
	// Adds are patterns of tunables that its kernel has in addition to the base system's.
	Adds []string `yaml:"adds"`
	// Unknown is what the product does with a tunable that the kernel lacks.
	Unknown string `yaml:"unknown"`
	// Tunables is the place of its list of tunables; Remove and Change are what
	// its user does there to a name, which stands for {name}.
	Tunables string `yaml:"tunables"`
	Remove   string `yaml:"remove"`
	Change   string `yaml:"change"`
	// Fields are the places of other settings, by their path.
	Fields map[string]string `yaml:"fields"`
	// Limits are pf's that it computes from memory where its user gives none.
	Limits []MemoryLimit `yaml:"limits"`
	// Nodes are dedicated places, each for one tunable; they override the list of tunables.
	Nodes []Node `yaml:"nodes"`
	// Instead are what its user finds where the base system has a file.
	Instead map[string]string `yaml:"instead"`
	// Applies: a plan's files last there as on the base system; Lasts are those that
	// do where not all do.
	Applies bool     `yaml:"applies"`
	Lasts   []string `yaml:"lasts"`
	// Loads are kernel modules that it loads at every boot, before it sets sysctls.
	Loads []string `yaml:"loads"`
	// Says replace what matches a pattern in a fix.
	Says []Say `yaml:"says"`
	// ByHand says how a plan is carried out, and why apply does not do it.
	ByHand  string   `yaml:"by_hand"`
	Sources []string `yaml:"sources"`

	looks *regexp.Regexp
}

// Version is a file that has the product's release as the first group of a
// pattern.
type Version struct {
	File    string `yaml:"file"`
	Pattern string `yaml:"pattern"`

	pattern *regexp.Regexp
}

// Say replaces advice for the base system by the product's wording.
type Say struct {
	Match string `yaml:"match"`
	As    string `yaml:"as"`

	match *regexp.Regexp
}

// Release is one release of a product.
type Release struct {
	// Release is the product's, up to the part that tells its base; Base the
	// release of FreeBSD or Linux beneath.
	Release string `yaml:"release"`
	Base    string `yaml:"base"`
	// Config is the number by which the configuration tells the release.
	Config  string   `yaml:"config"`
	Patches string   `yaml:"patches"`
	Sources []string `yaml:"sources"`
}

// Set is a tunable that a product sets by itself.
type Set struct {
	Name  string `yaml:"name"`
	Value string `yaml:"value"`
	// In is the file, or part, of the product by which it does.
	In string `yaml:"in"`
}

// Rewrite is a file that a product writes anew.
type Rewrite struct {
	// File is a pattern of path.Match.
	File string `yaml:"file"`
	When string `yaml:"when"`
	// Only are patterns of the names that it writes, where it leaves others.
	Only []string `yaml:"only"`
}

// Products are the built-in records, read once. They are checked by a test.
var Products = sync.OnceValues(func() ([]*Product, error) { return Load(appliances.Files) })

// Load reads the records.
func Load(fsys fs.FS) ([]*Product, error) {
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil {
		return nil, err
	}
	var all []*Product
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		p := &Product{}
		if _, err := yamlfile.Read(name, text, yamlfile.Kind{Noun: "an appliance", Content: "name, title and os"}, p); err != nil {
			return nil, err
		}
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// check refuses a record that lacks what every product has.
func (p *Product) check() error {
	switch {
	case p.Name == "" || p.Title == "" || p.OS != fact.FreeBSD && p.OS != fact.Linux:
		return errors.New("name, title and os (freebsd or linux) are needed")
	case readers[p.Name] == nil:
		return fmt.Errorf("nothing reads the configuration of %s", p.Name)
	case len(p.Configs) == 0 || p.Tunables == "" || p.Remove == "" || p.Change == "" || p.ByHand == "" || len(p.Sources) == 0:
		return errors.New("configs, tunables, remove, change, by_hand and sources are needed")
	}
	var err error
	if p.looks, err = regexp.Compile("(?m)" + p.Looks); err != nil {
		return err
	}
	for i := range p.Version {
		if p.Version[i].pattern, err = regexp.Compile(p.Version[i].Pattern); err != nil {
			return err
		}
	}
	for i := range p.Says {
		if p.Says[i].match, err = regexp.Compile(p.Says[i].Match); err != nil {
			return err
		}
	}
	for _, r := range p.Releases {
		if _, err := release.ParseGiven(r.Base); err != nil || r.Release == "" || len(r.Sources) == 0 {
			return fmt.Errorf("release %q: base %q and sources: %w", r.Release, r.Base, err)
		}
	}
	for _, n := range p.Nodes {
		if _, err := release.Parse(cmp.Or(n.Since, "1.0")); err != nil || n.Name == "" || n.Node == "" || n.Value(n.Default) == "" || (n.Since == "") != (n.Older == "") || (n.Enable == "") != (n.Disable == "") {
			return fmt.Errorf("nodes %q: name, node and default, since with older, enable with disable", n.Name)
		}
	}
	for _, w := range p.Rewrites {
		if _, err := path.Match(w.File, ""); err != nil || w.When == "" {
			return fmt.Errorf("rewrites %q: a pattern, and when", w.File)
		}
	}
	return nil
}

// Named is the product of a name, nil where there is none.
func Named(name string) *Product {
	all, _ := Products()
	i := slices.IndexFunc(all, func(p *Product) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}

// Of is the product that facts are of, nil for a plain host.
func Of(f *fact.Facts) *Product {
	if f.Product == nil {
		return nil
	}
	return Named(f.Product.Name)
}

// VersionIn is the product's release as given in text, the content of its version file; ""
// where it gives none.
func (v Version) VersionIn(text string) string {
	m := v.pattern.FindStringSubmatch(text)
	if len(m) < 2 {
		return ""
	}
	return m[1]
}

// Has reports a tunable that the product's kernel has, whatever the base system's.
func (p *Product) Has(name string) bool {
	return slices.ContainsFunc(p.Adds, func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok })
}

// Writes reports whether the product writes a line of a file anew, so that it
// is not its user's.
func (p *Product) Writes(file, name string) bool {
	return slices.ContainsFunc(p.Rewrites, func(w Rewrite) bool {
		if ok, _ := path.Match(w.File, file); !ok {
			return false
		}
		return len(w.Only) == 0 || slices.ContainsFunc(w.Only, func(o string) bool { ok, _ := path.Match(o, name); return ok })
	})
}

// Recognises reports a text that looks like the product's configuration; every
// text does where the record has no looks.
func (p *Product) Recognises(text string) bool {
	return text != "" && (p.Looks == "" || p.looks.MatchString(text))
}

// Certain reports a product whose configuration is a file that other systems have as
// well, so that only its own files tell it.
func (p *Product) Certain() bool { return p.Looks == "" }
