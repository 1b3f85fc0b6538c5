// Package appliances embeds the records of appliances, YAML, one file per product: the
// systems that its releases are built on, the tunables it sets, the files it writes
// and the names of its pages. Package appliance reads them.
package appliances

import _ "embed"

// Packed holds the records as `go test ./catalogue -update` packs them: every inspection reads them,
// and their YAML took an eighth of an audit's time.
//
//go:embed appliances.pack
var Packed []byte
