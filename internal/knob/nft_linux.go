package knob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"

	"linerate/internal/setting"
	"linerate/internal/show"
)

// Batch sizes for generated rulesets: a batch must fit in the socket's send
// buffer, and the kernel's answers to its messages in the receive buffer.
// Only root outside user namespaces can enlarge these.
const (
	rulesPerBatch    = 100
	elementsPerBatch = 1000
)

// nft loads a ruleset: a text with nft(8), a generated one by netlink.
func (t *Target) nft(ctx context.Context, r *setting.Rules) (string, error) {
	s := setting.Setting{Mechanism: setting.NFT, Rules: r}
	if r == nil {
		return "", fmt.Errorf("an nft setting has no ruleset")
	}
	if r.Text != "" {
		return t.nftText(ctx, s)
	}
	start := time.Now()
	batches := 0
	err := t.In(func() error {
		c, err := nftables.New()
		if err != nil {
			return unavailable(s, "netfilter netlink: %v", err)
		}
		for _, fam := range families {
			n, err := loadRules(ctx, c, fam, *r)
			batches += n
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return unavailable(s, "load the %s ruleset: %v", fam.name, err)
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("nft: %s loaded for IPv4 and IPv6 in %d batches, %s", r, batches, show.Brief(time.Since(start))), nil
}

// nftText passes the ruleset to the standard input of nft -f, without a file
// or shell.
func (t *Target) nftText(ctx context.Context, s setting.Setting, options ...string) (string, error) {
	nft, err := exec.LookPath("nft")
	if err != nil {
		return "", helped(unavailable(s, "a ruleset as text needs nft(8), which is not installed"), "install nftables")
	}
	said, err := execute(ctx, t.In, s.Rules.Text, nft, append(options, "-f", "-")...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && strings.Contains(said, "Could not process rule") {
		// nft(8) parsed the ruleset, but the kernel rejected it.
		first, _, _ := strings.Cut(said, "\n")
		return "", helped(unavailable(s, "the kernel refused the ruleset (feature not built in?): %s", strings.TrimPrefix(first, "/dev/stdin:")), needsOf(s))
	}
	if errors.As(err, &exit) {
		return "", fmt.Errorf("nft refused the ruleset: %s", said)
	}
	return "", err
}

// family holds the differences between the IPv4 and IPv6 halves of a ruleset. A
// packet traverses only its own family's table, so neither half slows the other down.
type family struct {
	name   string
	table  nftables.TableFamily
	offset uint32 // of the source address in the network header
	length uint32
	key    nftables.SetDatatype
	// never returns the i-th address that no workload uses.
	never func(i int) netip.Addr
}

var families = []family{
	{"IPv4", nftables.TableFamilyIPv4, 12, 4, nftables.TypeIPAddr, never},
	{"IPv6", nftables.TableFamilyIPv6, 8, 16, nftables.TypeIP6Addr, never6},
}

// batch is a family's table while it is sent to the kernel in parts, until an error.
type batch struct {
	*nftables.Conn
	ctx   context.Context
	fam   family
	table *nftables.Table
	chain *nftables.Chain
	sent  int
	err   error
}

// flush sends what has been added.
func (b *batch) flush() {
	if b.err == nil {
		b.sent++
		b.err = errors.Join(b.ctx.Err(), b.Flush())
	}
}

// rule adds a rule to the chain.
func (b *batch) rule(exprs ...expr.Any) {
	b.AddRule(&nftables.Rule{Table: b.table, Chain: b.chain, Exprs: exprs})
}

// loadRules builds one family's table in batches, and returns their number.
func loadRules(ctx context.Context, c *nftables.Conn, fam family, r setting.Rules) (batches int, err error) {
	table := c.AddTable(&nftables.Table{Family: fam.table, Name: "linerate"})
	policy := nftables.ChainPolicyAccept
	if r.Stateful {
		policy = nftables.ChainPolicyDrop
	}
	chain := c.AddChain(&nftables.Chain{Name: "forward", Table: table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter, Policy: &policy})
	b := &batch{Conn: c, ctx: ctx, fam: fam, table: table, chain: chain}
	b.flush()
	for i := 0; i < r.Linear && b.err == nil; i++ {
		b.rule(dropFrom(fam, fam.never(i).AsSlice())...)
		if (i+1)%rulesPerBatch == 0 {
			b.flush()
		}
	}
	if r.SetElements > 0 {
		b.addSet(r.SetElements)
	}
	if r.MapElements > 0 {
		b.addMap(r.MapElements)
	}
	if r.Stateful {
		for _, exprs := range statefulRules() {
			b.rule(exprs...)
		}
	}
	b.flush()
	return b.sent, b.err
}

// addSet adds one set, and the rule that looks addresses up in it.
func (b *batch) addSet(size int) {
	set := &nftables.Set{Table: b.table, Name: "never", KeyType: b.fam.key}
	b.fill(set, size, nil)
	b.rule(loadSource(b.fam), &expr.Lookup{SourceRegister: 1, SetName: set.Name, SetID: set.ID}, &expr.Verdict{Kind: expr.VerdictDrop})
}

// addMap adds one verdict map, and the rule that looks addresses up in it: `ip
// saddr vmap @never-map`.
func (b *batch) addMap(size int) {
	set := &nftables.Set{Table: b.table, Name: "never-map", KeyType: b.fam.key, IsMap: true, DataType: nftables.TypeVerdict}
	b.fill(set, size, &expr.Verdict{Kind: expr.VerdictDrop})
	b.rule(loadSource(b.fam), &expr.Lookup{SourceRegister: 1, SetName: set.Name, SetID: set.ID, IsDestRegSet: true})
}

// fill adds a set with the given number of elements, in batches; in a map they have the verdict.
func (b *batch) fill(set *nftables.Set, size int, verdict *expr.Verdict) {
	b.err = cmp.Or(b.err, b.AddSet(set, nil))
	b.flush()
	for at := 0; at < size && b.err == nil; at += elementsPerBatch {
		var elements []nftables.SetElement
		for i := at; i < min(at+elementsPerBatch, size); i++ {
			elements = append(elements, nftables.SetElement{Key: b.fam.never(i).AsSlice(), VerdictData: verdict})
		}
		b.err = b.SetAddElements(set, elements)
		b.flush()
	}
}

// dropFrom returns the rule `ip saddr ADDR drop`.
func dropFrom(fam family, addr []byte) []expr.Any {
	return []expr.Any{
		loadSource(fam),
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: addr},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}
}

func loadSource(fam family) expr.Any {
	return &expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: fam.offset, Len: fam.length}
}

// statefulRules returns `ct state established,related accept` and `ct state
// new accept`: the shortest stateful firewall, with a drop policy.
func statefulRules() [][]expr.Any {
	rule := func(states uint32) []expr.Any {
		return []expr.Any{
			&expr.Ct{Register: 1, Key: expr.CtKeySTATE},
			&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 4,
				Mask: binaryutil.NativeEndian.PutUint32(states), Xor: binaryutil.NativeEndian.PutUint32(0)},
			&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: binaryutil.NativeEndian.PutUint32(0)},
			&expr.Verdict{Kind: expr.VerdictAccept},
		}
	}
	return [][]expr.Any{rule(expr.CtStateBitESTABLISHED | expr.CtStateBitRELATED), rule(expr.CtStateBitNEW)}
}
