# Redacts texts line by line: only what an audit may see remains. The rules are a
# table (rules.txt), compiled into this script and into linerate itself.
# Each input line is "kind, tab, name, tab, source, tab, destination": the redacted
# source goes to destination, and a note of what was left out to the file "report".
# good tests for a number or a word of the vocabulary
function good(s) {
	return (("word " s) in WORDS) || (("word " tolower(s)) in WORDS) || (length(s) <= LONGEST && s ~ NUMBER)
}
function bare(s) {
	gsub(/^[ \t=+:"-]+|[ \t=+:"-]+$/, "", s)
	if (index(s, SQ)) gsub(BARE, "", s)
	return s
}
function put(text) { if (text != "") { out = out text; masked = 0 } }
function hide(text) {
	if (text == MARK) { put(text); masked = 1; return }
	if (text == "" || masked) return
	texts++
	out = out MARK
	masked = 1
}
function emit(act, token,    text, sign) {
	if (act == "k") put(token)
	else if (act == "m") hide(token)
	else if (act == "v") { if (good(token)) put(token); else hide(token) }
	else if (act == "d") { if (token ~ /[^ \t]/) texts++ }
	else if (act == "c") {
		text = token
		sub(/^[ \t]+/, "", text)
		sign = (substr(text, 1, 2) == "//") ? 2 : 1
		if (length(text) > sign) comments++
		put(substr(token, 1, length(token) - length(text) + sign))
	}
}
# rule_of returns the state's first rule that matches the start of the text; LEN is the match's length
function rule_of(s,    i, n, k, token) {
	n = RULES[state]
	for (i = 1; i <= n; i++) {
		k = state SUBSEP i
		LEN = 0
		if (PATTERN[k] != "") {
			if (!match(s, PATTERN[k])) continue
			LEN = RLENGTH
		}
		if (LEN == 0 && (NEXT[k] == "" || NEXT[k] == state)) continue
		if (k in SET && !((SET[k] " " bare(substr(s, 1, LEN))) in WORDS)) continue
		if (k in AHEAD && substr(s, LEN + 1) !~ AHEAD[k]) continue
		return k
	}
	return ""
}
function line_of(s,    k, cr, steps, beyond) {
	out = ""
	steps = 0
	masked = 0
	cr = sub(/\r$/, "", s) ? "\r" : ""
	beyond = length(s) > LINE
	if (beyond) s = substr(s, 1, LINE)
	while (s != "") {
		k = rule_of(s)
		if (k == "" || steps++ == STEPS) { hide(s); break }
		emit(ACT[k], substr(s, 1, LEN))
		s = substr(s, LEN + 1)
		if (NEXT[k] != "") state = NEXT[k]
	}
	if (beyond) hide("more")
	state = (state in EOL) ? EOL[state] : kind
	return out cr
}
# text_of redacts one file
function text_of(name, source, to,    line, n, bytes) {
	state = kind
	comments = texts = n = bytes = 0
	printf "" > to
	while ((getline line < source) > 0) {
		bytes += length(line) + 1
		if (bytes > MOST) {
			printf "left-out\t%s\twhat comes after 16 MiB\n", name >> report
			break
		}
		if (n++ == 0) {
			if (line ~ UTF16) {
				printf "%s", substr(line, 1, 2) > to # the byte order mark shows the encoding
				texts++
				break
			}
			if (substr(line, 1, 3) == BOM) { printf "%s", BOM > to; line = substr(line, 4) }
		}
		if (kind == "whole") print line > to
		else print line_of(line) > to
	}
	close(source)
	close(to)
	line = comments ? comments " comment" (comments > 1 ? "s" : "") : ""
	if (texts) line = line (line ? ", " : "") texts (texts > 1 ? " texts" : " text")
	if (line) printf "left-out\t%s\t%s\n", name, line >> report
}
function r(at, pattern, act, to, set, ahead,    k) {
	k = at SUBSEP (++RULES[at])
	PATTERN[k] = pattern == "" ? "" : "^(" pattern ")"
	ACT[k] = act
	NEXT[k] = to
	if (set != "") SET[k] = set
	if (ahead != "") AHEAD[k] = "^(" ahead ")"
}
function w(set, words,    n, i, list) {
	n = split(words, list, " ")
	for (i = 1; i <= n; i++) WORDS[set " " list[i]] = 1
}
BEGIN {
	SQ = sprintf("%c", 39)
	BARE = "^[ \t=+:\"" SQ "-]+|[ \t=+:\"" SQ "-]+$"
	BOM = "\357\273\277"
	UTF16 = "^(\377\376|\376\377)"
	MOST = 16777216
	FS = "\t"
@TABLE@
}
{ kind = $1; text_of($2, $3, $4) }
