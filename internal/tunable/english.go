package tunable

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"linerate/internal/list"
)

// Condition writes a condition of the catalogue as words: "it is above 500
// and pf filters" for `this > 500 && pf`. this and other are the names that
// stand for the value and the coupled one's: "it" and a tunable, mostly. What
// it cannot read it gives back as it is.
func Condition(code, this, other string) string {
	return written(code, english{this: this, other: other})
}

// FormulaWords writes a formula with the words of its names: "min(memory / 1024,
// 64 × CPUs)".
func FormulaWords(code string) string { return written(code, english{formula: true}) }

func written(code string, e english) string {
	tree, err := parser.Parse(code)
	if err != nil || code == "" {
		return code
	}
	return e.words(tree.Node)
}

// english writes the nodes of one expression: as a statement, or as a formula.
type english struct {
	this, other string
	formula     bool
}

// binding is how tightly an operator's words bind; what is looser within a
// tighter one is put between brackets.
var binding = map[string]int{
	"or": 1, "||": 1, "and": 2, "&&": 2, "==": 3, "!=": 3, "<": 3, ">": 3, "<=": 3, ">=": 3, "in": 3,
	"+": 4, "-": 4, "*": 5, "/": 5,
}

// relations are the words of comparisons, and of their denials.
var relations = map[string][2]string{
	"==": {"is", "is not"}, "!=": {"is not", "is"}, "<": {"is below", "is at least"}, ">": {"is above", "is at most"},
	"<=": {"is at most", "is above"}, ">=": {"is at least", "is below"}, "in": {"is", "is not"},
}

// wordsOfNames are the words of a host's facts, as nouns or as statements with their
// denials.
var wordsOfNames = map[string][2]string{
	"role": {"the role"}, "memory": {"memory"}, "real_memory": {"installed memory"},
	"kmem": {"the kernel's map"}, "page": {"a page"}, "pages": {"memory in pages"}, "cpus": {"the number of CPUs"}, "cores": {"the number of cores"},
	"threads_per_core": {"the number of threads per core"}, "domains": {"the number of NUMA domains"}, "major": {"the release"}, "ports": {"the number of network ports"},
	"link": {"the fastest link in bit/s"}, "nic_queues": {"the number of receive queues per port"}, "drivers": {"the ports' drivers"}, "hz": {"ticks a second"},
	"os": {"the system"}, "arch": {"the architecture"}, "pf_nat": {"pf's NAT rules"}, "pf_rules": {"pf's rules"}, "pf_states": {"pf's states"},
	"pf_source_tracking": {"pf's rules that track sources"}, "ipfw_nat": {"ipfw's NAT instances"}, "ipfw_rules": {"ipfw's rules"},
	"ipfw_stateful": {"ipfw's rules that keep state"}, "ipfw_pipes": {"dummynet's pipes"}, "nft_rules": {"netfilter's rules"},
	"forwarding": {"the host forwards", "the host does not forward"}, "forwarding_ipv4": {"it forwards IPv4", "it does not forward IPv4"},
	"forwarding_ipv6": {"the host forwards IPv6", "the host does not forward IPv6"},
	"carp":            {"an interface has a CARP address", "no interface has a CARP address"},
	"pf":              {"pf filters", "pf does not filter"}, "ipfw": {"ipfw filters", "ipfw does not filter"}, "ipf": {"IPFilter is on", "IPFilter is off"},
	"nft": {"netfilter has rules", "netfilter has no rules"}, "vm": {"in a virtual machine", "on real hardware"},
	"conntrack_on": {"connections are tracked", "connections are not tracked"}, "webserver": {"a web server runs", "no web server runs"},
	"container_host": {"containers run here", "no containers run here"}, "tree": {"only files are known", "the running system is known"},
	"bridge_nf": {"bridged frames pass netfilter", "bridged frames do not pass netfilter"},
}

// wordsOfCalls are the words of functions over one name; the second is the denial.
var wordsOfCalls = map[string][2]string{
	"value": {"%s"}, "text": {"%s"}, "running": {"%s"}, "rc_text": {"%s"},
	"module": {"%s is loaded", "%s is not loaded"}, "service": {"%s runs", "%s does not run"}, "enabled": {"%s is on", "%s is off"}, "lro_of": {"LRO is on at a port of %s", "LRO is off at every port of %s"},
	"driver": {"a port's driver is %s", "no port's driver is %s"}, "has_nic": {"there is a %s", "there is no %s"}, "rc": {"%s is on", "%s is off"},
	"is_set": {"%s is set", "%s is not set"}, "mounted": {"%s is mounted", "no %s is mounted"}, "known": {"%s is known", "%s is not known"},
	"listens":  {"port %s is open", "port %s is closed"},
	"at_least": {"the release is %s.%s or newer", "the release is older than %s.%s"}, "pf_limit_set": {"pf.conf sets %s", "pf.conf does not set %s"},
	"min": {"the lesser of %s and %s"}, "max": {"the greater of %s and %s"}, "floor": {"%s"},
	"usable_sockbuf": {"what programs may use of %s"}, "pf_state_memory": {"the memory of that many states"},
	"pf_source_memory": {"the memory of that many source nodes"}, "pf_table_memory": {"the memory of that many table entries"},
	"ipfw_memory": {"the memory of that many states"}, "max_mbuf_mem": {"the memory that mbufs may take"},
	"harvest_default": {"the release's default mask"}, "bdp": {"the bandwidth-delay product at %s and %s s"},
	"maxusers": {"maxusers"}, "maxfiles": {"maxfiles"}, "pow2": {"%s as a power of two"}, "conntrack_buckets": {"connection tracking's buckets for so much memory"},
	"dirty_max": {"a part of memory"}, "dirty_max_max": {"a part of memory"}, "tcbhashsize": {"a power of two by %s"},
	"sockbuf_share": {"one socket's share of %s among %s connections"},
	"sockbuf_for":   {"a buffer for %s"}, "nmbufs": {"mbufs for %s"}, "nmbclusters": {"clusters for %s"}, "nmbjumbop": {"jumbo clusters for %s"},
	"nmbjumbo9": {"jumbo clusters for %s"}, "nmbjumbo16": {"jumbo clusters for %s"},
}

// short are the words of facts within a formula.
var short = map[string]string{
	"cpus": "CPUs", "cores": "cores", "threads_per_core": "threads per core", "domains": "NUMA domains", "pages": "pages of memory",
	"page": "page size", "link": "the fastest link in bit/s", "this": "value",
}

func (e english) words(n ast.Node) string {
	switch n := n.(type) {
	case *ast.BinaryNode:
		return e.binary(n, false)
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			return e.denied(n.Node)
		}
		return n.Operator + e.words(n.Node)
	case *ast.IdentifierNode:
		return e.name(n.Value, false)
	case *ast.CallNode:
		return e.call(n.Callee.String(), n.Arguments, false)
	case *ast.BuiltinNode:
		return e.builtin(n)
	case *ast.ConditionalNode:
		condition := english{this: e.this, other: e.other}
		return fmt.Sprintf("%s where %s, else %s", e.words(n.Exp1), condition.words(n.Cond), e.words(n.Exp2))
	case *ast.StringNode:
		if n.Value == "" {
			return "empty"
		}
		return n.Value
	case *ast.IntegerNode:
		return quantity(float64(n.Value))
	case *ast.FloatNode:
		return quantity(n.Value)
	case *ast.ArrayNode:
		return either(e.all(n.Nodes))
	case *ast.PredicateNode:
		return e.words(n.Node)
	case *ast.PointerNode:
		return "one"
	}
	return n.String()
}

func (e english) all(nodes []ast.Node) []string {
	words := make([]string, len(nodes))
	for i, n := range nodes {
		words[i] = e.words(n)
	}
	return words
}

// either joins alternatives.
func either(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// denied writes a statement's opposite.
func (e english) denied(n ast.Node) string {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return e.name(n.Value, true)
	case *ast.CallNode:
		return e.call(n.Callee.String(), n.Arguments, true)
	case *ast.BinaryNode:
		if _, ok := relations[n.Operator]; ok {
			return e.binary(n, true)
		}
	}
	return "not (" + e.words(n) + ")"
}

func (e english) binary(n *ast.BinaryNode, denied bool) string {
	if _, ok := relations[n.Operator]; ok {
		return e.relation(n, denied)
	}
	switch n.Operator {
	case "&&", "and", "||", "or":
		return e.joined(n)
	case "/":
		return e.part(e.side(n, n.Left), e.side(n, n.Right))
	case "*":
		return e.side(n, n.Left) + " × " + e.side(n, n.Right)
	case "+":
		if text, ok := n.Left.(*ast.StringNode); ok {
			return text.Value + "…"
		}
	}
	return e.side(n, n.Left) + " " + n.Operator + " " + e.side(n, n.Right)
}

// side is an operand, between brackets where it binds less than its operator.
func (e english) side(n *ast.BinaryNode, x ast.Node) string {
	s := e.words(x)
	switch x := x.(type) {
	case *ast.BinaryNode:
		if binding[x.Operator] < binding[n.Operator] {
			return "(" + s + ")"
		}
	case *ast.ConditionalNode:
		return "(" + s + ")"
	case *ast.CallNode:
		if x.Callee.String() == "div" && e.formula {
			return "(" + s + ")"
		}
	}
	return s
}

// joined writes "a and b", "a or b"; a subject is named once, and that a fact
// must be known goes without saying.
func (e english) joined(n *ast.BinaryNode) string {
	word, and := " or ", n.Operator == "&&" || n.Operator == "and"
	if and {
		word = " and "
	}
	if and && guard(n.Left) {
		return e.words(n.Right)
	}
	if and && guard(n.Right) {
		return e.words(n.Left)
	}
	l, r := e.side(n, n.Left), e.side(n, n.Right)
	if subject, _, ok := strings.Cut(l, " is "); ok && !strings.ContainsAny(l, "(") && !strings.Contains(l, " or ") {
		r = strings.TrimPrefix(r, subject+" is ")
	}
	return l + word + r
}

// guard reports conditions that only ask whether a fact is known.
func guard(n ast.Node) bool {
	b, ok := n.(*ast.BinaryNode)
	if !ok || b.Operator != ">" || b.Right.String() != "0" {
		return false
	}
	switch b.Left.String() {
	case "memory", "link", "cpus", "pages", "len(drivers)":
		return true
	}
	return false
}

// relation writes a comparison or, where it is denied, its opposite.
func (e english) relation(n *ast.BinaryNode, denied bool) string {
	which := 0
	if denied {
		which = 1
	}
	if n.Operator == "in" {
		if id, ok := n.Right.(*ast.IdentifierNode); ok && id.Value == "drivers" {
			return e.call("driver", []ast.Node{n.Left}, denied)
		}
		if list, ok := n.Right.(*ast.ArrayNode); ok && denied && len(list.Nodes) > 1 {
			return e.side(n, n.Left) + " is neither " + strings.Join(e.all(list.Nodes), " nor ")
		}
	}
	if s, ok := e.count(n); ok && !denied {
		return s
	}
	return e.side(n, n.Left) + " " + relations[n.Operator][which] + " " + e.side(n, n.Right)
}

// count writes comparisons of things that are counted with nothing: they are
// there or not.
func (e english) count(n *ast.BinaryNode) (string, bool) {
	id, ok := n.Left.(*ast.IdentifierNode)
	if !ok || n.Right.String() != "0" || !strings.Contains(wordsOfNames[id.Value][0], "'s ") {
		return "", false
	}
	switch n.Operator {
	case ">", "!=":
		return "there are " + wordsOfNames[id.Value][0], true
	case "==":
		return "there are none of " + wordsOfNames[id.Value][0], true
	}
	return "", false
}

// part is a quotient.
func (e english) part(of, by string) string {
	word := map[string]string{"2": "half of ", "4": "a quarter of ", "8": "an eighth of ", "16": "a sixteenth of ", "20": "a twentieth of "}[by]
	if word != "" && !e.formula {
		return word + of
	}
	return of + " / " + by
}

func (e english) name(id string, denied bool) string {
	w, ok := wordsOfNames[id]
	switch {
	case (id == "this" || id == "this_text") && !e.formula:
		return e.this
	case id == "other" || id == "other_text":
		return e.other
	case e.formula && short[id] != "":
		return short[id]
	case !ok:
		return strings.ReplaceAll(id, "_", " ")
	case denied && w[1] != "":
		return w[1]
	case denied:
		return "no " + w[0]
	}
	return w[0]
}

// ordinals name the numbers of a vector.
var ordinals = map[string]string{"1": "first", "2": "second", "3": "third", "4": "fourth"}

func (e english) call(name string, args []ast.Node, denied bool) string {
	switch {
	case name == "vector":
		return strings.Join(e.all(args), ", ")
	case name == "div" && len(args) == 2:
		return e.part(e.factor(args[0]), e.factor(args[1]))
	case name == "number_at" && len(args) == 2:
		return "its " + ordinals[args[1].String()] + " number"
	case e.formula && wordsOfCalls[name][0] == "" || e.formula && (name == "min" || name == "max" || name == "pow2"):
		return name + "(" + strings.Join(e.all(args), ", ") + ")"
	}
	w, ok := wordsOfCalls[name]
	form := w[0]
	if denied {
		form = w[1]
	}
	if !ok || form == "" {
		s := strings.ReplaceAll(name, "_", " ")
		if len(args) > 0 {
			s += " of " + strings.Join(e.all(args), ", ")
		}
		return s
	}
	values := list.Map(e.all(args), func(a string) any { return a })
	if !strings.Contains(form, "[") {
		values = values[:min(len(values), strings.Count(form, "%s"))]
	}
	return fmt.Sprintf(form, values...)
}

func (e english) builtin(n *ast.BuiltinNode) string {
	of := len(n.Arguments) == 2 && n.Arguments[0].String() == "drivers"
	switch {
	case of && (n.Name == "any" || n.Name == "all"):
		if p, ok := n.Arguments[1].(*ast.PredicateNode); ok {
			return e.ofDrivers(n.Name, p.Node)
		}
	case !e.formula && (n.Name == "min" || n.Name == "max") && len(n.Arguments) > 2:
		return map[string]string{"min": "the least of ", "max": "the greatest of "}[n.Name] + strings.Join(e.all(n.Arguments), ", ")
	}
	return e.call(n.Name, n.Arguments, false)
}

// quantity writes a number as people read it: by thousands, large powers of
// two as binary units.
func quantity(f float64) string {
	if f != math.Trunc(f) || math.Abs(f) >= 1e15 {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	n := int64(f)
	for _, u := range []struct {
		size int64
		name string
	}{{1 << 40, "Ti"}, {1 << 30, "Gi"}, {1 << 20, "Mi"}} {
		if n >= u.size && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + " " + u.name
		}
	}
	s := strconv.FormatInt(n, 10)
	digits := strings.TrimPrefix(s, "-")
	if len(digits) < 5 {
		return s
	}
	var groups []string
	for len(digits) > 3 {
		groups = append([]string{digits[len(digits)-3:]}, groups...)
		digits = digits[:len(digits)-3]
	}
	return s[:len(s)-len(strings.TrimPrefix(s, "-"))] + strings.Join(append([]string{digits}, groups...), ",")
}

// factor is an operand of div, between brackets where it binds less.
func (e english) factor(n ast.Node) string {
	s := e.words(n)
	switch n := n.(type) {
	case *ast.BinaryNode, *ast.ConditionalNode:
		return "(" + s + ")"
	case *ast.CallNode:
		if n.Callee.String() == "div" {
			return "(" + s + ")"
		}
	}
	return s
}

// ofDrivers writes what any or all of the ports' drivers are.
func (e english) ofDrivers(which string, n ast.Node) string {
	if not, ok := n.(*ast.UnaryNode); ok && which == "all" {
		if b, ok := not.Node.(*ast.BinaryNode); ok {
			return "no port's driver is " + e.words(b.Right)
		}
	}
	if b, ok := n.(*ast.BinaryNode); ok {
		return map[string]string{"any": "a port's driver is ", "all": "every port's driver is "}[which] + e.words(b.Right)
	}
	return which + " of the ports' drivers: " + e.words(n)
}
