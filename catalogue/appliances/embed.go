// Package appliances holds what linerate knows of appliances, as YAML, one file a
// product: what its releases are built on, what it sets by itself, which files it
// writes and how its pages are named. Package appliance reads it.
package appliances

import "embed"

// Files are the records.
//
//go:embed *.yaml
var Files embed.FS
