// Package cputime reads where the time of this machine's CPUs goes: what the
// hypervisor takes (steal), how long threads wait for their CPU, and what the
// kernel's own threads do (proc(5), Documentation/scheduler/sched-stats.rst).
package cputime
