package inspect

import (
	"linerate/internal/fact"
	"linerate/internal/fact/freebsd"
)

// services are daemons that a tunable is coupled to or a role is known by:
// rc.conf's switch, and the files whose lines matter.
var services = []struct {
	name, rcvar string
	files       []string
	words       []string
}{
	{"nginx", "nginx_enable", []string{"/usr/local/etc/nginx/nginx.conf"}, []string{"listen", "accept_filter", "sendfile", "worker_processes", "worker_connections", "aio"}},
	{"apache", "apache24_enable", []string{"/usr/local/etc/apache24/httpd.conf"}, []string{"Listen", "AcceptFilter", "ListenBacklog", "EnableSendfile"}},
	{"named", "named_enable", []string{"/usr/local/etc/namedb/named.conf"}, []string{"tcp-listen-queue"}},
	{"unbound", "local_unbound_enable", nil, nil},
	{"unbound", "unbound_enable", nil, nil},
	{"haproxy", "haproxy_enable", nil, nil},
	{"varnish", "varnishd_enable", nil, nil},
	{"postfix", "postfix_enable", nil, nil},
	{"sendmail", "sendmail_enable", nil, nil},
	{"dovecot", "dovecot_enable", nil, nil},
	{"nfsd", "nfs_server_enable", nil, nil},
	{"samba", "samba_server_enable", nil, nil},
	{"ctld", "ctld_enable", nil, nil},
	{"frr", "frr_enable", nil, nil},
	{"bird", "bird_enable", nil, nil},
	{"openbgpd", "openbgpd_enable", nil, nil},
	{"mpd5", "mpd_enable", nil, nil},
	{"ppp", "ppp_enable", nil, nil},
	{"openvpn", "openvpn_enable", nil, nil},
	{"wireguard", "wireguard_enable", nil, nil},
	{"strongswan", "strongswan_enable", nil, nil},
	{"ipsec", "ipsec_enable", nil, nil},
	{"sshd", "sshd_enable", nil, nil},
	{"ntpd", "ntpd_enable", nil, nil},
	{"dhcpd", "dhcpd_enable", nil, nil},
	{"kea", "kea_enable", nil, nil},
	{"mysql", "mysql_enable", nil, nil},
	{"postgresql", "postgresql_enable", nil, nil},
	{"powerd", "powerd_enable", nil, nil},
}

// freebsdServices lists the daemons that rc.conf or a configuration file
// tells of.
func (in *inspection) freebsdServices() {
	for _, s := range services {
		enabled := in.f.RCYes(s.rcvar)
		svc := fact.Service{Name: s.name, Enabled: &enabled}
		for _, file := range s.files {
			if text, err := in.Read(file); err == nil {
				svc.Details = append(svc.Details, freebsd.WordLines(file, text, s.words)...)
			}
		}
		if enabled || len(svc.Details) > 0 {
			in.f.Services = append(in.f.Services, svc)
		}
	}
}
