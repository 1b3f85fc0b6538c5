package secret

import (
	"fmt"
	"regexp"
	"strings"
)

// The patterns are extended regular expressions that POSIX's awk reads as Go's
// regexp does: no backslash but \t, no counted repetition, of lower case.
const (
	words   = `(pass(word|wd|phrase|code)|secret|psk|presharedkey|preshared_key|wep[_-]?key|wireless-key|mka-cak|wpakey|private_?key|privkey|auth_?key|api_?key|token|community|credential|setkey|fastopen_key|keydata|_pw)`
	options = `(wireless-key[0-9]*|wep-key[0-9]*|wepkey|wpakey|psk|presharedkey|preshared-key|private-key|authkey|authentication-key|key-string|passphrase|password|passwd|sopass|secret|community6?|--?(pass|pwd|token|key|auth|psk|api-?key)|authorization: *(basic|bearer|token))`
	// assignment is a name that tells a secret, and its equals sign; a name
	// that ends in _key, _auth, pass or pwd, or is "key", tells one too.
	assignment = `([a-z0-9_.-]*` + words + `[a-z0-9_.-]*|[a-z0-9_.-]*([_-](key|auth|sig|signature)|pass|pwd)|(^|[^a-z0-9_])(key|sig|signature))["']?[ \t]*[=:][ \t]*`
	// option is a word that a secret follows, as in ifconfig's "wepkey 0x…";
	// a router's "password 7 …" says first how it is written.
	option = options + `[ \t]+([0-9]+[ \t]+)?((md5|clear|encrypted|sha[0-9]*)[ \t]+)?`
	// rest begins a line whose value ends with the line: of interfaces(5),
	// hostapd and SNMP's users.
	rest = `^[ \t]*((wpa-(psk|passphrase|password|pin|wep-key[0-9]*)|wireless-key[0-9]*|createuser|com2sec6?)[ \t]+|(psk|wpa_psk|wpa_passphrase|sae_password)=)`
	// login is the user and the password of an address.
	login = `(//|iscsi:)[^/ \t"']*:[^/ \t"']*@`
	crypt = `[$](1|2[abxy]?|3|5|6|7|y|gy|md5|sha1|argon2[a-z]*)[$][./A-Za-z0-9$=,]+`
	// issued is what services give out: each has a form of its own.
	issued = `(gh[opusr]_|github_pat_|glpat-|xox[abeoprs]-|tskey-|hvs[.]|sk_live_|dop_v1_|aiza|eyj[a-z0-9_-]+[.]eyj|hooks[.]slack[.]com/services/|/bot[0-9]+:|grub[.]pbkdf2[.])[a-z0-9_./-]+`
	// harmless names look like secrets by a word of theirs, and are none.
	harmless = `^(kern[.]geom[.]eli[.][a-z_]*(tries|visible_passphrase|overwrites|boot_passcache)|net[.]key[.]|net[.]inet[.]tcp[.]fastopen[.](psk_enable|(max|num)psks)|security[.]|geom_eli_passphrase_prompt|.*(tokens?_?(rate|bucket|size|limit)|_passthrough|passthru|bypass|one_pass|(warn)?passwordtime|warnpassword|(load|import|condition)credential|secret_interval|_pwr_)|[^ ]*_(program|enable|format|file|files|path|dir|user|group|drops?|dropped|err(or)?s?|fail(s|ed|ures?)?|packets|pkts|count|retries|hits|miss(es)?|timeouts?)["']?[ \t]*[=:])`
	// plain is a value that is none: what sysctl -t says of a setting, a protocol
	// or an algorithm, and where a name service looks.
	plain = `^(string|opaque|integer|node|(unsigned|long)( (integer|long))?|u?int(8|16|32|64)_t|tcp|udp|sctp|icmp|icmpv6|ipv6-icmp|esp|ah|gre|md5|sha|sha-?(1|224|256|384|512)|des|3des|aes|aes-?(128|192|256)c?|` + sources + `( ` + sources + `)*)$`
	// sources are those of nsswitch.conf(5).
	sources = `(files|compat|sss|systemd|winbind|nis|ldap|dns|db|cache)`
	// pem begins a block, of whatever is in it; with a blank behind its dashes,
	// as RFC 4716 has it, a key or it is a comment's banner.
	pem    = `-----begin [a-z0-9 ]|---- begin [a-z0-9 ]*(key|certificate)`
	pemEnd = `-----end |---- end `
	// inline begins a block in a file of OpenVPN's.
	inline    = `^[ \t]*<(auth-user-pass|http-proxy-user-pass|tls-auth|tls-crypt|tls-crypt-v2|key|secret|pkcs12)>[ \t]*$`
	inlineEnd = `</`
	// heredoc is a line that gives what follows to a file or a program of
	// secrets.
	heredoc = `(secret|passw|pgpass|shadow|_key|[.]key|credential|wpa_supplicant|wpa_cli|hostapd|my[.]cnf|netrc|token|psk|wireguard|wg|cryptsetup|geli).*<<|<<.*(secret|passw|pgpass|shadow|_key|[.]key|credential|wpa_supplicant|wpa_cli|hostapd|my[.]cnf|netrc|token|psk|wireguard|wg|cryptsetup|geli)`
	// unsaid ends a line whose secret is on the next ones, as a key of YAML
	// does; asked ends one that goes on after a backslash.
	unsaid = assignment + `((![a-z]+[ \t]*)?[>|][0-9+-]*|![a-z]+)?$`
	asked  = options + `[ \t]*$`
)

// rule is a secret that a pattern is before, on lines with one of some words.
type rule struct{ words, before string }

// rules are mostly programs, and the option that tells them a secret.
var rules = []rule{
	{`vhid|ifconfig_|create_args_`, `[ \t"']pass[ \t]+`}, // ifconfig's "vhid 1 pass mekmitasdigoat"
	{`macsec`, `[ \t]key[ \t]+[0-9a-f]+[ \t]+`},          // ip's "key 01 8181…"
	{`sshpass|mysql|mariadb|mongo|useradd|usermod|rdesktop|ipmitool|mosquit|sqlcmd|zip|7z|influx|ncftp`, `(sshpass|mysql|mariadb|mongo|useradd|usermod|rdesktop|ipmitool|mosquit[a-z]*|sqlcmd|zip|7z|influx|ncftp)[a-z0-9_-]*([ \t]+([^-;|& \t][^;|& \t]*|-[^p;|& \t][^;|& \t]*))*[ \t]+-p[ \t]*`},
	{`docker|podman|nerdctl|buildah|skopeo|helm`, `(docker|podman|nerdctl|buildah|skopeo|helm)[ \t]([^;|&]*[ \t])?login[ \t]([^;|&]*[ \t])?-p[ \t=]*`},                                                                                  // else a port
	{`snmpget|snmpset|snmpwalk|snmpbulk|snmptable|snmptrap |snmpinform|snmpdf|snmpnetstat|snmpstatus|snmptest|snmpdelta|snmpusm|snmpvacm|snmpcheck|snmp-check|check_snmp|trapsess|redis-cli|keydb-cli|valkey-cli`, `[ \t]-[acx][ \t]+`}, // snmpd's -c is a file
	{`ldap|ipa`, `(ldap[a-z]*|ipa[a-z-]*)([ \t][^;|&]*)?[ \t]-w[ \t]+`}, // sysctl, too, has a -w
	{`curl|wget|lftp|smbclient|rpcclient`, `[ \t](-u|--user|--proxy-user)[ \t=]*`},
	{`openssl`, `openssl[ \t]([^;|&]*[ \t])?-k[ \t]+`},
	{`iscsiadm`, `[ \t]-v[ \t]+`}, // it takes several
	{`esp|ah|tcp-md5|setkey`, `[ \t]-[ae][ \t]+[a-z0-9-]*(cbc|ctr|gcm|md5|sha|aes|null|poly)[a-z0-9-]*[ \t]+`},
	{`xfrm`, `[ \t](enc|auth|auth-trunc|aead)[ \t]+[^ \t]+[ \t]+`},
	{`iwconfig|iw dev|iw wl`, `[ \t]keys?[ \t]+((open|restricted|[[][0-9][]])[ \t]+)*`},
	{`wpa_passphrase`, `wpa_passphrase[ \t]+("[^"]*"|[^ \t"]+)[ \t]+`},
	{`htpasswd`, `htpasswd[ \t]+-[a-z]*b[a-z]*[ \t]+[^ \t]+[ \t]+[^ \t]+[ \t]+`},
	{`rabbitmqctl`, `(add_user|change_password)[ \t]+[^ \t]+[ \t]+`},
	{`message-digest-key|tacacs|radius`, `[ \t](md5|key)[ \t]+([0-9][ \t]+)?`},
	{`passwd|chap-secrets|pap-secrets|cryptsetup|geli|sudo -s|kinit|openconnect|openssl|pw user|fastopen_key|stable_secret`, `(echo|printf|<<<)[ \t]*(-[a-z]+[ \t]+)*(["']%[^"']*["'][ \t]+)?`},
	{`cifs|smb|mount|rpcclient|user`, `(user(name)?=|-u[ \t]*)[^ \t,%]*%`}, // user=name%password
	{`pass|secret|psk|community|pin`, `(password|passphrase|passwd|passcode|secret|psk|community|pin|pw)[ \t]+(is|was)[ \t]*:?[ \t]+`},
}

var (
	assignmentRE = regexp.MustCompile(assignment)
	optionRE     = regexp.MustCompile(option)
	restRE       = regexp.MustCompile(rest)
	loginRE      = regexp.MustCompile(login)
	cryptRE      = regexp.MustCompile(crypt)
	issuedRE     = regexp.MustCompile(issued)
	harmlessRE   = regexp.MustCompile(harmless)
	pemRE        = regexp.MustCompile(pem)
	pemEndRE     = regexp.MustCompile(pemEnd)
	inlineEndRE  = regexp.MustCompile(inlineEnd)
	inlineRE     = regexp.MustCompile(inline)
	heredocRE    = regexp.MustCompile(heredoc)
	unsaidRE     = regexp.MustCompile(unsaid)
	askedRE      = regexp.MustCompile(asked)
	plainRE      = regexp.MustCompile(plain)
	rulesRE      = compiled(rules)
)

type compiledRule struct {
	words  []string
	before *regexp.Regexp
}

func compiled(rules []rule) []compiledRule {
	out := make([]compiledRule, len(rules))
	for i, r := range rules {
		out[i] = compiledRule{strings.Split(r.words, "|"), regexp.MustCompile(r.before)}
	}
	return out
}

// Awk returns the patterns as statements of an awk's BEGIN, for a host that
// has this package as a script only.
func Awk() string {
	var out strings.Builder
	for _, p := range []struct{ name, pattern string }{
		{"ASSIGN", assignment}, {"OPTION", option}, {"REST", rest}, {"LOGIN", login}, {"CRYPT", crypt}, {"ISSUED", issued},
		{"HARMLESS", harmless}, {"PEM", pem}, {"PEMEND", pemEnd}, {"INLINE", inline}, {"INLINEEND", inlineEnd}, {"HEREDOC", heredoc}, {"UNSAID", unsaid}, {"ASKED", asked}, {"PLAIN", plain},
	} {
		fmt.Fprintf(&out, "\t%s = %s\n", p.name, awkString(p.pattern))
	}
	fmt.Fprintf(&out, "\tTELLING = %s\n", awkString(strings.Join(telling, "|")))
	fmt.Fprintf(&out, "\tSERVICES = %s\n", awkString(strings.Join(services, "|")))
	fmt.Fprintf(&out, "\tRULES = %d\n", len(rules))
	for i, r := range rules {
		fmt.Fprintf(&out, "\tWORDS[%d] = %s; BEFORE[%d] = %s\n", i+1, awkString(r.words), i+1, awkString(r.before))
	}
	return out.String()
}

// awkString is a pattern as awk's source; \t, the one escape, is awk's too.
func awkString(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }
