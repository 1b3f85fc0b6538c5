// Package study says what a study is, as pure data and functions: its
// specification (YAML), its schedule, the record of a trial, the gates a trial
// must pass, and the analysis that turns trials into verdicts. Package lab runs
// trials; package studydir keeps them.
//
// Where things are:
//
//   - what a study asks: spec.go, settings.go, serve.go, mailfiles.go, search.go,
//     searchkind.go, sweep.go, rate.go, metric.go
//   - reading it, with defaults, sweeps made whole, and what is refused: parse.go,
//     defaults.go, expand.go, check.go, checkname.go, checksetting.go
//   - when which trial runs, how arms take turns, when enough is known:
//     schedule.go, interleave.go, looks.go, machines.go
//   - what is offered: traffic.go, directions.go, spread.go
//   - what was seen: trial.go, instance.go, rawslices.go, searchrun.go,
//     management.go, telemetry.go, environment.go
//   - what makes a trial invalid, or less than it seems: gate.go, servegate.go,
//     headroom.go, disturbed.go, clients.go, carryover.go
//   - what follows from the trials: analyse.go, results.go, answer.go, curve.go,
//     perone.go, wirerate.go, drops.go, states.go, metricwords.go
package study
