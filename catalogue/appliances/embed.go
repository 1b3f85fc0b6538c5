// Package appliances embeds the records of appliances, YAML, one file per product: the
// systems that its releases are built on, the tunables it sets, the files it writes
// and the names of its pages. Package appliance reads them.
package appliances

import "embed"

// Files holds the records.
//
//go:embed *.yaml
var Files embed.FS
