package audit_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"linerate/internal/audit"
	"linerate/internal/labtest"
)

// sarifSchema returns OASIS's JSON schema of SARIF 2.1.0, an unexported constant of go-sarif, read
// from its source.
func sarifSchema(t *testing.T) string {
	t.Helper()
	// Not go/build, which does not find modules in a test built with -trimpath.
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		labtest.Lacking(t, "no source of go-sarif: %v", err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
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

// report audits a firewall with findings on lines, on no line, and a suppressed one.
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
	text, err := json.Marshal(audit.ToSARIF("test", audit.SARIFHost{Report: report(t)}))
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
	text, err := json.Marshal(audit.ToSARIF("test", audit.SARIFHost{Report: r}))
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
			t.Errorf("the rule index of %s points to another rule", *res.RuleID)
		}
		suppressed += len(res.Suppressions)
	}
	if suppressed != 1 {
		t.Errorf("%d suppressions, want 1", suppressed)
	}
}

// TestSARIFPlaces: files of a tree in a repository are relative to its root, single files keep their
// given names, and files of a host are relative to the tree.
func TestSARIFPlaces(t *testing.T) {
	named := audit.Finding{ID: "LR-X:y", Severity: audit.Error, Name: "y", File: "./conf/my sysctl.conf", Line: 2}
	onHost := audit.Finding{ID: "LR-X:y", Severity: audit.Error, Name: "y", File: "/etc/sysctl.conf", Line: 2}
	for _, c := range []struct {
		name              string
		of                audit.Finding
		root, prefix, src string
		uri, base         string
	}{
		{"a host", onHost, "", "", "/work", "etc/sysctl.conf", "HOST"},
		{"a tree elsewhere", onHost, "/mnt", "", "/work", "etc/sysctl.conf", "HOST"},
		{"a tree in a repository", onHost, "/work/hosts/fw1", "hosts/fw1", "/work", "hosts/fw1/etc/sysctl.conf", "SRCROOT"},
		{"the repository itself", onHost, "/work", ".", "/work", "etc/sysctl.conf", "SRCROOT"},
		{"a file by itself", named, "", "", "/work", "conf/my%20sysctl.conf", "SRCROOT"},
	} {
		h := audit.SARIFHost{Report: &audit.Report{Findings: []audit.Finding{c.of}}, Name: "fw1", Root: c.root, Prefix: c.prefix, Sources: c.src}
		text, err := json.Marshal(audit.ToSARIF("test", h))
		if err != nil {
			t.Fatal(err)
		}
		log, err := sarif.FromBytes(text)
		if err != nil {
			t.Fatal(err)
		}
		run := log.Runs[0]
		res := run.Results[0]
		place := res.Locations[0].PhysicalLocation.ArtifactLocation
		if *place.URI != c.uri || *place.URIBaseID != c.base {
			t.Errorf("%s: %s of %s; want %s of %s", c.name, *place.URI, *place.URIBaseID, c.uri, c.base)
		}
		if res.PartialFingerprints["hostFindingId/v1"] != "fw1/LR-X:y" {
			t.Errorf("%s: fingerprints %v", c.name, res.PartialFingerprints)
		}
		if _, has := run.OriginalUriBaseIds["SRCROOT"]; has != (c.base == "SRCROOT") || *run.AutomationDetails.ID != "linerate/fw1/" {
			t.Errorf("%s: bases %v, run %v", c.name, run.OriginalUriBaseIds, *run.AutomationDetails.ID)
		}
	}
}

// TestSARIFHelp: every rule has a full description and help.
func TestSARIFHelp(t *testing.T) {
	text, err := json.Marshal(audit.ToSARIF("test", audit.SARIFHost{Report: report(t)}))
	if err != nil {
		t.Fatal(err)
	}
	log, err := sarif.FromBytes(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range log.Runs[0].Tool.Driver.Rules {
		if full := *r.FullDescription.Text; len(full) < 20 || full == *r.ShortDescription.Text || *r.Help.Text == "" || *r.Help.Markdown == "" {
			t.Errorf("%s: %q, help %q", *r.ID, full, *r.Help.Text)
		}
	}
}
