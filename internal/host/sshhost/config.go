package sshhost

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kevinburke/ssh_config"

	"linerate/internal/hint"
	"linerate/internal/host"
)

// maxJumps bounds a chain of ProxyJump hosts.
const maxJumps = 8

// settings are what ssh_config(5) and the target come to for one host.
type settings struct {
	alias      string // as the user names it
	command    string // with which ssh(1) goes there too
	host       string
	port       int
	user       string
	identities []string // files of private keys
	onlyThese  bool     // IdentitiesOnly
	agent      string   // path of the agent's socket; "" for none
	knownHosts []string
	keyAlias   string // HostKeyAlias
	jump       []Target
	shared     *Shared
}

func (s settings) address() string { return net.JoinHostPort(s.host, strconv.Itoa(s.port)) }

// configs are the files of ssh_config(5), the user's first: the first value
// found is the one that counts.
type configs struct {
	files []*ssh_config.Config
	home  string
	notes []string
	// file is the one that stands for the usual ones, as ssh -F takes it; "": none does.
	file string
	// shared has read them for many hosts; nil: for one.
	shared *Shared
}

// readConfigs reads the user's and the system's configuration; missing files
// are none.
func readConfigs(home string, paths []string) (*configs, error) {
	c := &configs{home: home}
	if len(paths) == 1 {
		c.file = paths[0]
	}
	for _, path := range paths {
		text, err := readSmall(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		text, left := withoutMatch(text)
		if left > 0 {
			c.notes = append(c.notes, fmt.Sprintf("%s: its Match blocks (%d) are not evaluated; Host blocks are", path, left))
		}
		parsed, err := ssh_config.DecodeBytes(text)
		if err != nil {
			return nil, hint.With(fmt.Errorf("%s: %w", path, err), "ssh(1) may read it differently; correct the line, or keep this host's settings in a separate file")
		}
		c.files = append(c.files, parsed)
	}
	return c, nil
}

func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return host.ReadBounded(f, 1<<20)
}

// withoutMatch blanks Match blocks, which would need commands to be run to
// know whether they hold; lines keep their numbers.
func withoutMatch(text []byte) ([]byte, int) {
	var out bytes.Buffer
	inside, left := false, 0
	sc := bufio.NewScanner(bytes.NewReader(text))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		line := sc.Text()
		word := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return r == ' ' || r == '\t' || r == '=' })
		switch strings.Join(word[:min(1, len(word))], "") {
		case "match":
			inside = true
			left++
		case "host":
			inside = false
		}
		if !inside {
			out.WriteString(line)
		}
		out.WriteByte('\n')
	}
	return out.Bytes(), left
}

// get is a key's first value for a host, "" if it has none.
func (c *configs) get(alias, key string) (string, error) {
	for _, f := range c.files {
		v, err := f.Get(alias, key)
		if err != nil || v != "" {
			return v, err
		}
	}
	return "", nil
}

func (c *configs) all(alias, key string) ([]string, error) {
	var out []string
	for _, f := range c.files {
		v, err := f.GetAll(alias, key)
		if err != nil {
			return nil, err
		}
		out = append(out, v...)
	}
	return out, nil
}

// resolve is what the configuration says of a target.
func (c *configs) resolve(t Target) (settings, error) {
	s := settings{alias: t.Host, command: t.command(c.file), shared: c.shared}
	values := map[string]string{}
	for _, key := range []string{"HostName", "User", "Port", "IdentitiesOnly", "IdentityAgent", "HostKeyAlias", "ProxyJump", "ProxyCommand", "UserKnownHostsFile", "GlobalKnownHostsFile"} {
		v, err := c.get(t.Host, key)
		if err != nil {
			return s, fmt.Errorf("ssh_config, %s of %s: %w", key, t.Host, err)
		}
		values[key] = v
	}
	me := currentUser()
	s.user = cmp.Or(t.User, values["User"], me)
	s.host = cmp.Or(strings.ReplaceAll(values["HostName"], "%h", t.Host), t.Host)
	s.keyAlias = values["HostKeyAlias"]
	s.onlyThese = strings.EqualFold(values["IdentitiesOnly"], "yes")
	var err error
	if s.port, err = portOf(t.Port, values["Port"]); err != nil {
		return s, err
	}
	if v := values["ProxyCommand"]; v != "" && !strings.EqualFold(v, "none") {
		return s, hint.With(fmt.Errorf("%s is reached through a ProxyCommand", t.Host), "linerate runs no commands out of ssh_config; use ProxyJump, or capture the host and read the bundle")
	}
	if s.jump, err = parseJumps(values["ProxyJump"]); err != nil {
		return s, err
	}
	s.agent = c.agent(values["IdentityAgent"])
	s.knownHosts = c.knownHosts(values["UserKnownHostsFile"], values["GlobalKnownHostsFile"])
	files, err := c.all(t.Host, "IdentityFile")
	if err != nil {
		return s, fmt.Errorf("ssh_config, IdentityFile of %s: %w", t.Host, err)
	}
	if len(files) == 0 {
		files = []string{"~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa"}
	}
	expand := strings.NewReplacer("%d", c.home, "%h", s.host, "%r", s.user, "%u", me, "%%", "%")
	for _, f := range files {
		s.identities = append(s.identities, expand.Replace(c.path(f)))
	}
	return s, nil
}

func portOf(given int, configured string) (int, error) {
	if given != 0 || configured == "" {
		return cmp.Or(given, 22), nil
	}
	n, err := strconv.Atoi(configured)
	if err != nil || n < 1 || n > 65535 {
		return 0, fmt.Errorf("ssh_config: %q is not a port", configured)
	}
	return n, nil
}

func currentUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}

// path expands a leading tilde and quotes.
func (c *configs) path(p string) string {
	p = strings.Trim(p, `"`)
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		return filepath.Join(c.home, rest)
	}
	return p
}

func (c *configs) agent(configured string) string {
	switch {
	case strings.EqualFold(configured, "none"):
		return ""
	case configured == "" || configured == "SSH_AUTH_SOCK":
		return os.Getenv("SSH_AUTH_SOCK")
	case strings.HasPrefix(configured, "$"):
		return os.Getenv(strings.Trim(configured, "${}"))
	}
	return c.path(configured)
}

func (c *configs) knownHosts(own, system string) []string {
	own = cmp.Or(own, "~/.ssh/known_hosts ~/.ssh/known_hosts2")
	system = cmp.Or(system, "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2")
	var out []string
	for _, f := range strings.Fields(own + " " + system) {
		if p := c.path(f); !strings.EqualFold(f, "none") {
			if _, err := os.Stat(p); err == nil {
				out = append(out, p)
			}
		}
	}
	return out
}

// parseJumps reads ProxyJump: [user@]host[:port], by commas.
func parseJumps(s string) ([]Target, error) {
	if s == "" || strings.EqualFold(s, "none") {
		return nil, nil
	}
	var out []Target
	for hop := range strings.SplitSeq(s, ",") {
		hop = strings.TrimPrefix(strings.TrimSpace(hop), Scheme)
		t, err := ParseTarget(Scheme + hop)
		if err != nil {
			return nil, fmt.Errorf("ProxyJump: %w", err)
		}
		out = append(out, t)
	}
	if len(out) > maxJumps {
		return nil, fmt.Errorf("ProxyJump: more than %d hosts", maxJumps)
	}
	return out, nil
}
