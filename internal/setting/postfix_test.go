package setting

import (
	"strings"
	"testing"
)

// Lines of Postfix 3.7.11.
const log = `Nov 21 21:20:14 mail postfix/master[50]: daemon started -- version 3.7.11, configuration /tmp/etc
Nov 21 21:20:15 mail postfix/smtpd[63]: connect from unknown[198.18.0.1]
Nov 21 21:20:15 mail postfix/smtpd[63]: 0D03D2B: client=unknown[198.18.0.1]
Nov 21 21:20:15 mail postfix/smtpd[64]: 0EDC02C: client=unknown[198.18.0.1]
Nov 21 21:20:15 mail postfix/cleanup[68]: 0EDC02C: message-id=<6B020B0F.68C.002.user2@linerate.test>
Nov 21 21:20:15 mail postfix/qmgr[52]: 0EDC02C: from=<user2@linerate.test>, size=1550, nrcpt=1 (queue active)
Nov 21 21:20:15 mail postfix/virtual[70]: 0EDC02C: to=<user1@linerate.test>, relay=virtual, delay=0.1, delays=0.07/0.01/0/0.02, dsn=2.0.0, status=sent (delivered to mailbox)
Nov 21 21:20:15 mail postfix/virtual[70]: 0D03D2B: to=<user2@linerate.test>, relay=virtual, delay=1.3, delays=0.07/0.01/0/0.02, dsn=2.0.0, status=sent (delivered to mailbox)
Nov 21 21:20:16 mail postfix/virtual[70]: 24ACE34: to=<user9@linerate.test>, relay=virtual, delay=0.2, delays=0.07/0.01/0/0.02, dsn=5.1.1, status=bounced (unknown user: "user9@linerate.test")
Nov 21 21:20:16 mail postfix/retry[70]: 24ACE35: to=<user9@linerate.test>, relay=none, delay=0.2, delays=0.07/0.01/0/0.02, dsn=4.0.0, status=deferred (said so)
`

func TestLog(t *testing.T) {
	l, err := ReadMailLog(strings.NewReader(log + strings.Repeat("x", 3*maxLine) + " postfix/smtpd[63]: 0D03D2B: client=unknown[198.18.0.1]\n"))
	if err != nil || l.Taken != 2 || l.Delivered != 2 || l.Bounced != 1 || l.Deferred != 1 {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestParameters(t *testing.T) {
	m := Mail{Root: "/tmp", Disk: "/tmp/disk", Accounts: 2, Parameters: map[string]string{"in_flow_delay": "0", "hash_queue_names": ""}}
	if err := m.Validate(); err != nil {
		t.Error(err)
	}
	if text := m.Main(); !strings.HasSuffix(text, "hash_queue_names = \nin_flow_delay = 0\n") || !strings.Contains(text, "queue_directory = /tmp/disk/spool\n") {
		t.Errorf("main.cf:\n%s", text)
	}
	if got := string(m.Table()); got != "user1@linerate.test user1\nuser2@linerate.test user2\n" {
		t.Errorf("accounts %q", got)
	}
	for _, bad := range [][2]string{{"in_flow_dely", "0"}, {"in_flow_delay", "$x"}, {"in_flow_delay", "0\nx"}, {"virtual_transport", "smtp:example.org"}, {"relayhost", "x"}, {"alias_maps", "x"}} {
		if err := CheckPostfix(bad[0], bad[1]); err == nil {
			t.Errorf("%s = %s is taken", bad[0], bad[1])
		}
	}
}

// TestAccountsAreBounded, and what is wrong with a parameter is told.
func TestAccountsAreBounded(t *testing.T) {
	for n, fine := range map[int]bool{0: false, 1: true, MaxMailAccounts: true, MaxMailAccounts + 1: false, -1: false} {
		if err := (Mail{Accounts: n}).Validate(); (err == nil) != fine {
			t.Errorf("%d accounts: %v", n, err)
		}
	}
	if err := (Mail{Accounts: 1, Parameters: map[string]string{"max_use": "$x"}}).Validate(); err == nil || !strings.Contains(err.Error(), "max_use") {
		t.Errorf("%v", err)
	}
	for _, to := range transports {
		if err := CheckPostfix("virtual_transport", to); err != nil {
			t.Error(err)
		}
	}
	m := Mail{Root: "/tmp", Disk: "/tmp/disk", Accounts: 1, Owner: 7, Group: 8}
	for _, line := range []string{"virtual_mailbox_base = /tmp/disk/mail\n", "virtual_uid_maps = static:7\n", "virtual_gid_maps = static:8\n", "maillog_file = /tmp/log/mail.log\n", "smtpd_relay_restrictions = reject_unauth_destination\n", "mynetworks = \n"} {
		if !strings.Contains(m.Main(), line) {
			t.Errorf("main.cf lacks %q", line)
		}
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add(log)
	f.Fuzz(func(t *testing.T, text string) {
		if l, err := ReadMailLog(strings.NewReader(text)); err != nil || l.Taken+l.Delivered+l.Deferred+l.Bounced > uint64(len(text)) {
			t.Fatalf("%+v, %v", l, err)
		}
	})
}
