// Package lab runs the trials of a study on a testbed and passes each to a sink when
// it ends. Package study defines what trials mean, the sink stores them, and a
// Runner, in a package below this one, runs the parts of one kind.
//
// Files:
//
//   - running a task, and estimating its duration: lab.go, pace.go
//   - the interfaces of runners and profilers: runner.go
//   - what runners need of a session, and turning results into trials: trial.go
//   - observing the machine during trials: machine.go, machine_linux.go, machine_freebsd.go
package lab
