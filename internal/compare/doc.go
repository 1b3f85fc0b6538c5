// Package compare reads samples from what people have (files of numbers, CSV,
// JSON, a study's results) and shows how they differ: ministat's job, with
// effect, interval, verdict, n and warnings. The statistics are those of
// package stats; this package reads and prints.
package compare
