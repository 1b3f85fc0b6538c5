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
// Where things are:
//
//   - what the kinds answer differently: kind.go, gates.go, metric.go, section.go
//   - what a study asks: spec.go, sweep.go; what variants set: setting.go,
//     setting_targets.go; which variants can be tried where: availability.go
//   - reading it, with defaults, sweeps expanded, and what is refused: parse.go,
//     expand.go, check.go
//   - when which trial runs, how arms take turns, when enough is known:
//     schedule.go, interleave.go, looks.go, machines.go, expected.go
//   - what was seen: trial.go, telemetry.go, environment.go
//   - what follows from the trials: analyse.go, results.go, derived.go, answer.go
package study
