// Package report renders a study's results for a terminal, as plain text, and
// as a self-contained HTML page. It is pure: it takes results and returns
// bytes.
//
// Where things are:
//
//   - the terminal, the page, and what both say: terminal.go, html.go, method.go
//   - pictures of effects, curves and trials, and the one that answers: effects.go,
//     curves.go, trials.go
//   - what the DUT counted, and where its time went: dutsaid.go, inside.go
package report
