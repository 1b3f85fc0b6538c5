package setting

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/lazy"
)

// SMTPPort is the port on which it listens.
const SMTPPort = 25

// MailDomain is the domain for which a study's Postfix accepts mail (RFC 2606).
const MailDomain = "linerate.test"

// MailRecipient is the address of an account, with its number for %d.
const MailRecipient = "user%d@" + MailDomain

// Files of a study's Postfix, below its root.
const (
	PostfixDir    = "etc"
	PostfixMain   = "etc/main.cf"
	PostfixMaster = "etc/master.cf"
	PostfixBoxes  = "etc/boxes"
	PostfixLog    = "log/mail.log"
)

// MaxMailAccounts is the maximum number of accounts in the table, which every Postfix process that
// needs it reads.
const MaxMailAccounts = 100_000

// Mail describes a mail server to configure.
type Mail struct {
	Root     string // directory of its files, as the server sees it
	Disk     string // directory of the queue and the mailboxes
	Accounts int
	// Owner and Group own the mailboxes: the numeric IDs of the user that Postfix runs as.
	Owner, Group int
	// Programs and Daemons are directories of Postfix itself.
	Programs, Daemons string
	// Parameters are set in addition to linerate's own (CheckPostfix says which are allowed).
	// Others have Postfix's defaults.
	Parameters map[string]string
}

// parameters lists those that a study may set (postconf(5)). None of them names a file, a program
// or another host.
var parameters = []string{
	"anvil_rate_time_unit", "daemon_timeout", "default_destination_concurrency_limit", "default_process_limit", "hash_queue_depth", "hash_queue_names",
	"in_flow_delay", "initial_destination_concurrency", "ipc_idle", "ipc_ttl", "line_length_limit", "max_idle", "max_use", "maximal_backoff_time",
	"message_size_limit", "minimal_backoff_time", "qmgr_message_active_limit", "qmgr_message_recipient_limit", "queue_run_delay",
	"smtpd_client_connection_count_limit", "smtpd_client_connection_rate_limit", "smtpd_client_message_rate_limit", "smtpd_delay_reject",
	"smtpd_error_sleep_time", "smtpd_hard_error_limit", "smtpd_soft_error_limit", "smtpd_timeout",
	"virtual_destination_concurrency_limit", "virtual_destination_recipient_limit", "virtual_transport",
}

// parameterRE matches values of parameters: without $, which would refer to another one, and
// without newlines.
var parameterRE = lazy.Regexp(`^[A-Za-z0-9_.:=, -]{0,200}$`)

// transports lists those that do not send the mail elsewhere.
var transports = []string{"virtual", "discard:", "retry:"}

// CheckPostfix returns an error for what a study may not set.
func CheckPostfix(name, value string) error {
	if !slices.Contains(parameters, name) {
		return hint.Unknown("parameter of Postfix", name, parameters)
	}
	if !parameterRE().MatchString(value) {
		return fmt.Errorf("%q is not a value for Postfix's %s: want words and numbers", value, name)
	}
	if name == "virtual_transport" && !slices.Contains(transports, value) {
		return fmt.Errorf("virtual_transport %q would send mail elsewhere: want one of %s", value, strings.Join(transports, ", "))
	}
	return nil
}

// Validate returns an error for what cannot be configured.
func (m Mail) Validate() error {
	for _, name := range slices.Sorted(maps.Keys(m.Parameters)) {
		if err := CheckPostfix(name, m.Parameters[name]); err != nil {
			return err
		}
	}
	if m.Accounts < 1 || m.Accounts > MaxMailAccounts {
		return fmt.Errorf("%d accounts: from 1 to %d", m.Accounts, MaxMailAccounts)
	}
	return nil
}

// Queue returns the directory of the queue.
func (m Mail) Queue() string { return m.Disk + "/spool" }

// Boxes returns the directory of the mailboxes.
func (m Mail) Boxes() string { return m.Disk + "/mail" }

// Main returns main.cf. A study's network has no DNS, so nothing is looked up. Mail is delivered to
// one file per account, as in 2001.
func (m Mail) Main() string {
	var b strings.Builder
	for _, l := range [][2]string{
		{"compatibility_level", "3.6"}, {"queue_directory", m.Queue()}, {"data_directory", m.Root + "/data"},
		{"command_directory", m.Programs}, {"daemon_directory", m.Daemons}, {"mail_owner", "postfix"}, {"setgid_group", "postdrop"},
		{"maillog_file", m.Root + "/" + PostfixLog}, {"maillog_file_prefixes", m.Root},
		{"inet_interfaces", "all"}, {"inet_protocols", "ipv4"}, {"myhostname", "mail." + MailDomain}, {"mydestination", ""}, {"mynetworks", ""},
		{"smtpd_relay_restrictions", "reject_unauth_destination"}, {"smtpd_peername_lookup", "no"}, {"disable_dns_lookups", "yes"},
		{"virtual_mailbox_domains", MailDomain}, {"virtual_mailbox_base", m.Boxes()}, {"virtual_mailbox_maps", "texthash:" + m.Root + "/" + PostfixBoxes},
		{"virtual_uid_maps", fmt.Sprintf("static:%d", m.Owner)}, {"virtual_gid_maps", fmt.Sprintf("static:%d", m.Group)}, {"virtual_minimum_uid", "1"},
		{"virtual_mailbox_limit", "0"}, {"alias_maps", ""}, {"local_recipient_maps", ""}, {"fast_flush_domains", ""}, {"notify_classes", ""},
	} {
		fmt.Fprintf(&b, "%s = %s\n", l[0], l[1])
	}
	for _, name := range slices.Sorted(maps.Keys(m.Parameters)) {
		fmt.Fprintf(&b, "%s = %s\n", name, m.Parameters[name])
	}
	return b.String()
}

// Master returns master.cf: what is needed to receive and deliver mail.
func (m Mail) Master() string {
	return `25         inet       n - n -   - smtpd
cleanup    unix       n - n -   0 cleanup
qmgr       unix       n - n 300 1 qmgr
rewrite    unix       - - n -   - trivial-rewrite
bounce     unix       - - n -   0 bounce
defer      unix       - - n -   0 bounce
trace      unix       - - n -   0 bounce
proxymap   unix       - - n -   - proxymap
virtual    unix       - n n -   - virtual
error      unix       - - n -   - error
retry      unix       - - n -   - error
discard    unix       - - n -   - discard
anvil      unix       - - n -   1 anvil
postlog    unix-dgram n - n -   1 postlogd
`
}

// Table lists the accounts with their mailboxes.
func (m Mail) Table() []byte {
	var b []byte
	for i := 1; i <= m.Accounts; i++ {
		b = fmt.Appendf(b, "user%d@%s user%d\n", i, MailDomain, i)
	}
	return b
}

// MailLog is the outcome of the mail according to Postfix's log.
type MailLog struct {
	Taken     uint64 // accepted by smtpd
	Delivered uint64
	Deferred  uint64 // deferred delivery attempts
	Bounced   uint64
}

var (
	logLine   = lazy.Regexp(`postfix/[a-z-]+\[\d+\]: [0-9A-Za-z]+: to=<[^>]*>,.* status=([a-z]+)`)
	logClient = lazy.Regexp(`postfix/smtpd\[\d+\]: [0-9A-Za-z]+: client=`)
)

// maxLine is the maximum length of a log line; longer ones are skipped.
const maxLine = 64 << 10

// ReadMailLog reads a log; it skips lines that are not about a message.
func ReadMailLog(r io.Reader) (MailLog, error) {
	var l MailLog
	in := bufio.NewReaderSize(r, maxLine)
	cut := false // the rest of a long line follows
	for {
		line, more, err := in.ReadLine()
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return l, err
		}
		if !more && !cut {
			l.add(line)
		}
		cut = more
	}
}

func (l *MailLog) add(line []byte) {
	if logClient().Match(line) {
		l.Taken++
		return
	}
	m := logLine().FindSubmatch(line)
	if m == nil {
		return
	}
	switch string(m[1]) {
	case "sent":
		l.Delivered++
	case "deferred":
		l.Deferred++
	case "bounced":
		l.Bounced++
	}
}
