package sshhost

import (
	"fmt"
	"strings"
	"sync"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
)

// Shared is what connections to many hosts have in common: ssh_config(5), known_hosts
// and private keys, each file read once. Without it every connection reads them anew,
// which is thousands of lines for each of thousands of hosts. It is safe for concurrent
// use.
type Shared struct {
	mu      sync.Mutex
	configs map[string]*configs
	known   map[string]*knownhosts.HostKeyDB
	keys    map[string]ssh.Signer
}

// NewShared is one that has read nothing yet.
func NewShared() *Shared {
	return &Shared{configs: map[string]*configs{}, known: map[string]*knownhosts.HostKeyDB{}, keys: map[string]ssh.Signer{}}
}

// readConfigs is the function of that name, once.
func (s *Shared) readConfigs(home string, paths []string) (*configs, error) {
	if s == nil {
		return readConfigs(home, paths)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := home + "\x00" + strings.Join(paths, "\x00")
	if c := s.configs[at]; c != nil {
		return c, nil
	}
	c, err := readConfigs(home, paths)
	if err == nil {
		c.shared = s
		s.configs[at] = c
	}
	return c, err
}

// readKey is the function of that name, once for each key that can be used.
func (s *Shared) readKey(path string) (ssh.Signer, error) {
	if s == nil {
		return readKey(path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.keys[path]; k != nil {
		return k, nil
	}
	k, err := readKey(path)
	if err == nil {
		s.keys[path] = k
	}
	return k, err
}

// knownHosts reads files of known_hosts, once.
func (s *Shared) knownHosts(files []string) (*knownhosts.HostKeyDB, error) {
	if s == nil {
		return readKnown(files)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := strings.Join(files, "\x00")
	if k := s.known[at]; k != nil {
		return k, nil
	}
	k, err := readKnown(files)
	if err == nil {
		s.known[at] = k
	}
	return k, err
}

func readKnown(files []string) (*knownhosts.HostKeyDB, error) {
	db, err := knownhosts.NewDB(files...)
	if err != nil {
		return nil, fmt.Errorf("known_hosts: %w", err)
	}
	return db, nil
}
