// Package compare reads samples from files (of numbers, CSV, JSON, benchmark
// output, a study's results) and shows how they differ: the job of ministat,
// with effect, interval, verdict, n and warnings. The statistics are those of
// package stats; this package reads and prints.
package compare
