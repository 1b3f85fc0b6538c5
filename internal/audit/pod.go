package audit

import (
	"fmt"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/tunable"
)

// Kinds of containers whose sysctls a file of a repository declares (fact.Facts.Container).
const (
	pod       = "kubernetes-pod"       // securityContext.sysctls of a pod
	daemonSet = "kubernetes-daemonset" // written by a privileged container of a DaemonSet, which is there for the node
	composed  = "compose"              // sysctls of compose
)

var podSources = []string{"kubernetes pkg/kubelet/sysctl/safe_sysctls.go, namespaces.go"}

// inPod reports sysctls that a pod or a container cannot be given, or not without its node's
// consent, and those that a DaemonSet sets for itself alone.
func (a *auditor) inPod(j judged) []candidate {
	f := Finding{ID: "LR-POD-SYSCTL:" + j.Name, Kind: Misplaced, Severity: Error, Action: Remove, Name: j.Name, Sources: podSources}.at(j.Line)
	ofHost := j.rec != nil && j.rec.ScopeOn(j.Name, a.f.Release) == tunable.Host
	namespaced := strings.HasPrefix(j.Name, "net.") || slices.Contains(a.Rules.PCTSysctls, j.Name) || strings.HasPrefix(j.Name, "fs.mqueue.")
	switch {
	case j.Stage != fact.Sysctl:
		return nil
	case a.f.Container == pod && !namespaced:
		f.Message = fmt.Sprintf("%s is the node's: the kubelet refuses the pod (SysctlForbidden)", j.Name)
		f.Why = "It is in no namespace. A pod can be given sysctls of its own network and IPC namespaces: net.…, kernel.shm…, kernel.msg…, kernel.sem, fs.mqueue.…"
		f.Fix = "Set it on the node: by its machine configuration, the Node Tuning Operator, or a privileged DaemonSet."
	case a.f.Container == composed && (!namespaced || ofHost):
		f.Sources = []string{"docker-run(1)", "runc libcontainer/configs/validate"}
		f.Message = fmt.Sprintf("%s is the host's: the container does not start with it", j.Name)
		f.Why = "Docker sets sysctls of a container's own network and IPC namespaces alone."
		f.Fix = fmt.Sprintf("Set it on the host, in /etc/sysctl.d/: %s = %s.", j.Name, j.Value)
	case a.f.Container == pod && ofHost:
		f.Message = fmt.Sprintf("%s is not there in a pod's network namespace: the pod does not start", j.Name)
		f.Why = "Its name begins as those of namespaces do, so the kubelet lets it pass, but the kernel has it in the first network namespace alone: the runtime finds no such file."
		f.Fix = "Set it on the node."
	case a.f.Container == pod && !slices.Contains(a.Rules.KubernetesSafe, j.Name):
		f.ID, f.Kind, f.Severity, f.Action = "LR-POD-UNSAFE:"+j.Name, Coupled, Info, Keep
		f.Message = fmt.Sprintf("%s is an unsafe sysctl to Kubernetes: the pod runs only where the node allows it", j.Name)
		f.Why = "It is the pod's own, but not on the kubelet's list of safe sysctls."
		f.Fix = fmt.Sprintf("Add it to allowedUnsafeSysctls of the nodes' kubelets: [%s].", j.Name)
		return []candidate{{Finding: f, class: lineRule}}
	case a.f.Container == daemonSet && j.rec != nil && j.rec.ScopeOn(j.Name, a.f.Release) != tunable.Host && strings.HasPrefix(j.Name, "net."):
		f.ID, f.Severity, f.Action = "LR-POD-OWN:"+j.Name, Warning, Change
		f.Message = fmt.Sprintf("%s is set in the DaemonSet's own pod, not on its node", j.Name)
		f.Why = "It belongs to a network namespace, and the pod has its own; other pods and the node keep theirs."
		f.Fix = "Add hostNetwork: true for the node's value; a pod gets its own by securityContext.sysctls."
		return []candidate{{Finding: f, class: lineRule}}
	default:
		return nil
	}
	return one(misplaced, f)
}
