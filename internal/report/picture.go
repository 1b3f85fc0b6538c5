package report

import (
	"linerate/internal/chart"
	"linerate/internal/study"
)

// Picture is the one chart that answers the study's question, as an SVG that
// loads nothing: its curves, its loss over load, or the effects of its variants. It is empty when
// there is nothing to draw.
func Picture(s study.Spec, r study.Results) []byte {
	svg := ""
	part, _ := s.Part(s.Primary().Part)
	if groups := curveGroups(r); len(groups) > 0 {
		svg = curveChart(groups[0])
	} else if part.Search != nil && part.Search.Method == study.LossCurve {
		svg = study.LossOverLoad(r, part.Name)
	}
	if svg == "" {
		if effects := effectCharts(r, s.Primary()); len(effects) > 0 {
			svg = string(effects[0].SVG)
		}
	}
	if svg == "" {
		return nil
	}
	return chart.Alone(svg)
}
