package hosts

import (
	"fmt"

	"linerate/internal/fleet"
	"linerate/internal/hint"
	"linerate/internal/host"
)

// List reads a list of hosts: one host a line, or Ansible's inventory.
func List(file string, read func(file, text string) ([]fleet.Target, error)) ([]fleet.Target, error) {
	text, err := host.ReadFile(file, fleet.MaxList)
	if err != nil {
		return nil, hint.With(fmt.Errorf("read the list of hosts: %w", err), "a list is a file with one ssh://[user@]host[:port] a line, or the JSON of ansible-inventory")
	}
	return read(file, string(text))
}
