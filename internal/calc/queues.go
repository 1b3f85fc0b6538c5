package calc

import "math"

// NetisrThreads is how many netisr threads FreeBSD starts for a
// net.isr.maxthreads: -1 means one per CPU, 0 and below -1 one, and never
// more than CPUs. sys/net/netisr.c netisr_init.
func NetisrThreads(maxthreads, ncpu float64) float64 {
	switch {
	case maxthreads == -1:
		return ncpu
	case maxthreads < 1:
		return 1
	}
	return min(maxthreads, ncpu)
}

// DirtyMaxMax is the default of vfs.zfs.dirty_data_max_max in bytes on
// 64-bit machines: a quarter of memory, at most 4 GiB
// (OpenZFS module/zfs/arc.c arc_init).
func DirtyMaxMax(mem float64) float64 { return min(4<<30, math.Floor(mem*25/100)) }

// DirtyMax is the default of vfs.zfs.dirty_data_max in bytes: a tenth of
// memory, at most maxmax.
func DirtyMax(mem, maxmax float64) float64 { return min(math.Floor(mem*10/100), maxmax) }

// DirtyFill is how many bytes arrive from a link in a transaction group's
// timeout: what dirty_data_max must hold if the timer is to end the group.
func DirtyFill(rate, seconds float64) float64 { return rate * seconds }
