package sshhost

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net"
	"os"
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
	known   map[string]*knownKeys
	keys    map[string]ssh.Signer
}

// NewShared is one that has read nothing yet.
func NewShared() *Shared {
	return &Shared{configs: map[string]*configs{}, known: map[string]*knownKeys{}, keys: map[string]ssh.Signer{}}
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
func (s *Shared) knownHosts(files []string) (*knownKeys, error) {
	if s == nil {
		return newKnownKeys(files, false)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := strings.Join(files, "\x00")
	if k := s.known[at]; k != nil {
		return k, nil
	}
	k, err := newKnownKeys(files, true)
	if err == nil {
		s.known[at] = k
	}
	return k, err
}

// knownKeys is known_hosts. Lines of plain names are found at once; all that is not so
// plain (hashed names, patterns, authorities, what is to be refused) is asked of the
// files line by line.
type knownKeys struct {
	db      *knownhosts.HostKeyDB
	plain   map[string][]plainKey
	revoked map[string]bool // by the key's base64
}

type plainKey struct{ algorithm, key string }

func newKnownKeys(files []string, index bool) (*knownKeys, error) {
	db, err := knownhosts.NewDB(files...)
	if err != nil {
		return nil, fmt.Errorf("known_hosts: %w", err)
	}
	k := &knownKeys{db: db, plain: map[string][]plainKey{}, revoked: map[string]bool{}}
	for _, file := range files {
		if !index {
			break
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("known_hosts: %w", err)
		}
		for line := range bytes.Lines(text) {
			k.line(strings.Fields(string(line)))
		}
	}
	return k, nil
}

func (k *knownKeys) line(f []string) {
	switch {
	case len(f) >= 4 && f[0] == "@revoked":
		k.revoked[f[3]] = true
	case len(f) < 3 || f[0][0] == '#' || f[0][0] == '@' || strings.ContainsAny(f[0], "*?!|"):
	default:
		for name := range strings.SplitSeq(f[0], ",") {
			k.plain[name] = append(k.plain[name], plainKey{f[1], f[2]})
		}
	}
}

// verify is an ssh.HostKeyCallback.
func (k *knownKeys) verify(name string, remote net.Addr, key ssh.PublicKey) error {
	text := base64.StdEncoding.EncodeToString(key.Marshal())
	if !k.revoked[text] {
		for _, p := range k.of(name) {
			if p.key == text && p.algorithm == key.Type() {
				return nil
			}
		}
	}
	return k.db.HostKeyCallback()(name, remote, key)
}

// algorithms are those to ask a host for.
func (k *knownKeys) algorithms(name string) []string {
	plain := k.of(name)
	if len(plain) == 0 {
		return k.db.HostKeyAlgorithms(name)
	}
	var out []string
	for _, p := range plain {
		if p.algorithm == ssh.KeyAlgoRSA {
			out = append(out, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		}
		out = append(out, p.algorithm)
	}
	return out
}

// of are the keys of a plain name.
func (k *knownKeys) of(name string) []plainKey {
	return k.plain[knownhosts.Normalize(name)] //nolint:misspell // the library's name
}
