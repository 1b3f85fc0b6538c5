package report

import (
	"fmt"
	"strings"

	"linerate/internal/study"
)

// Picture is the one chart that answers the study's question, as an SVG that
// loads nothing: its curves, its loss over load, or the effects of its variants. It is empty when
// there is nothing to draw.
func Picture(s study.Spec, r study.Results) []byte {
	svg := ""
	part, _ := s.Part(s.Primary().Part)
	if groups := curveGroups(r); len(groups) > 0 {
		svg = curveChart(groups[0], wideChart)
	} else if part.Search != nil && part.Search.Method == study.LossCurve {
		svg = lossOverLoad(r, part.Name, wideChart)
	} else {
		var p htmlPage
		p.effectCharts(r, s.Primary())
		if len(p.Effects) > 0 {
			svg = string(p.Effects[0].Wide)
		}
	}
	if svg == "" {
		return nil
	}
	_, style, _ := strings.Cut(pageText, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	// The page hides its wide charts on narrow screens; here is no other.
	svg = strings.Replace(svg, `class="chart wide"`, `class="chart"`, 1)
	head, body, _ := strings.Cut(svg, "\n")
	return fmt.Appendf(nil, "%s\n<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"var(--paper)\"/>\n%s\n", head, pageStyleFor(style), body)
}

// pageStyleFor keeps the rules that a chart needs: colours and what is in it.
func pageStyleFor(style string) string {
	var out []string
	inMedia := false
	for line := range strings.SplitSeq(style, "\n") {
		switch {
		case strings.HasPrefix(line, "@media (prefers"), strings.HasPrefix(line, ":root"):
			inMedia = true
		case !inMedia && !strings.HasPrefix(line, "."):
			if strings.HasPrefix(line, "@media") {
				return strings.Join(out, "\n") // pages on phones and paper
			}
			continue
		}
		out = append(out, line)
		if strings.HasPrefix(line, "}") {
			inMedia = false
		}
	}
	return strings.Join(out, "\n")
}
