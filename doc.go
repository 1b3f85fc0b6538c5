// Package linerate holds the tests of the whole module: its layers and the
// correctness of its documents. The product is in cmd/linerate and internal.
package linerate
