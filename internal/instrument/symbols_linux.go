package instrument

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/profile"
)

// symbols is the list of kernel functions, sorted by address.
type symbols []symbol

type symbol struct {
	address uint64
	frame   profile.Frame
}

// mostSymbols limits what is read of kallsyms; kernels have about 200,000 symbols.
const mostSymbols = 4 << 20

// readSymbols parses /proc/kallsyms: address, type, name and optional
// [module]. It skips data symbols.
func readSymbols(r io.Reader) (symbols, error) {
	var all symbols
	hidden := true
	lines := bufio.NewScanner(r)
	for lines.Scan() && len(all) < mostSymbols {
		f := strings.Fields(lines.Text())
		if len(f) < 3 || len(f[1]) != 1 || strings.IndexByte("tTwW", f[1][0]) < 0 {
			continue
		}
		address, err := strconv.ParseUint(f[0], 16, 64)
		if err != nil {
			return nil, fmt.Errorf("kallsyms: %q is not an address", f[0])
		}
		hidden = hidden && address == 0
		module := "kernel"
		if len(f) > 3 {
			module = strings.Trim(f[3], "[]")
		}
		all = append(all, symbol{address, profile.Frame{Name: f[2], Module: module}})
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if hidden {
		return nil, hint.With(errors.New("the kernel hides its addresses from this user"), "run as root, or with CAP_SYSLOG and kernel.kptr_restrict at 0 or 1")
	}
	slices.SortStableFunc(all, func(a, b symbol) int { return cmp.Compare(a.address, b.address) })
	return all, nil
}

// at returns the function that contains an address.
func (s symbols) at(address uint64) profile.Frame {
	i, exact := slices.BinarySearchFunc(s, address, func(x symbol, a uint64) int { return cmp.Compare(x.address, a) })
	if !exact {
		i--
	}
	if i < 0 || address-s[i].address > largestFunction {
		return profile.Frame{Name: fmt.Sprintf("0x%x", address)}
	}
	return s[i].frame
}

// largestFunction is the largest offset of an address from the symbol that contains it.
const largestFunction = 1 << 20
