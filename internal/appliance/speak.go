package appliance

import (
	"slices"
	"strings"
)

// removals lists the phrases with which an audit recommends removing a line.
var removals = []string{"Remove the line", "Remove it", "Remove one of the two"}

// FixAt returns a fix in the product's terms, for a setting with a dedicated place.
func (p *Product) FixAt(fix, place, name string) string {
	if text, ok := p.rephrase(fix); ok {
		return text
	}
	fill := strings.NewReplacer("{name}", name, "{place}", strings.TrimPrefix(place, "set "))
	for _, r := range removals {
		if rest, ok := strings.CutPrefix(fix, r); ok {
			if !strings.HasPrefix(place, p.Tunables) && !strings.HasPrefix(place, "set ") { // a field on another page
				return "Clear " + place + rest
			}
			return p.ForFiles(fill.Replace(p.Remove) + rest)
		}
	}
	if fix == "" || strings.Contains(fix, "▸") || strings.HasPrefix(fix, "Nothing") || strings.HasPrefix(fix, "Ask the host") {
		return p.ForFiles(fix)
	}
	return p.ForFiles(p.at(place) + fix)
}

// at returns the beginning of an instruction for a place.
func (p *Product) at(place string) string {
	if rest, ok := strings.CutPrefix(place, "set "); ok {
		return "At " + rest + ": "
	}
	page, _, _ := strings.Cut(place, ": ")
	return page + ": "
}

// rephrase applies the product's replacement to a text; done reports whether there is one.
func (p *Product) rephrase(text string) (string, bool) {
	for _, s := range p.Says {
		if s.Match.MatchString(text) {
			return s.Match.ReplaceAllString(text, s.As), true
		}
	}
	return text, false
}

// ForFiles replaces file names in a text by what the product's user finds instead.
func (p *Product) ForFiles(text string) string {
	text, _ = p.rephrase(text)
	files := make([]string, 0, len(p.Instead))
	for f := range p.Instead {
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b string) int { return len(b) - len(a) }) // loader.conf.local before loader.conf
	pairs := make([]string, 0, 4*len(files))
	for _, f := range files {
		pairs = append(pairs, f, p.Instead[f])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
