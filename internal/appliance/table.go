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
	"linerate/internal/pack"
	"linerate/internal/yamlfile"
)

// Product describes an appliance: a file of catalogue/appliances.
type Product struct {
	// Name is in lower case, Title as its maker writes it.
	Name  string `yaml:"name" cbor:",omitzero"`
	Title string `yaml:"title" cbor:",omitzero"`
	OS    string `yaml:"os" cbor:",omitzero"`
	// Configs lists the files in which it keeps its settings, Tells the files that distinguish it
	// from a plain base system if those cannot be read, Version the files that contain its release.
	Configs []string  `yaml:"configs" cbor:",omitzero"`
	Tells   []string  `yaml:"tells" cbor:",omitzero"`
	Version []Version `yaml:"version" cbor:",omitzero"`
	// Names matches the name of a single configuration file; Looks matches a line that only it has.
	Names []*regexp.Regexp `yaml:"names" cbor:",omitzero"`
	Looks *regexp.Regexp   `yaml:"looks" cbor:",omitzero"`
	// Loader means that its list of tunables is for both the loader and sysctl(8).
	Loader   bool      `yaml:"loader" cbor:",omitzero"`
	Releases []Release `yaml:"releases" cbor:",omitzero"`
	Sets     []Set     `yaml:"sets" cbor:",omitzero"`
	Rewrites []Rewrite `yaml:"rewrites" cbor:",omitzero"`
	// Adds lists patterns of tunables that its kernel has in addition to the base system's.
	Adds []string `yaml:"adds" cbor:",omitzero"`
	// Unknown says what the product does with a tunable that the kernel lacks.
	Unknown string `yaml:"unknown" cbor:",omitzero"`
	// Tunables is the place of its list of tunables; Remove and Change say what its user does
	// there, with {name} for the tunable.
	Tunables string `yaml:"tunables" cbor:",omitzero"`
	Remove   string `yaml:"remove" cbor:",omitzero"`
	Change   string `yaml:"change" cbor:",omitzero"`
	// Fields maps paths of other settings to their places.
	Fields map[string]string `yaml:"fields" cbor:",omitzero"`
	// Limits lists pf's limits that it computes from memory unless its user sets them.
	Limits []MemoryLimit `yaml:"limits" cbor:",omitzero"`
	// Nodes lists dedicated places, each for one tunable; they override the list of tunables.
	Nodes []Node `yaml:"nodes" cbor:",omitzero"`
	// Instead maps files of the base system to what its user finds instead.
	Instead map[string]string `yaml:"instead" cbor:",omitzero"`
	// Applies means that a plan's files persist there as on the base system; otherwise Lasts lists
	// those that do.
	Applies bool     `yaml:"applies" cbor:",omitzero"`
	Lasts   []string `yaml:"lasts" cbor:",omitzero"`
	// Loads lists kernel modules that it loads at every boot, before it sets sysctls.
	Loads []string `yaml:"loads" cbor:",omitzero"`
	// Says lists replacements of text in a fix.
	Says []Say `yaml:"says" cbor:",omitzero"`
	// ByHand says how to carry out a plan, and why apply does not.
	ByHand  string   `yaml:"by_hand" cbor:",omitzero"`
	Sources []string `yaml:"sources" cbor:",omitzero"`
}

// Version is a file that contains the product's release, as the first group of a pattern.
type Version struct {
	File    string         `yaml:"file" cbor:",omitzero"`
	Pattern *regexp.Regexp `yaml:"pattern" cbor:",omitzero"`
}

// Say replaces advice for the base system by the product's wording.
type Say struct {
	Match *regexp.Regexp `yaml:"match" cbor:",omitzero"`
	As    string         `yaml:"as" cbor:",omitzero"`
}

// Release is one release of a product.
type Release struct {
	// Release is a prefix of the product's release that determines its base; Base is the underlying
	// release of FreeBSD or Linux.
	Release string `yaml:"release" cbor:",omitzero"`
	Base    string `yaml:"base" cbor:",omitzero"`
	// Config is the number by which the configuration identifies the release.
	Config  string   `yaml:"config" cbor:",omitzero"`
	Patches string   `yaml:"patches" cbor:",omitzero"`
	Sources []string `yaml:"sources" cbor:",omitzero"`
}

// Set is a tunable that a product sets by itself.
type Set struct {
	Name  string `yaml:"name" cbor:",omitzero"`
	Value string `yaml:"value" cbor:",omitzero"`
	// In is the file, or part, of the product that does so.
	In string `yaml:"in" cbor:",omitzero"`
}

// Rewrite is a file that a product regenerates.
type Rewrite struct {
	// File is a path.Match pattern.
	File string `yaml:"file" cbor:",omitzero"`
	When string `yaml:"when" cbor:",omitzero"`
	// Only lists patterns of the names that it writes, if it leaves others alone.
	Only []string `yaml:"only" cbor:",omitzero"`
}

// Products returns the built-in records; they are read once.
var Products = sync.OnceValues(func() ([]*Product, error) {
	body, err := pack.Expand(appliances.Packed)
	all, _ := pack.Open[[]*Product](body)
	return all, err
})

// Load reads the records. A test validates their content.
func Load(fsys fs.FS) ([]*Product, error) {
	files, err := yamlfile.Own[Product](fsys, "*.yaml")
	var all []*Product
	for i := range files {
		all = append(all, &files[i].Doc)
	}
	return all, err
}

// Named returns the product with a name, nil if there is none.
func Named(name string) *Product {
	all, _ := Products()
	p, _ := list.Find(all, func(p *Product) bool { return p.Name == name })
	return p
}

// Of returns the product of a host, nil for a plain host.
func Of(f *fact.Facts) *Product {
	if f.Product == nil {
		return nil
	}
	return Named(f.Product.Name)
}

// VersionIn returns the product's release in text, the content of its version file; "" if there is
// none.
func (v Version) VersionIn(text string) string {
	return append(v.Pattern.FindStringSubmatch(text), "", "")[1]
}

// Has reports whether the product's kernel has a tunable, whatever the base system's has.
func (p *Product) Has(name string) bool {
	return anyMatches(p.Adds, name)
}

// Writes reports whether the product regenerates a line of a file, so that it is not its user's.
func (p *Product) Writes(file, name string) bool {
	return slices.ContainsFunc(p.Rewrites, func(w Rewrite) bool {
		return anyMatches([]string{w.File}, file) && (len(w.Only) == 0 || anyMatches(w.Only, name))
	})
}

// anyMatches reports whether a path.Match pattern matches a name.
func anyMatches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, name); return ok })
}

// Recognises reports whether a text looks like the product's configuration; any text does if the
// record has no Looks.
func (p *Product) Recognises(text string) bool {
	return text != "" && (p.Looks == nil || p.Looks.MatchString(text))
}

// Certain reports whether only the product's own files identify it, because its configuration is a
// file that other systems have too.
func (p *Product) Certain() bool { return p.Looks == nil }
