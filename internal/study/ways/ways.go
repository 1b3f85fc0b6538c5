// Package ways lists the ways in which variants set something: a new one is one more
// here.
package ways

import (
	"linerate/internal/study"
	"linerate/internal/study/ways/filter"
	"linerate/internal/study/ways/kernel"
	"linerate/internal/study/ways/machine"
	"linerate/internal/study/ways/path"
	"linerate/internal/study/ways/server"
)

// All are the ways, in the order in which schemas and messages name their keys.
func All() []study.Way {
	return []study.Way{
		new(kernel.Sysctl), new(filter.NFT), new(filter.Firewall), new(path.Route), new(path.Routes),
		new(path.Hops), new(path.Forward), new(kernel.CPUs), new(path.PolicyRules), new(kernel.Link), new(kernel.NAPI),
		new(kernel.Command), new(path.TCP), new(server.NGINX), new(server.Postfix), new(server.FileSystem),
		new(machine.Files), new(machine.RC), new(machine.Loader), new(machine.Image), new(filter.PF), new(filter.IPFW),
	}
}
