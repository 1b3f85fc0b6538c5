package catalogue

import (
	"bytes"
	"flag"
	"os"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"testing"

	"linerate/catalogue/appliances"
	"linerate/internal/appliance"
	"linerate/internal/audit"
	"linerate/internal/fact/release"
	"linerate/internal/pack"
	"linerate/internal/plan"
	"linerate/internal/tunable"
)

var update = flag.Bool("update", false, "write catalogue.pack from the YAML files")

// files is the catalogue of the repository.
var files = os.DirFS(".")

var readOnce = sync.OnceValues(func() (*tunable.Catalogue, error) { return tunable.Read(files) })

// catalogueOf returns the whole catalogue, unchecked, read once for all tests.
func catalogueOf(t *testing.T) *tunable.Catalogue {
	t.Helper()
	c, err := readOnce()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAdviceAgreesWithItsReason: "leave it" is never followed by a reason to do something.
func TestAdviceAgreesWithItsReason(t *testing.T) {
	c := catalogueOf(t)
	deed := regexp.MustCompile(`^(Raise|Lower|Bound|Measure|Set|Give|[0-9]+ (with|for|where|on|only)|Only where)\b`)
	for _, r := range c.Records {
		for _, k := range r.Recommend {
			if k.Value+k.Formula == "" && (k.Do == "" || k.Do == "leave") && deed.MatchString(k.Reason) {
				t.Errorf("%s:%d: %s for %s says \"leave it\" before: %s", r.File, r.Line, r.Name, k.Role, k.Reason)
			}
		}
	}
}

// TestCompiledIsFresh: the packed catalogue, and the records of appliances, are made from these files.
func TestCompiledIsFresh(t *testing.T) {
	products, err := appliance.Load(os.DirFS("appliances"))
	if err != nil {
		t.Fatal(err)
	}
	records, err := pack.Marshal(products)
	if err == nil {
		records, err = pack.Compress(records)
	}
	if err == nil && *update {
		err = os.WriteFile("appliances/appliances.pack", records, 0o644)
	}
	if again, _ := appliance.Products(); err != nil || !*update && (!bytes.Equal(appliances.Packed, records) || !reflect.DeepEqual(again, products)) {
		t.Errorf("appliances.pack is not made from these files (%v); run: go test ./catalogue -update", err)
	}
	want, err := tunable.Compile(catalogueOf(t), packedRules(t), packedPlans(t), measured(t))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("catalogue.pack", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(packed, want) {
		t.Fatal("catalogue.pack is not made from these files; run: go test ./catalogue -update")
	}
	got, beside, err := tunable.Unpack(packed)
	if err != nil {
		t.Fatal(err)
	}
	again, err := tunable.Compile(got, beside...)
	if err != nil || !bytes.Equal(again, want) {
		t.Errorf("the packed catalogue loses something: %v", err)
	}
}

// measured returns the evidence that is shipped with the program.
func measured(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("evidence/netbenches.tsv")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// packedRules returns the packed audit rules.
func packedRules(t *testing.T) []byte {
	t.Helper()
	set, err := audit.LoadRules(files)
	if err != nil {
		t.Fatal(err)
	}
	b, err := audit.PackRules(set)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// packedPlans returns the packed advice for plans.
func packedPlans(t *testing.T) []byte {
	t.Helper()
	l, err := plan.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	b, err := plan.Pack(l)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, _, err := tunable.Unpack(packed); err != nil {
			b.Fatal(err)
		}
	}
}

// unread are records of FreeBSD's base system and ports whose handler has not been read, and why.
var unread = map[string]string{
	"hw.ixl.enable_tx_fc_filter": "in no kernel",
	"if_re_load":                 "a port's driver",
	"qat_load":                   "its firmware is not in the tree",
	"nginx:listen.accept_filter": "nginx's own",
	"nginx:listen.backlog":       "nginx's own",
	"apache:ListenBacklog":       "Apache's own",
}

// TestNetworkIsReadInItsHandlers: for network settings of FreeBSD 14.0, a record states the effect of a value
// only if the code that uses it was read.
func TestNetworkIsReadInItsHandlers(t *testing.T) {
	c := catalogueOf(t)
	network := regexp.MustCompile(`^(tcp.*|ip|ip-.*|ipv6-.*|ipfw|ipsec|iflib|net|routing|link|pf|packetfilter|` +
		`nic-.*|drivers|interface-flags|ifconfig|firewall|services|rc|rc-.*|modules|modules-.*)$`)
	read := 0
	for name := range unread {
		if _, ok := c.Lookup(tunable.FreeBSD, name); !ok {
			t.Errorf("%s: no record", name)
		}
	}
	for _, r := range c.Records {
		if r.OS != "freebsd" || !network.MatchString(r.Subsystem) || !r.Exists(release.MustParse("14.0")) ||
			slices.Equal(r.Sources, []string{"ports tree"}) || unread[r.Name] != "" {
			continue
		}
		if !slices.ContainsFunc(r.Checked, func(k tunable.Check) bool { return slices.Contains(k.What, "effect") }) {
			t.Errorf("%s:%d: %s: `checked` has no effect", r.File, r.Line, r.Name)
		}
		read++
	}
	if read < 1000 {
		t.Errorf("only %d records were looked at", read)
	}
}
