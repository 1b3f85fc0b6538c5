package study

import (
	"slices"

	"linerate/internal/chart"
	"linerate/internal/document"
)

// section returns a heading, a note for pages, and the blocks; nothing if no block has
// content. If all blocks are for pages only, so is the heading.
func section(title, note string, blocks ...document.Block) []document.Block {
	isTable := func(b document.Block) bool { _, is := b.(document.Table); return is }
	blocks = slices.DeleteFunc(blocks, func(b document.Block) bool { return isTable(b) && len(b.(document.Table).Rows) == 0 })
	if len(blocks) == 0 {
		return nil
	}
	out := []document.Block{document.Heading(title)}
	if !slices.ContainsFunc(blocks, isTable) {
		out = []document.Block{document.OnPage(out)}
	}
	if note != "" {
		out = append(out, document.OnPage{document.Note(note)})
	}
	return append(out, blocks...)
}

// figure returns a chart; nothing if svg is "".
func figure(title, note, svg string) []document.Block {
	return document.Figures(chart.Draw(title, note, svg))
}

// MeasuredParts returns the parts with trials in the results, in the study's order.
func (s *Spec) MeasuredParts(r *Results) []Part {
	measured := r.Measured()
	return slices.DeleteFunc(slices.Clone(s.Parts), func(p Part) bool { return !slices.Contains(measured, p.Name) })
}
