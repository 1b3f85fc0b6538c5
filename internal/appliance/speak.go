package appliance

import (
	"slices"
	"strings"
)

// removals are the ways in which an audit says that a line is better gone.
var removals = []string{"Remove the line", "Remove it", "Remove one of the two"}

// FixAt is a fix in the product's words, for a setting with a dedicated place.
func (p *Product) FixAt(fix, place, name string) string {
	if text, ok := p.rephrase(fix); ok {
		return text
	}
	fill := strings.NewReplacer("{name}", name, "{place}", strings.TrimPrefix(place, "set "))
	for _, r := range removals {
		if rest, ok := strings.CutPrefix(fix, r); ok {
			if !strings.HasPrefix(place, p.Tunables) && !strings.HasPrefix(place, "set ") { // a field of another page
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

// at begins what is to be done at a place.
func (p *Product) at(place string) string {
	if rest, ok := strings.CutPrefix(place, "set "); ok {
		return "At " + rest + ": "
	}
	page, _, _ := strings.Cut(place, ": ")
	return page + ": "
}

// rephrase is a text with what the product's record says otherwise; done where that is
// the whole of it.
func (p *Product) rephrase(text string) (string, bool) {
	for _, s := range p.Says {
		if s.Match.MatchString(text) {
			return s.Match.ReplaceAllString(text, s.As), true
		}
	}
	return text, false
}

// ForFiles puts into a text what the product's user finds where a base system has a
// file.
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
