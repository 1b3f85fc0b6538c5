package netbenches

import (
	"fmt"
)

// workload names what was offered, from the sender's own command line.
func (m *maker) workload(s *Series) string {
	for _, it := range s.Iterations {
		senders := it.Senders
		if it.Equilibrium != nil {
			return join("VPN equilibrium", frameText(it.Equilibrium.Frame), s.workload())
		}
		if len(senders) > 0 && senders[0].Command != "" {
			return WorkloadOf(senders[0].Command).text(len(senders), s.workload())
		}
	}
	if w, ok := m.im.t.Loads[s.Workload]; ok {
		return w.text(1, s.workload())
	}
	return s.workload()
}

func frameText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d B", n)
}

// text is the workload in words: "IPv4 UDP 64 B, 2000 flows".
func (w Workload) text(senders int, name string) string {
	s := fmt.Sprintf("IPv%d UDP", w.Family)
	if w.Frame > 0 {
		s += fmt.Sprintf(" %d B", w.Frame)
	}
	if w.Flows > 1 {
		s += fmt.Sprintf(", %d flows", w.Flows)
	}
	if w.RatePPS > 0 {
		s += fmt.Sprintf(", %g pps offered", w.RatePPS)
	}
	if senders > 1 {
		s += fmt.Sprintf(", %d senders", senders)
	}
	if name != "" {
		s += " (" + name + ")"
	}
	return s
}

// variantName is what a series is called among the others of its study.
func variantName(s *Series) string {
	switch {
	case s.Image != "" && s.Config != "":
		return s.Image + "/" + s.Config
	case s.Config != "":
		return s.Config
	case s.Image != "":
		return s.Image
	}
	return "only"
}
