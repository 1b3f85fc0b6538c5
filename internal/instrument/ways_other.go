//go:build !linux

package instrument

import "errors"

// ways by name: a study that began on Linux says so of them. FreeBSD's counters need
// hwpmc(4), a module that has to be loaded; dtrace(1) does as well.
var ways = []way{
	{ByCycles, false, func() (KernelClock, error) { return nil, errors.New("hwpmc(4) would have to be loaded") }},
	{ByTracepoints, true, func() (KernelClock, error) { return nil, errors.New("dtrace(4) would have to be loaded") }},
}
