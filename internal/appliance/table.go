package appliance

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"sync"

	"linerate/catalogue/appliances"
	"linerate/internal/fact"
	"linerate/internal/list"
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
	Names []*regexp.Regexp `yaml:"names"`
	Looks *regexp.Regexp   `yaml:"looks"`
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
}

// Version is a file that has the product's release as the first group of a
// pattern.
type Version struct {
	File    string         `yaml:"file"`
	Pattern *regexp.Regexp `yaml:"pattern"`
}

// Say replaces advice for the base system by the product's wording.
type Say struct {
	Match *regexp.Regexp `yaml:"match"`
	As    string         `yaml:"as"`
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

// Products are the built-in records, read once.
var Products = sync.OnceValues(func() ([]*Product, error) { return Load(appliances.Files) })

// Load reads the records. A test checks what is in them.
func Load(fsys fs.FS) ([]*Product, error) {
	files, err := yamlfile.Own[Product](fsys, "*.yaml")
	var all []*Product
	for i := range files {
		all = append(all, &files[i].Doc)
	}
	return all, err
}

// Named is the product of a name, nil where there is none.
func Named(name string) *Product {
	all, _ := Products()
	p, _ := list.Find(all, func(p *Product) bool { return p.Name == name })
	return p
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
	return append(v.Pattern.FindStringSubmatch(text), "", "")[1]
}

// Has reports a tunable that the product's kernel has, whatever the base system's.
func (p *Product) Has(name string) bool {
	return anyMatches(p.Adds, name)
}

// Writes reports whether the product writes a line of a file anew, so that it
// is not its user's.
func (p *Product) Writes(file, name string) bool {
	return slices.ContainsFunc(p.Rewrites, func(w Rewrite) bool {
		return anyMatches([]string{w.File}, file) && (len(w.Only) == 0 || anyMatches(w.Only, name))
	})
}

// anyMatches reports a name that one of the patterns of path.Match takes.
func anyMatches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, name); return ok })
}

// Recognises reports a text that looks like the product's configuration; every
// text does where the record has no looks.
func (p *Product) Recognises(text string) bool {
	return text != "" && (p.Looks == nil || p.Looks.MatchString(text))
}

// Certain reports a product whose configuration is a file that other systems have as
// well, so that only its own files tell it.
func (p *Product) Certain() bool { return p.Looks == nil }
