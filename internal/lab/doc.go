// Package lab runs the trials of a study on a testbed and hands each to a sink as
// it ends. What a trial means is package study's to say; where trials are kept is
// the sink's.
//
// Where things are:
//
//   - a task from its first slot to its last, and how long that takes: lab.go,
//     pace.go; who runs parts of which kind: runner.go
//   - one trial after the other: trial.go, chain.go
//   - arms that are up together: in slices, in turns, in step: interleaved.go,
//     slices.go, overload.go, lockstep.go
//   - searches, floods and what manages a DUT, servers: search.go, management.go,
//     serve.go
//   - what is watched meanwhile: drops.go, telemetry.go, machine.go,
//     machine_linux.go, machine_freebsd.go
package lab
