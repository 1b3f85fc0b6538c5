// Package roles holds what a host can be for and how that shows: roles.yaml.
// Package role evaluates it; docs/guide/inspect.md explains the roles.
package roles

import _ "embed" // roles.yaml

// YAML is roles.yaml as it is in the repository.
//
//go:embed roles.yaml
var YAML []byte
