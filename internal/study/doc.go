// Package study defines a study as data and pure functions: its specification
// (YAML), its schedule, the record of a trial, and the analysis that turns
// trials into verdicts. Package lab runs trials; package studydir stores them.
//
// A part of a study is of one of six kinds, each in the files named after it:
//
//   - forward: offers packets to a DUT, which forwards them at a cost or under overload,
//     or floods it and asks whether it still answers
//   - search: searches for throughput (MLRsearch, RFC 2544), the longest burst without
//     loss, or loss over load; the procedures are in package search
//   - flows: packets through one DUT, whose ruleset draws an arm for each flow
//   - serve: requests to web, mail or file servers
//   - switchback: a live host, switched back and forth under its own traffic
//   - connections: a live host, each connection in the arm that it drew
//
// Files:
//
//   - differences between the kinds: kind.go, gates.go, metric.go, section.go
//   - the specification: spec.go, sweep.go; settings of variants: setting.go,
//     setting_targets.go; which variants can be tried where: availability.go
//   - parsing, defaults, expansion of sweeps, and validation: parse.go, expand.go,
//     check.go
//   - the order of trials, how arms take turns, early stopping, durations:
//     schedule.go, interleave.go, looks.go, machines.go, expected.go
//   - observations: trial.go, telemetry.go, environment.go
//   - analysis and results: analyse.go, results.go, derived.go, answer.go
package study
