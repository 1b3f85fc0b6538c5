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
# wide_length: how far a value of words goes, at least n
function wide_length(s, n) {
	if (s == "" || index("\"\\" SQ, substr(s, 1, 1))) return n
	if (match(s, WIDE)) s = substr(s, 1, RSTART - 1)
	sub(/[ \t]+$/, "", s)
	return length(s) > n ? length(s) : n
}
function plain(v) {
	gsub("[\"" SQ "]", "", v)
	v = tolower(v)
	return v == "" || v == "yes" || v == "no" || v == "on" || v == "off" || v == "true" || v == "false" || v == "none" || v == "0" || v == "1" || v == "ask" || v == "=" || v == ":" || v == MARK || v ~ PLAIN
}
function quoted(v,    q) {
	q = substr(v, 1, 1)
	return (q == "\"" || q == SQ) ? q MARK q : MARK
}
# prose: where a comment in words begins; "no password here" tells nothing;
# wide: after a blank some values have blanks of their own
function values(s, re, prose, wide,    out, head, n, q, unit, v, whole) {
	out = ""
	whole = length(s)
	unit = wide && index(tolower(s), "environment")
	while (match(tolower(s), re)) {
		head = substr(s, 1, RSTART + RLENGTH - 1)
		q = RSTART > 1 ? substr(s, RSTART - 1, 1) : ""
		v = tolower(substr(s, RSTART, RLENGTH))
		s = substr(s, RSTART + RLENGTH)
		n = value_length(s)
		if (wide && head ~ /[ \t]$/) n = wide_length(s, n)
		else if (unit && (q == "\"" || q == SQ)) n = text_length(s, q) # systemd's "NAME=a value"
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
		out = out substr(s, 1, RSTART - 1) (substr(s, RSTART, 1) == "/" ? "//" : substr(s, RSTART, 6)) MARK "@"
		s = substr(s, RSTART + RLENGTH)
	}
	return out s
}
# forms: what services give out
function forms(s,    out) {
	out = ""
	while (match(tolower(s), ISSUED)) {
		out = out substr(s, 1, RSTART - 1) (RLENGTH < 20 ? substr(s, RSTART, RLENGTH) : MARK)
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
# inside: a line of a secret that began before
function inside(low,    text, depth) {
	if (until != "") {
		if (low ~ until) until = ""
		return 1
	}
	if (tag != "") {
		text = $0
		gsub(/^[ \t#]+|[ \t#]+$/, "", text)
		if (text != tag) return 1
		tag = ""
		return 0
	}
	if (goes) {
		goes = (low ~ /\\$/)
		return 1
	}
	if (quote != "") {
		if (index($0, quote) || --left == 0) quote = ""
		return 1
	}
	if (deep >= 0) {
		text = $0
		sub(/^[ \t]+/, "", text)
		depth = length($0) - length(text)
		if (text == "" || depth > deep || depth == deep && text ~ /^- /) return text != ""
		deep = -1
	}
	return 0
}
# begins: the first line of a block
function begins(low) {
	if (index(low, "begin ") && low ~ PEM) {
		if (low !~ PEMEND) until = PEMEND
		return 1
	}
	if (index(low, "<") && low ~ INLINE) {
		if (low !~ INLINEEND) until = INLINEEND
		return 1
	}
	return 0
}
# end_of: the line that ends a here-document
function end_of(s) {
	if (index(s, "<<<") || !match(s, HERE)) return ""
	s = substr(s, RSTART, RLENGTH)
	sub("^[-< \t\\\"" SQ "]*", "", s)
	return s
}
# goes_on: what the next lines hold of a secret
function goes_on(low, clean, was,    marked, cont, unsaid, q) {
	cont = sub(/\\$/, "", low)
	sub(/[ \t]+$/, "", low)
	if (clean == was && !holds(low, TOLD, 1, TELL)) return
	marked = (clean != was && clean ~ ("<redacted>[\"" SQ "]*$"))
	unsaid = (match(low, UNSAID) && substr(low, RSTART) !~ HARMLESS)
	if (cont) goes = (marked && low !~ /:$/ || unsaid || low ~ ASKED)
	else if (unsaid) {
		match(low, /^[ \t]*/)
		deep = RLENGTH
	} else if (marked && low !~ /^[ \t]*#/) {
		q = substr(clean, length(clean))
		if ((q == "\"" || q == SQ) && substr(low, length(low)) != q) {
			quote = q
			left = 16
		}
	}
}
# holds: one of some words; regular expressions take some awks ten times as long
function holds(s, words, from, to) {
	for (; from < to; from++) if (index(s, words[from])) return 1
	return 0
}
# mixed: a key, not a long number, name or path
function mixed(s) { return s !~ /^\// && s ~ /[0-9]/ && s ~ /[A-Z]/ && s ~ /[a-z]/ }
# line_of: a line without its secrets
function line_of(s, low,    i) {
	# a zone of vmstat -z may be called PWD
	if (low ~ /^[^:=]+: +[0-9]+, *[0-9]+, *[0-9]+, *[0-9]+, *[0-9]+, *[0-9, ]+$/) return s
	if (low ~ /^checksum: 0x[0-9a-f]+ *$/ && length(s) < 45) return s
	if (length(s) > 43 && s ~ /^[ \t]*[A-Za-z0-9+\/=]+[ \t]*$/) {
		i = s
		gsub(/[ \t]/, "", i)
		if (length(i) > 43 && mixed(s)) return MARK
	}
	for (i = 1; i <= RULES; i++) if (holds(low, WORD, FROM[i], FROM[i + 1])) s = values(s, BEFORE[i])
	if (holds(low, TOLD, 1, TELL)) {
		if (match(tolower(s), REST)) s = substr(s, 1, RLENGTH) MARK
		s = values(s, ASSIGN, 0, 1)
		s = values(s, OPTION, match(s, "#+[ \t]") ? RSTART : 0)
	}
	if (index(s, "//") || index(s, "iscsi:")) s = logins(s)
	if (holds(low, SERVED, 1, SERVE)) s = forms(s)
	if (index(s, "$")) s = hashes(s)
	if (length(s) > 43 && index(s, "=")) s = keys(s)
	if (index(low, "0x")) s = hexkeys(s)
	return s
}
function tell() { printf "left-out\t%s:%d\ta secret on this line\n", name, NR >> report }
BEGIN {
	SQ = sprintf("%c", 39)
	MARK = "<redacted>"
	COMMENT = "[ \t]#[^\"" SQ "]*$" # not what is in quotes
	ENDS = "[ \t;\"" SQ "]"
	WIDE = "[;\"" SQ "}]|[ \t]#"
	HERE = "<<-?[ \t]*[\\\\\"" SQ "]?[A-Za-z_][A-Za-z0-9_]*"
	deep = -1
@PATTERNS@
	B64 = ""
	for (i = 0; i < 43; i++) B64 = B64 "[A-Za-z0-9+/]"
	B64 = B64 "="
	ONLY = split(only, KEEP, ",")
	TELL = split(TELLING, TOLD, "|") + 1
	SERVE = split(SERVICES, SERVED, "|") + 1
	for (i = FROM[1] = 1; i <= RULES; i++) {
		n = split(WORDS[i], SKIP, "|")
		FROM[i + 1] = FROM[i] + n
		for (j = 1; j <= n; j++) WORD[FROM[i] + j - 1] = SKIP[j]
	}
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
	cr = sub(/\r$/, "") ? "\r" : ""
	line = $0
	low = tolower(line)
	if (inside(low) || begins(low)) {
		match(line, /^[ \t]*(- )?/)
		print (only == "" ? (deep >= 0 ? substr(line, 1, RLENGTH) : "") MARK cr : "")
		tell()
		next
	}
	clean = line_of(line, low)
	if (index(low, "<<") && low ~ HEREDOC) tag = end_of(line)
	goes_on(low, clean, line)
	if (!wanted(line)) { print ""; next }
	if (only != "" && sub(COMMENT, "", line)) clean = line_of(line, tolower(line))
	if (clean != line) {
		tell()
		if (only != "") clean = ""
	}
	print clean cr
}
