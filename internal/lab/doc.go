// Package lab runs the trials of a study on a testbed and passes each to a sink when
// it ends. Package study defines what trials mean, the sink stores them, and a
// Runner, in a package below this one, runs the parts of one kind.
//
// Where things are:
//
//   - a task from its first slot to its last, and how long it takes: lab.go, pace.go
//   - which runner runs and profiles which kind of part: runner.go
//   - what all runners need of a session, and how results become trials: trial.go
//   - observing the machine meanwhile: machine.go, machine_linux.go, machine_freebsd.go
package lab
