// Package lab runs the trials of a study on a testbed and hands each to a sink as
// it ends. What a trial means is package study's to say; where trials are kept is
// the sink's; how parts of a kind are run is a Runner's, in a package below this one.
//
// Where things are:
//
//   - a task from its first slot to its last, and how long that takes: lab.go, pace.go
//   - who runs parts of which kind, and looks into them: runner.go
//   - what all runners need of a session, and make of what they saw: trial.go
//   - the machine, watched meanwhile: machine.go, machine_linux.go, machine_freebsd.go
package lab
