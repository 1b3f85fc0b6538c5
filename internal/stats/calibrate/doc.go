// Package calibrate measures the statistics by simulation: how often a rule
// cries wolf when nothing differs, how often an interval holds the truth, and
// what a rule finds, for data as benchmarks produce them. Chance is seeded.
package calibrate
