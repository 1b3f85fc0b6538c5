package export

import (
	"encoding/json"
	"fmt"
	"strings"

	"linerate/internal/plan"
	"linerate/internal/setting"
)

// mostComment is how long a tunable's comment may be in TrueNAS' database.
const mostComment = 100

// tunable is the argument of a call.
type tunable struct {
	Type    string `json:"type"`
	Var     string `json:"var"`
	Value   string `json:"value"`
	Comment string `json:"comment"`
}

// tunables writes calls of tunable.create of TrueNAS' middleware, one a setting. kind
// is the type by which the middleware knows a setting and its name there, "" where it
// takes none of its sort.
func tunables(kind func(plan.Step) (kind, name string)) func(p plan.Plan, files []plan.File) (string, error) {
	return func(p plan.Plan, _ []plan.File) (string, error) {
		var b strings.Builder
		b.WriteString(title(p, "#") + `
# A name that is in the list already: midclt call tunable.query '[["var", "=", "NAME"]]' shows its id,
# midclt call tunable.update ID '{"value": "VALUE"}' changes it, midclt call tunable.delete ID takes it back.

`)
		for _, s := range p.Settings {
			k, name := kind(s)
			if k == "" {
				continue
			}
			reason := []rune(clean(s.Reason))
			call, err := json.Marshal(tunable{k, name, s.Value, string(reason[:min(len(reason), mostComment)])})
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "midclt call tunable.create '%s'\n", strings.ReplaceAll(string(call), "'", `'\''`))
		}
		return b.String() + left(p, "#", func(s plan.Step) bool { k, _ := kind(s); return k != "" }), nil
	}
}

// coreKind is the type of a setting in TrueNAS CORE.
func coreKind(s plan.Step) (kind, name string) {
	switch s.Mechanism {
	case setting.Sysctl:
		return "SYSCTL", s.Name
	case setting.Loader:
		return "LOADER", s.Name
	case setting.RC:
		return "RC", s.Name
	}
	return "", ""
}

// scaleKind is the type of a setting in TrueNAS SCALE and its successor: parameters of ZFS
// have a separate type since 23.10.
func scaleKind(s plan.Step) (kind, name string) {
	name, zfs := strings.CutPrefix(s.Name, "zfs/")
	switch {
	case s.Mechanism == setting.Sysctl:
		return "SYSCTL", s.Name
	case s.Mechanism == setting.ModParam && zfs:
		return "ZFS", name
	}
	return "", ""
}
