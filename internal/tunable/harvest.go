package tunable

import (
	"fmt"
	"strings"

	"linerate/internal/fact/release"
)

// harvestLayout maps the bits of kern.random.harvest.mask to sources, from a release on: the order
// of enum random_entropy_source in sys/sys/random.h.
type harvestLayout struct {
	from release.Release
	// sources by bit; from pure on they are hardware sources, which the kernel keeps enabled
	// whatever is written.
	sources []string
	pure    int
	// fixed lists environmental sources that GENERIC does not compile in; writes to their bits are
	// ignored. rcDefault is the mask in the default rc.conf.
	fixed     []string
	rcDefault uint32
}

const (
	environment = "CACHED ATTACH KEYBOARD MOUSE NET_TUN NET_ETHER NET_NG INTERRUPT SWI FS_ATIME UMA"
	tail13      = "RDRAND NEHEMIAH RNDTEST VIRTIO BROADCOM CCP DARN TPM VMGENID"
)

// harvestLayouts come from sys/sys/random.h of 11.0, 12.1, 13.0, 14.0 and 15.0, and harvest_mask in
// their libexec/rc/rc.conf.
var harvestLayouts = []harvestLayout{
	layout("11.0", environment, "OCTEON SAFE GLXSB UBSEC HIFN RDRAND NEHEMIAH RNDTEST VIRTIO", "", 511),
	layout("12.0", environment, "OCTEON SAFE GLXSB UBSEC HIFN RDRAND NEHEMIAH RNDTEST VIRTIO BROADCOM CCP DARN TPM", "", 511),
	layout("13.0", environment, "OCTEON SAFE GLXSB HIFN "+tail13, "NET_ETHER UMA", 511),
	layout("14.0", environment+" CALLOUT", "OCTEON SAFE GLXSB HIFN "+tail13+" QUALCOMM", "NET_ETHER UMA", 511),
	layout("15.0", environment+" CALLOUT RANDOMDEV",
		"TPM RDRAND RDSEED NEHEMIAH RNDTEST VIRTIO BROADCOM CCP DARN VMGENID QUALCOMM ARMV8 ARM_TRNG SAFE GLXSB HIFN", "NET_ETHER UMA", 4607),
}

func layout(from, env, pure, fixed string, rcDefault uint32) harvestLayout {
	sources := strings.Fields(env)
	l := harvestLayout{from: release.MustParse(from), pure: len(sources), fixed: strings.Fields(fixed), rcDefault: rcDefault}
	for _, p := range strings.Fields(pure) {
		sources = append(sources, "PURE_"+p)
	}
	l.sources = sources
	return l
}

// HarvestSource is one bit of the harvest mask.
type HarvestSource struct {
	// Bit is its number, Name the kernel's name for it in mask_symbolic.
	Bit  int
	Name string
	// On means that the bit is set in the mask.
	On bool
	// Fixed sources cannot be changed by writing the mask: hardware ones, and
	// those that GENERIC does not compile in.
	Fixed bool
}

func harvestOf(rel release.Release) harvestLayout {
	l := harvestLayouts[len(harvestLayouts)-1]
	if rel.IsZero() {
		return l
	}
	for _, x := range harvestLayouts {
		if !rel.Before(x.from) {
			l = x
		}
	}
	return l
}

// DecodeHarvest returns the sources that the bits of a kern.random.harvest.mask stand for on a
// FreeBSD release; a zero release means the newest known. Bits beyond the release's sources are an
// error: the kernel refuses such a mask.
func DecodeHarvest(rel release.Release, mask uint32) ([]HarvestSource, error) {
	l := harvestOf(rel)
	if mask>>len(l.sources) != 0 {
		return nil, fmt.Errorf("mask %d has bits beyond the %d sources of FreeBSD %s", mask, len(l.sources), l.from)
	}
	all := make([]HarvestSource, len(l.sources))
	for i, name := range l.sources {
		all[i] = HarvestSource{Bit: i, Name: name, On: mask&(1<<i) != 0, Fixed: i >= l.pure || indexFold(l.fixed, l.sources[i]) >= 0}
	}
	return all, nil
}

// HarvestDefault returns the mask after a boot with the default rc.conf, without the bits of
// detected hardware sources: rc.d/random writes harvest_mask, and the kernel drops the sources it
// was built without.
func HarvestDefault(rel release.Release) uint32 {
	l := harvestOf(rel)
	mask := l.rcDefault
	for _, n := range l.fixed {
		mask &^= 1 << indexFold(l.sources, n)
	}
	return mask
}

func indexFold(names []string, name string) int {
	for i, n := range names {
		if strings.EqualFold(n, name) {
			return i
		}
	}
	return -1
}
