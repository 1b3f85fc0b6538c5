// Package report renders a study's results for a terminal, as plain text, and
// as a self-contained HTML page. It is pure: it takes results and returns
// bytes.
//
// Files:
//
//   - the terminal, the page, and text common to both: terminal.go, html.go, method.go
//   - charts of effects, curves and trials, and the chart of the answer: effects.go,
//     curves.go, trials.go
//   - counters of the DUT, and profiles of its time: dutsaid.go, inside.go
package report
