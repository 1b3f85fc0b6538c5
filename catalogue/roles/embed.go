// Package roles embeds roles.yaml: the roles of hosts and how each is recognised.
// Package role evaluates it; docs/guide/inspect.md explains the roles.
package roles

import _ "embed" // roles.yaml

// YAML is the content of roles.yaml.
//
//go:embed roles.yaml
var YAML []byte
