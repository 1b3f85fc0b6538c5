// Package study says what a study is, as pure data and functions: its
// specification (YAML), its schedule, the record of a trial, and the analysis that
// turns trials into verdicts. What is measured, and what makes a trial invalid, is
// the kinds' to say: packages forward, search, serve and others, each behind the
// interface Kind, made known by package kinds. Package lab runs trials; package
// studydir keeps them.
//
// Where things are:
//
//   - what a kind is asked: kind.go, gates.go, metric.go, section.go; the keys
//     that it adds to files: own.go
//   - what a study asks: spec.go, frames.go, rate.go, settings.go, sweep.go;
//     the ways in which variants set something: package ways; which variants can be
//     tried where: availability.go
//   - reading it, with defaults, sweeps made whole, and what is refused: parse.go,
//     defaults.go, expand.go, check.go, checkname.go
//   - when which trial runs, how arms take turns, when enough is known:
//     schedule.go, interleave.go, looks.go, machines.go
//   - what was seen: trial.go, interleaved.go, telemetry.go, environment.go
//   - what follows from the trials: analyse.go, results.go, derived.go, arms.go, answer.go
package study
