package audit

import (
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/tunable"
)

// Kinds of containers for which a repository's file declares sysctls (fact.Facts.Container).
const (
	pod       = "kubernetes-pod"       // securityContext.sysctls of a pod
	daemonSet = "kubernetes-daemonset" // written by a privileged container of a DaemonSet, for the node
	composed  = "compose"              // sysctls of compose
)

// inPod reports sysctls that a pod or a container cannot have, or only if its node allows them, and
// those that a DaemonSet sets only for itself.
func (a *auditor) inPod(j judged) []candidate {
	rule, of := "LR-POD-SYSCTL", ""
	ofHost := j.rec != nil && j.rec.ScopeOn(j.Name, a.f.Release) == tunable.Host
	namespaced := strings.HasPrefix(j.Name, "net.") || slices.Contains(a.Rules.PCTSysctls, j.Name) || strings.HasPrefix(j.Name, "fs.mqueue.")
	switch {
	case j.Stage != fact.Sysctl:
		return nil
	case a.f.Container == pod && !namespaced:
		of = "node"
	case a.f.Container == composed && (!namespaced || ofHost):
		of = "compose"
	case a.f.Container == pod && ofHost:
		of = "absent"
	case a.f.Container == pod && !slices.Contains(a.Rules.KubernetesSafe, j.Name):
		rule, of = "LR-POD-UNSAFE", "node"
	case a.f.Container == daemonSet && j.rec != nil && !ofHost && strings.HasPrefix(j.Name, "net."):
		rule, of = "LR-POD-OWN", "daemonset"
	default:
		return nil
	}
	return []candidate{a.says(rule, of, j.Line, nil)}
}
