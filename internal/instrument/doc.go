// Package instrument looks into this machine while traffic runs: a profile of
// CPUs, their counters, the kernel's reasons for dropping packets. What it is
// asked for disturbs what it watches (lab.Instruments).
package instrument

// Local is the machine this process runs on.
type Local struct{}
