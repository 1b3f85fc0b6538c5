package setting

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"linerate/internal/hint"
)

// SMTPPort is where it listens.
const SMTPPort = 25

// MailDomain is the one that a study's Postfix takes mail for (RFC 2606).
const MailDomain = "linerate.test"

// MailRecipient is the address of an account, whose number stands for %d.
const MailRecipient = "user%d@" + MailDomain

// Files of a study's Postfix, below its root.
const (
	PostfixDir    = "etc"
	PostfixMain   = "etc/main.cf"
	PostfixMaster = "etc/master.cf"
	PostfixBoxes  = "etc/boxes"
	PostfixLog    = "log/mail.log"
)

// MaxMailAccounts bounds the table of accounts, which every process of Postfix
// that needs it reads.
const MaxMailAccounts = 100_000

// Mail is a mail server to be configured.
type Mail struct {
	Root     string // of its files, as the server sees it
	Disk     string // directory of the queue and the mailboxes
	Accounts int
	// Owner and Group are whom mailboxes belong to: the numbers of the user
	// that Postfix runs as.
	Owner, Group int
	// Programs and Daemons are the directories of Postfix's own.
	Programs, Daemons string
	// Parameters are set in addition to linerate's own (CheckPostfix says which may
	// be). What is not set is as Postfix has it.
	Parameters map[string]string
}

// parameters a study may set (postconf(5)). None of them names a file, a
// program or another host.
var parameters = []string{
	"anvil_rate_time_unit", "daemon_timeout", "default_destination_concurrency_limit", "default_process_limit", "hash_queue_depth", "hash_queue_names",
	"in_flow_delay", "initial_destination_concurrency", "ipc_idle", "ipc_ttl", "line_length_limit", "max_idle", "max_use", "maximal_backoff_time",
	"message_size_limit", "minimal_backoff_time", "qmgr_message_active_limit", "qmgr_message_recipient_limit", "queue_run_delay",
	"smtpd_client_connection_count_limit", "smtpd_client_connection_rate_limit", "smtpd_client_message_rate_limit", "smtpd_delay_reject",
	"smtpd_error_sleep_time", "smtpd_hard_error_limit", "smtpd_soft_error_limit", "smtpd_timeout",
	"virtual_destination_concurrency_limit", "virtual_destination_recipient_limit", "virtual_transport",
}

// valueRE is what a parameter may be set to: no $, which would name another
// one, and no line's end.
var parameterRE = regexp.MustCompile(`^[A-Za-z0-9_.:=, -]{0,200}$`)

// transports are those that leave the mail where it is.
var transports = []string{"virtual", "discard:", "retry:"}

// CheckPostfix refuses what a study may not set.
func CheckPostfix(name, value string) error {
	if !slices.Contains(parameters, name) {
		return hint.Unknown("parameter of Postfix", name, parameters)
	}
	if !parameterRE.MatchString(value) {
		return fmt.Errorf("%q is no value of Postfix's %s: words and numbers", value, name)
	}
	if name == "virtual_transport" && !slices.Contains(transports, value) {
		return fmt.Errorf("virtual_transport %q would take mail elsewhere: one of %s", value, strings.Join(transports, ", "))
	}
	return nil
}

// Validate refuses what cannot be configured.
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

// Queue and Boxes are the directories of the queue and of the mailboxes.
func (m Mail) Queue() string { return m.Disk + "/spool" }

// Boxes is the directory of the mailboxes.
func (m Mail) Boxes() string { return m.Disk + "/mail" }

// Main is main.cf. There are no names in a study's network: none is looked up.
// Mail is delivered to one file for each account, as in 2001.
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

// Master is master.cf: what receiving and delivering mail needs.
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
