# Takes secrets out of a text and keeps its line numbers. What it did goes to
# the file "report": one line per line that held a secret.
# Variables: name (what the text is), report, only (patterns with commas
# between: lines that match none of them, or hold a secret, become empty, and
# comments go; "" keeps all), drop (settings to leave out).
# value_length: to the closing quote and what is joined on to it, else to a
# space, a quote or a semicolon; what a backslash stands before is no end
function value_length(s,    q, i) {
	q = substr(s, 1, 1)
	if (q == "\\" && (substr(s, 2, 1) == "\"" || substr(s, 2, 1) == SQ)) {
		i = index(substr(s, 3), substr(s, 1, 2))
		return i > 0 ? i + 3 : length(s)
	}
	if (q != "\"" && q != SQ) return text_length(s, ENDS)
	i = 0
	do {
		i += 1 + text_length(substr(s, i + 2), q) + 1
		while (substr(s, i + 1, 1) == "\\") i += 2
	} while (substr(s, i + 1, 1) == q)
	return i < length(s) ? i : length(s)
}
# text_length: how far it is to one of the ends; in single quotes a backslash
# is a letter
function text_length(s, ends,    n, c) {
	for (n = 0; match(substr(s, n + 1), "[\\\\]|" ends); n += 2) {
		n += RSTART - 1
		c = substr(s, n + 1, 1)
		if (c != "\\") return n
		if (ends == SQ) n--
	}
	return length(s)
}
function plain(v) {
	gsub("[\"" SQ "]", "", v)
	v = tolower(v)
	return v == "" || v == "yes" || v == "no" || v == "on" || v == "off" || v == "true" || v == "false" || v == "none" || v == "0" || v == "1" || v == "ask" || v == "=" || v == ":" || v == MARK || v == "string" || v == "opaque" || v == "integer" || v == "node" || v == "unsigned" || v == "long" || v ~ /^u?int(8|16|32|64)_t$/
}
function quoted(v,    q) {
	q = substr(v, 1, 1)
	return (q == "\"" || q == SQ) ? q MARK q : MARK
}
# prose: where a comment in words begins; "no password here" tells nothing
function values(s, re, prose,    out, head, n, v, whole) {
	out = ""
	whole = length(s)
	while (match(tolower(s), re)) {
		head = substr(s, 1, RSTART + RLENGTH - 1)
		v = tolower(substr(s, RSTART, RLENGTH))
		s = substr(s, RSTART + RLENGTH)
		n = value_length(s)
		if (v ~ HARMLESS || plain(substr(s, 1, n)) || prose && whole - length(s) >= prose && substr(s, 1, n) ~ /^[a-z]+[.,:)]*$/) out = out head substr(s, 1, n)
		else out = out head quoted(substr(s, 1, n))
		s = substr(s, n + 1)
	}
	return out s
}
function hashes(s,    out) {
	out = ""
	while (match(s, CRYPT)) {
		out = out substr(s, 1, RSTART - 1) (RLENGTH < 16 ? substr(s, RSTART, RLENGTH) : MARK)
		s = substr(s, RSTART + RLENGTH)
	}
	return out s
}
# keys: 32 bytes in base64 or more; what goes on after the = is a name and its value
function keys(s,    out, from, to) {
	out = ""
	while (match(s, B64)) {
		from = RSTART
		to = RSTART + RLENGTH
		while (from > 1 && substr(s, from - 1, 1) ~ /[A-Za-z0-9+\/]/) from--
		out = out substr(s, 1, from - 1) (substr(s, to, 1) ~ /[A-Za-z0-9]/ ? substr(s, from, to - from) : MARK)
		s = substr(s, to)
	}
	return out s
}
# logins: the user and password of an address
function logins(s,    out) {
	out = ""
	while (match(s, LOGIN)) {
		out = out substr(s, 1, RSTART + 2) MARK "@"
		s = substr(s, RSTART + RLENGTH)
	}
	return out s
}
function hexkeys(s,    out) {
	out = ""
	while (match(s, "0[xX][0-9a-fA-F]+")) {
		out = out substr(s, 1, RSTART - 1) (RLENGTH < 34 ? substr(s, RSTART, RLENGTH) : MARK)
		s = substr(s, RSTART + RLENGTH)
	}
	return out s
}
function wanted(line,    i) {
	if (only == "") return 1
	if (line ~ /^[ \t]*#/) return 0
	for (i = 1; i <= ONLY; i++) if (line ~ KEEP[i]) return 1
	return 0
}
function tell() { printf "left-out\t%s:%d\ta secret on this line\n", name, NR >> report }
BEGIN {
	SQ = sprintf("%c", 39)
	MARK = "<redacted>"
	COMMENT = "[ \t]#[^\"" SQ "]*$" # not what is in quotes
	ENDS = "[ \t;\"" SQ "]"
	W = "(pass(word|wd|phrase|code)|secret|psk|presharedkey|preshared_key|wep-?key|wireless-key|mka-cak|wpakey|private_?key|privkey|auth_?key|api_?key|token|community|credential|setkey|fastopen_key|keydata|_pw)"
	ASSIGN = "([a-z0-9_.-]*" W "[a-z0-9_.-]*|[a-z0-9_.-]*([_-]key|pass|pwd)|(^|[^a-z0-9_])key)[\"" SQ "]?[ \t]*[=:][ \t]*"
	OPTION = "(wireless-key[0-9]*|wep-key[0-9]*|wepkey|wpakey|psk|presharedkey|preshared-key|private-key|authkey|passphrase|password|passwd|sopass|secret|community|authorization: *(basic|bearer))[ \t]+"
	CARP = "[ \t\"" SQ "]pass[ \t]+"
	MACSEC = "[ \t]key[ \t]+[0-9a-f]+[ \t]+"
	REST = "^[ \t]*(wpa-(psk|passphrase|password|pin|wep-key[0-9]*)|wireless-key[0-9]*)[ \t]+"
	LOGIN = "://[^/@ \t\"" SQ "]*:[^/@ \t\"" SQ "]*@"
	CRYPT = "[$](1|2[abxy]?|3|5|6|7|y|gy|md5|sha1|argon2[a-z]*)[$][./A-Za-z0-9$=,]+"
	HARMLESS = "^(kern[.]geom[.]eli[.][a-z_]*(tries|visible_passphrase|overwrites|boot_passcache)|net[.]key[.]|net[.]inet[.]tcp[.]fastopen[.](psk_enable|(max|num)psks)|security[.]|geom_eli_passphrase_prompt|.*(tokens?_?(rate|bucket|size|limit)|_passthrough|passthru|bypass|one_pass|secret_interval|_pwr_)|[^ ]*_(program|enable|format|file|files|path|dir|user|group)[\"" SQ "]?[ \t]*[=:])"
	B64 = ""
	for (i = 0; i < 43; i++) B64 = B64 "[A-Za-z0-9+/]"
	B64 = B64 "="
	ONLY = split(only, KEEP, ",")
	DROP = split(drop, SKIP, " ")
	for (i = 1; i <= DROP; i++) SKIPPED[SKIP[i]] = 1
}
{
	line = $0
	if (drop != "") {
		# "name: value" with further lines of the value below it
		if (line ~ /^[a-z][a-zA-Z0-9_.%-]*[.][a-zA-Z0-9_.%-]*: / || line ~ /^[a-z][a-z0-9_.]*: *$/) {
			n = line; sub(/:.*/, "", n)
			if (!dropping || n ~ /^kern[.]/) dropping = (n in SKIPPED)
			if (dropping) next
		} else if (dropping) next
	}
	low = tolower(line)
	if (pem || low ~ /-----begin [a-z0-9 ]*(key|certificate)/) {
		print MARK
		tell()
		pem = (index(low, "-----end ") == 0)
		next
	}
	if (!wanted(line)) { print ""; next }
	if (line ~ /^Checksum: 0x[0-9a-f]+ *$/ && length(line) < 45) { print line; next }
	if (only != "") sub(COMMENT, "", line)
	was = line
	if (match(low, REST)) line = substr(line, 1, RLENGTH) MARK
	line = values(line, ASSIGN)
	line = values(line, OPTION, match(line, "#+[ \t]") ? RSTART : 0)
	if (tolower(line) ~ /vhid|ifconfig_|create_args_/) line = values(line, CARP)
	if (tolower(line) ~ /macsec/) line = values(line, MACSEC)
	line = logins(line)
	line = hashes(line)
	line = keys(line)
	line = hexkeys(line)
	if (line != was) {
		tell()
		if (only != "") line = ""
	}
	print line
}
