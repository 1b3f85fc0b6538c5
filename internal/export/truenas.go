package export

import (
	"encoding/json"
	"fmt"
	"strings"

	"linerate/internal/plan"
	"linerate/internal/setting"
)

// mostComment is the maximum length of a tunable's comment in TrueNAS' database.
const mostComment = 100

// tunable is the argument of a call.
type tunable struct {
	Type    string `json:"type"`
	Var     string `json:"var"`
	Value   string `json:"value"`
	Comment string `json:"comment"`
}

// tunables writes calls of tunable.create for TrueNAS' middleware, one per setting. kind returns
// the middleware's type and name for a setting, "" if it has none.
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

// coreKind returns the type of a setting in TrueNAS CORE.
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

// scaleKind returns the type of a setting in TrueNAS SCALE and its successor: ZFS parameters have
// their own type since 23.10.
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
