package audit_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"linerate/internal/audit"
	"linerate/internal/labtest"
)

// sarifSchema is OASIS's JSON schema of SARIF 2.1.0: the constant that
// go-sarif keeps to itself, read from its source.
func sarifSchema(t *testing.T) string {
	t.Helper()
	pkg, err := build.Import("github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif", ".", build.FindOnly)
	if err != nil {
		labtest.Lacking(t, "no source of go-sarif: %v", err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(pkg.Dir, "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	schema := ""
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.BasicLit); ok && v.Kind == token.STRING && len(v.Value) > len(schema) {
			schema, err = strconv.Unquote(v.Value)
		}
		return true
	})
	if err != nil || len(schema) < 1000 {
		t.Fatalf("no schema in go-sarif's source: %v", err)
	}
	return schema
}

// report audits a firewall with findings on lines, on none, and a suppressed
// one.
func report(t *testing.T) *audit.Report {
	t.Helper()
	f := tree(t, "14.3", map[string]string{
		"/etc/sysctl.conf":   "net.inet.ip.maxfragpackets=0\n ZFS Tuning: a comment without its mark",
		"/boot/loader.conf":  `machdep.hyperthreading_allowed="0"`,
		"/etc/my rules.conf": "pass all",
		"/etc/rc.conf":       "pf_enable=\"YES\"\npf_rules=\"/etc/my rules.conf\"\nfirewall_enable=\"YES\"\ncloned_interfaces=\"gre0\"",
	})
	c, set := known(t)
	sup, err := audit.ParseSuppressions([]byte("suppressions: [{id: 'LR-SMT*', reason: tenants}]"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := audit.Run(audit.Input{Facts: f, Catalogue: c, Rules: set, Role: "firewall", RoleReasons: []string{"test"}, Suppressions: sup})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSARIFValidates(t *testing.T) {
	text, err := json.Marshal(audit.ToSARIF(report(t), "test"))
	if err != nil {
		t.Fatal(err)
	}
	var schema, log any
	if err := errors.Join(json.Unmarshal([]byte(sarifSchema(t)), &schema), json.Unmarshal(text, &log)); err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("sarif", schema); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(log); err != nil {
		t.Error(err)
	}
}

func TestSARIFHoldsEveryFinding(t *testing.T) {
	r := report(t)
	text, err := json.Marshal(audit.ToSARIF(r, "test"))
	if err != nil {
		t.Fatal(err)
	}
	log, err := sarif.FromBytes(text)
	if err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if len(run.Results) != len(r.Findings)+len(r.Suppressed) || len(r.Suppressed) != 1 {
		t.Fatalf("%d results of %d findings and %d suppressed", len(run.Results), len(r.Findings), len(r.Suppressed))
	}
	suppressed := 0
	for _, res := range run.Results {
		if *res.RuleID != *run.Tool.Driver.Rules[res.RuleIndex].ID {
			t.Errorf("rule index of %s points elsewhere", *res.RuleID)
		}
		suppressed += len(res.Suppressions)
	}
	if suppressed != 1 {
		t.Errorf("%d suppressions, want 1", suppressed)
	}
}
