package profile

// FlameStyle is the style sheet that flame graphs within a page need.
func FlameStyle() string { return flameCSS }

// Inline is the picture for a page that has FlameStyle, without a script: names
// and shares are seen by pointing. Caption says how to read it.
func (p Picture) Inline() (svg, caption string) { return p.inline(), p.caption() }
