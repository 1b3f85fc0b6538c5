package sshhost

import (
	"errors"
	"fmt"
	"io/fs"
	"linerate/internal/list"
	"net"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// identity collects what a user can prove who they are with. Nothing here
// asks for anything: a key with a passphrase is the agent's business.
type identity struct {
	signers []ssh.Signer
	tried   []string // what was looked at and could not be used, for the error
	agent   net.Conn
}

// Close leaves the agent.
func (id *identity) Close() {
	if id.agent != nil {
		id.agent.Close()
	}
}

// identify reads the agent's keys and the key files of s.
func identify(s settings) *identity {
	id := &identity{}
	files := map[string]bool{}
	for _, path := range s.identities {
		signer, err := s.shared.readKey(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			id.tried = append(id.tried, fmt.Sprintf("%s (%v)", path, err))
		default:
			id.signers = append(id.signers, signer)
		}
		if pub := readPublic(path + ".pub"); pub != nil {
			files[string(pub.Marshal())] = true
		} else if signer != nil {
			files[string(signer.PublicKey().Marshal())] = true
		}
	}
	id.fromAgent(s, files)
	return id
}

// fromAgent puts the agent's keys first; with IdentitiesOnly, only those that
// the configuration names.
func (id *identity) fromAgent(s settings, named map[string]bool) {
	if s.agent == "" {
		return
	}
	conn, err := net.Dial("unix", s.agent)
	if err != nil {
		id.tried = append(id.tried, fmt.Sprintf("the agent (%v)", err))
		return
	}
	id.agent = conn
	keys, err := agent.NewClient(conn).Signers()
	if err != nil {
		id.tried = append(id.tried, fmt.Sprintf("the agent (%v)", err))
		return
	}
	if len(keys) == 0 {
		id.tried = append(id.tried, "the agent (it holds no key)")
	}
	first := list.Filter(keys, func(k ssh.Signer) bool { return !s.onlyThese || named[string(k.PublicKey().Marshal())] })
	id.signers = append(first, id.signers...)
}

var errPassphrase = errors.New("it has a passphrase; add it to an agent: ssh-add")

func readKey(path string) (ssh.Signer, error) {
	text, err := readSmall(path)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, err
	}
	signer, err := ssh.ParsePrivateKey(text)
	var missing *ssh.PassphraseMissingError
	if errors.As(err, &missing) {
		return nil, errPassphrase
	}
	return signer, err
}

func readPublic(path string) ssh.PublicKey {
	text, err := readSmall(path)
	if err != nil {
		return nil
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		return nil
	}
	return key
}
