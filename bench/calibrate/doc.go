// Package calibrate measures the statistics by simulation: a rule's
// false-positive rate when nothing differs, the coverage of its intervals, and
// its power, for data as benchmarks produce them. Chance is seeded.
package calibrate
