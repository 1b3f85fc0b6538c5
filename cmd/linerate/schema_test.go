package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"

	"linerate/imports/netbenches"
	"linerate/internal/accesslog"
	"linerate/internal/assemble/hosts"
	"linerate/internal/audit"
	"linerate/internal/compare"
	"linerate/internal/fact/release"
	"linerate/internal/fleet"
	"linerate/internal/ledger"
	"linerate/internal/pack"
	"linerate/internal/plan"
	"linerate/internal/queue"
	"linerate/internal/role"
	"linerate/internal/stats"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/tunable"
	"linerate/internal/tunable/explain"
	"linerate/internal/tune/space"
	"linerate/internal/web"
	"linerate/schemas"
)

// described is a document or file that has a schema.
type described struct {
	name, title string
	commands    []string // commands that print it with --json
	types       []reflect.Type
}

func typeOf[T any]() []reflect.Type { return []reflect.Type{reflect.TypeFor[T]()} }

// documents are the documents that commands print with --json; every command with the flag is
// listed.
var documents = []described{
	{"results", "results of a study: results.json; linerate study run, study resume, demo, prove, report --json", []string{"study run", "study resume", "demo", "prove", "report"},
		[]reflect.Type{reflect.TypeFor[study.Results](), reflect.TypeFor[scheduleDocument](), reflect.TypeFor[submittedDocument]()}},
	{"trial", "a line of a study's trials.jsonl", nil, typeOf[study.Trial]()},
	{"audit", "linerate audit --json", []string{"audit"}, typeOf[audit.Report]()},
	{"facts", "linerate inspect --json; with --watch a line for each write", []string{"inspect"}, []reflect.Type{reflect.TypeFor[hosts.Inspected](), reflect.TypeFor[watched]()}},
	{"plan", "a plan: linerate plan --json, plan show --json, and the file; of many hosts their summary", []string{"plan", "plan show"}, []reflect.Type{reflect.TypeFor[plan.Plan](), reflect.TypeFor[plannedDocument]()}},
	{"applied", "linerate apply --json", []string{"apply"}, []reflect.Type{reflect.TypeFor[applied](), reflect.TypeFor[waveDocument]()}},
	{"fleet-wave", "linerate fleet wave --json, rollback --wave --json", []string{"fleet wave", "rollback"}, []reflect.Type{reflect.TypeFor[waveDocument](), reflect.TypeFor[wavesDocument]()}},
	{"fleet-plan", "a line of a directory of plans: index.jsonl", nil, typeOf[fleet.Planned]()},
	{"status", "linerate status --json", []string{"status"}, typeOf[statusDocument]()},
	{"fleet-sweep", "linerate fleet sweep --json", []string{"fleet sweep"}, typeOf[sweepDocument]()},
	{"fleet-status", "linerate fleet status --json", []string{"fleet status"}, []reflect.Type{reflect.TypeFor[fleetStatusDocument](), reflect.TypeFor[fleetHostDocument](), reflect.TypeFor[fleetRuleDocument]()}},
	{"fleet-changes", "linerate fleet changes --json", []string{"fleet changes"}, typeOf[fleetChangesDocument]()},
	{"serve-fleet", "linerate serve: /api/v1/fleet", nil, typeOf[web.Fleet]()},
	{"serve-hosts", "linerate serve: /api/v1/fleet/hosts", nil, typeOf[web.Hosts]()},
	{"serve-host", "linerate serve: /api/v1/fleet/hosts/ID", nil, typeOf[web.Host]()},
	{"serve-rule", "linerate serve: /api/v1/fleet/rules/ID", nil, typeOf[web.Rule]()},
	{"serve-changes", "linerate serve: /api/v1/fleet/changes", nil, typeOf[web.Changes]()},
	{"serve-studies", "linerate serve: /api/v1/studies", nil, typeOf[web.Studies]()},
	{"serve-study", "linerate serve: /api/v1/studies/ID", nil, typeOf[web.Study]()},
	{"serve-queue", "linerate serve: /api/v1/queue", nil, typeOf[web.Queue]()},
	{"serve-error", "linerate serve: an error below /api/v1", nil, typeOf[web.Failure]()},
	{"compare", "linerate compare --json", []string{"compare"}, typeOf[compare.Document]()},
	{"explain", "linerate explain --json", []string{"explain"}, []reflect.Type{reflect.TypeFor[explain.Page](), reflect.TypeFor[unlistedDocument](), reflect.TypeFor[listDocument]()}},
	{"catalogue", "linerate catalogue --json", []string{"catalogue"}, typeOf[listDocument]()},
	{"calc", "linerate calc --json", []string{"calc"}, []reflect.Type{reflect.TypeFor[calculatorsDocument](), reflect.TypeFor[calcDoc]()}},
	{"evidence", "linerate ledger query --json", []string{"ledger query"}, []reflect.Type{reflect.TypeFor[evidenceDoc](), reflect.TypeFor[trendDoc]()}},
	{"ledger", "linerate ledger show --json", []string{"ledger show"}, []reflect.Type{reflect.TypeFor[overviewDocument](), reflect.TypeFor[recordsDocument]()}},
	{"ledger-verify", "linerate ledger verify --json", []string{"ledger verify"}, typeOf[ledger.Report]()},
	{"imported", "linerate import --json, of an archive", []string{"import"}, typeOf[netbenches.Imported]()},
	{"studies", "linerate study list --json", []string{"study list"}, typeOf[studiesDocument]()},
	{"queue", "linerate study queue --json", []string{"study queue"}, typeOf[queue.Document]()},
	{"testbed-check", "linerate lab check --json", []string{"lab check"}, typeOf[checkDocument]()},
	{"tune", "linerate tune --json", []string{"tune"}, []reflect.Type{reflect.TypeFor[searchDocumentOf](), reflect.TypeFor[spaceDocument]()}},
	{"generated", "linerate load send --json", []string{"load send"}, typeOf[sentDoc]()},
	{"received", "linerate load receive --json", []string{"load receive"}, typeOf[receivedDoc]()},
	{"logs", "linerate logs --json", []string{"logs"}, []reflect.Type{reflect.TypeFor[accesslog.Summary](), reflect.TypeFor[accesslog.Comparisons]()}},
}

// writtenFiles are the files that users write.
var writtenFiles = []described{
	{"study", "a study (YAML)", nil, typeOf[study.Spec]()},
	{"testbed", "a testbed of machines (YAML)", nil, typeOf[testbed.File]()},
	{"space", "a space to search with linerate tune (YAML)", nil, []reflect.Type{space.FileType()}},
	{"suppressions", "suppressions of an audit's findings (YAML)", nil, typeOf[audit.SuppressionFile]()},
	{"catalogue-records", "records of the catalogue (YAML)", nil, typeOf[tunable.RecordFile]()},
	{"catalogue-claims", "claims of one source (YAML)", nil, typeOf[tunable.Claims]()},
	{"catalogue-concepts", "concepts of the catalogue (YAML)", nil, typeOf[tunable.ConceptFile]()},
	{"catalogue-conditions", "conditions of the catalogue in words (YAML)", nil, typeOf[tunable.ConditionFile]()},
	{"catalogue-rules", "rules and lists of audits (YAML)", nil, typeOf[audit.RuleFile]()},
	{"catalogue-advice", "what plans may set (YAML)", nil, typeOf[plan.AdviceFile]()},
	{"catalogue-roles", "roles of hosts (YAML)", nil, typeOf[role.File]()},
}

var (
	comments = &schemaComments{Module: "linerate", Main: "cmd/linerate", Sources: os.DirFS("../..")}
	scalar   = &schemaNode{Type: []string{"string", "number"}}
	orNull   = &schemaNode{Type: []string{"number", "null"}}
)

// ofDocuments returns a maker of schemas for printed documents; closed schemas, used only by the
// tests, refuse members that the type does not have.
func ofDocuments(closed bool) *schemaMaker {
	return &schemaMaker{Tag: "json", Closed: closed, Comment: comments.Of,
		Known: map[reflect.Type]*schemaNode{reflect.TypeFor[stats.Number](): orNull, reflect.TypeFor[release.Release](): {Type: "string"}}}
}

// ofFiles returns a maker of schemas for files that users write.
func ofFiles(d described) *schemaMaker {
	reference := ""
	if d.name == "study" { // sweeps substitute references in it
		reference = `\$`
	}
	var metrics []string
	for _, m := range study.Metrics() {
		metrics = append(metrics, m.Name)
	}
	return &schemaMaker{Tag: "yaml", Closed: true, Comment: comments.Of, Constants: comments.Constants, Reference: reference,
		Known: map[reflect.Type]*schemaNode{
			reflect.TypeFor[study.Rate](): scalar, reflect.TypeFor[testbed.Duration](): {Type: "string"},
		},
		Words: map[string][]string{
			"study.Goal.Metric": metrics, "study.Workload.Family": {"ipv4", "ipv6"}, "study.Part.Family": {"ipv4", "ipv6"},
			"study.Part.Mode":     {string(testbed.Cost), string(testbed.Overload), string(study.FlowsMode), string(testbed.Serve), string(study.SwitchbackMode), string(study.ConnectionsMode)},
			"study.Workload.IMIX": {"simple"}, "study.Part.IMIX": {"simple"}, "study.Workload.Order": {"round-robin", "random", "trains"}, "study.Workload.Directions": {study.OneWay, study.BothWays},
			"study.Part.Directions": {study.OneWay, study.BothWays}, "study.Variant.OS": {"linux", "freebsd"},
			"study.Testbed.Kind":    {"netns", "ssh", "ports", "live"},
			"study.Setting.Forward": {"xdp", "bridge"}, "study.Setting.Over": study.HopLinks, "study.Setting.Scope": {study.ScopeHost},
			"study.Spec.Design": {study.Blocks, study.Switchback, study.Concurrent}, "study.Part.Flood": {study.FloodSYN},
			"testbed.Traffic.Tool": {testbed.ToolLinerate, testbed.ToolPktGen},
		},
		Required: map[string][]string{
			"study.Spec": {"name", "question", "variants"}, "study.Variant": {"name"}, "study.Sweep": {"parameter", "values"}, "study.Goal": {"metric"},
			"testbed.File": {"hosts", "wires"}, "audit.Suppression": {"reason"}, "space.file": {"factors"}, "space.factor": {"name", "levels"},
			"audit.Rule": {"id", "kind", "severity", "action"}, "tunable.rawRecord": {"name"},
		}}
}

// make returns the schema of a document or file.
func (d described) make(t *testing.T, m *schemaMaker) *schemaNode {
	t.Helper()
	n, err := m.Of(schemas.Base+d.name, d.title, d.types...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSchemas: the built-in schemas match the Go types, and there are no others. With -update
// they are rewritten.
func TestSchemas(t *testing.T) {
	t.Parallel()
	texts := map[string][]byte{}
	check := func(d described, m *schemaMaker) {
		want, err := d.make(t, m).Text()
		if err != nil {
			t.Fatal(err)
		}
		texts[d.name] = want
		file := filepath.Join("../../schemas", schemas.File(d.name))
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		have, err := schemas.Read(d.name)
		if written, _ := os.ReadFile(file); err != nil || !bytes.Equal(have, want) || !bytes.Equal(written, want) {
			t.Errorf("schemas/%s does not match the current types: run the test with -update (%v)", schemas.File(d.name), err)
		}
		if schemas.Title(d.name) != d.title {
			t.Errorf("%s: title %q", d.name, schemas.Title(d.name))
		}
	}
	for _, d := range documents {
		check(d, ofDocuments(false))
	}
	for _, d := range writtenFiles {
		check(d, ofFiles(d))
	}
	if *update {
		packSchemas(t, texts)
	} else if names := slices.Sorted(maps.Keys(texts)); !slices.Equal(names, schemas.Names()) {
		t.Errorf("schemas of %v, built in %v", names, schemas.Names())
	}
}

// packSchemas writes the archive of schemas that is built into the program.
func packSchemas(t *testing.T, texts map[string][]byte) {
	t.Helper()
	b, err := pack.Marshal(texts)
	if err == nil {
		b, err = pack.Compress(b)
	}
	if err == nil {
		err = os.WriteFile("../../schemas/schemas.pack", b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestEveryDocumentHasASchema: every command with --json is in documents.
func TestEveryDocumentHasASchema(t *testing.T) {
	known := map[string]bool{}
	for _, d := range documents {
		for _, c := range d.commands {
			known[c] = true
		}
	}
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		if name := verbOf(c); c.LocalFlags().Lookup("json") != nil && c.Runnable() && !known[name] && documentOf(name) == nil {
			t.Errorf("%s --json prints a document without a schema: add it to documents", name)
		}
		for _, sub := range c.Commands() {
			each(sub)
		}
	}
	each(newRootCmd())
}

func verbOf(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "linerate ") }

// documentOf returns the document of a command or of its nearest parent that has one.
func documentOf(verb string) *described {
	for ; verb != ""; verb = parent(verb) {
		for i, d := range documents {
			if slices.Contains(d.commands, verb) {
				return &documents[i]
			}
		}
	}
	return nil
}

func parent(verb string) string {
	i := strings.LastIndex(verb, " ")
	return verb[:max(i, 0)]
}

// compile prepares a schema for validation.
func compile(n *schemaNode) (*jsonschema.Schema, error) {
	text, err := n.Text()
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(n.ID, doc); err != nil {
		return nil, err
	}
	return c.Compile(n.ID)
}

func compiled(t *testing.T, n *schemaNode) *jsonschema.Schema {
	t.Helper()
	s, err := compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWrittenFilesFitTheirSchemas: the built-in files and those that the tests write satisfy
// their schemas.
func TestWrittenFilesFitTheirSchemas(t *testing.T) {
	t.Parallel()
	files := map[string][]string{
		"study":                {"../../studies/*.yaml", "testdata/every-key*.yaml"},
		"catalogue-records":    {"../../catalogue/freebsd/*.yaml", "../../catalogue/linux/*.yaml"},
		"catalogue-claims":     {"../../catalogue/claims/*.yaml"},
		"catalogue-concepts":   {"../../catalogue/concepts.yaml"},
		"catalogue-conditions": {"../../catalogue/conditions.yaml"},
		"catalogue-rules":      {"../../catalogue/rules/*.yaml"},
		"catalogue-advice":     {"../../catalogue/plans/*.yaml"},
		"catalogue-roles":      {"../../catalogue/roles/roles.yaml"},
	}
	for _, d := range writtenFiles {
		s := compiled(t, d.make(t, ofFiles(d)))
		var group sync.WaitGroup
		for _, pattern := range files[d.name] {
			found, err := filepath.Glob(pattern)
			if err != nil || len(found) == 0 {
				t.Errorf("%s: no files (%v)", pattern, err)
			}
			for _, file := range found {
				group.Go(func() {
					if err := fits(s, file); err != nil {
						t.Errorf("%s: %v", file, err)
					}
				})
			}
		}
		group.Wait()
	}
}

func fits(s *jsonschema.Schema, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	asJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// TestSchemasRefuse: the schemas refuse what linerate refuses.
func TestSchemasRefuse(t *testing.T) {
	t.Parallel()
	good := "name: x\nquestion: y\nvariants: [{name: a, settings: [{sysctl: net.ipv4.ip_forward, value: 1}]}, {name: b}]\n"
	for _, c := range []struct{ of, text string }{
		{"study", "name: x\nquestion: y\n"},
		{"study", good + "blocs: 3\n"},
		{"study", good + "blocks: many\n"},
		{"study", good + "metrics: [{metric: speed}]\n"},
		{"study", good + "parts: [{mode: fast}]\n"},
		{"study", good + "workload: {order: sideways}\n"},
		{"study", good + "workload: {sizes: 64}\n"},
		{"testbed", "hosts: {dut: {ssh: ssh://a}}\n"},
		{"suppressions", "suppressions: [{id: LR-SMT}]\n"},
	} {
		i := slices.IndexFunc(writtenFiles, func(d described) bool { return d.name == c.of })
		s := compiled(t, writtenFiles[i].make(t, ofFiles(writtenFiles[i])))
		file := filepath.Join(t.TempDir(), "file.yaml")
		if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if fits(s, file) == nil {
			t.Errorf("the schema of a %s accepts %q", c.of, c.text)
		}
	}
	s := compiled(t, writtenFiles[0].make(t, ofFiles(writtenFiles[0])))
	file := filepath.Join(t.TempDir(), "good.yaml")
	if err := os.WriteFile(file, []byte(good), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := fits(s, file); err != nil {
		t.Errorf("the schema refuses a valid study: %v", err)
	}
}
