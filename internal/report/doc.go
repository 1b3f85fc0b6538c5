// Package report renders a study's results: for a terminal, as plain text
// elsewhere, and as one self-contained HTML page. It is pure: results in, bytes
// out.
//
// Where things are:
//
//   - the terminal, the page, and what both say: format.go, terminal.go, html.go,
//     htmltable.go, method.go, gates.go, unavailable.go, bedwords.go
//   - pictures of effects and curves, and the one that answers: forest.go,
//     effects.go, curves.go, loads.go, timeline.go, picture.go, figures.go
//   - the same in letters: curveplot.go, dotplot.go
//   - what some kinds of studies tell beside them: forwarded.go, served.go, queue.go,
//     management.go, states.go, spread.go, wire.go; of others their own sections are
//     shown: sections.go
//   - where frames and time went: drops.go, dutsaid.go, inside.go, slices.go
package report
