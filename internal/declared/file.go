package declared

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
)

// readable lists directories and files that parsers of a machine's files read.
var readable = []string{"/etc/sysctl.d/", "/usr/lib/sysctl.d/", "/usr/local/lib/sysctl.d/", "/run/sysctl.d/", "/etc/sysctl.conf", "/etc/modprobe.d/", "/etc/modules-load.d/",
	"/etc/systemd/network/", "/etc/systemd/system/", "/etc/udev/rules.d/", "/etc/tuned/", "/etc/default/grub", "/etc/security/limits.d/", "/etc/kernel/cmdline", "/etc/rc.local",
	"/boot/loader.conf", "/etc/rc.conf"}

// file reads a mapping that declares a file for a machine: cloud-init's write_files, Ignition's and
// Butane's storage.files, Talos' files, Ansible's copy, blockinfile and lineinfile.
func (w *walker) file(n *node, h *Host) bool {
	at := n.first("path", "dest", "destination", "filename").text
	content := n.first("content", "contents", "inline", "block", "line")
	if at == "" || content.line == 0 {
		return false
	}
	text, lines := contentOf(content, n)
	if text == "" {
		return content.scalar
	}
	at = path.Clean(strings.TrimPrefix(at, "{{ linerate_root }}"))
	known := slices.ContainsFunc(readable, func(p string) bool { return strings.HasPrefix(at, p) })
	if known && !variable().MatchString(text) && !variable().MatchString(at) {
		w.addText(h, at, text, at, lines)
		return true
	}
	w.lines(&node{line: lines.line, lined: lines.lined, text: text}, "conf", path.Base(at), h)
	return true
}

// contentOf returns the text of a file, and the node whose lines it has.
func contentOf(content, file *node) (string, *node) {
	if content.scalar {
		if e := file.get("encoding").text; e != "" {
			return decoded(content.text, strings.Contains(e, "b64") || strings.Contains(e, "base64"), strings.Contains(e, "gz")), &node{line: content.line}
		}
		return content.text, content
	}
	if inline := content.get("inline"); inline.scalar {
		return inline.text, inline
	}
	source := content.get("source")
	head, data, ok := strings.Cut(source.text, ",")
	if !ok || !strings.HasPrefix(head, "data:") {
		return "", content
	}
	plain, err := url.PathUnescape(data)
	if err != nil {
		return "", content
	}
	return decoded(plain, strings.HasSuffix(head, ";base64"), content.get("compression").text == "gzip"), &node{line: source.line}
}

// decoded decodes a text, up to the size limit of a file.
func decoded(text string, base64ed, zipped bool) string {
	data := []byte(text)
	if base64ed {
		var err error
		if data, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), "")); err != nil {
			return ""
		}
	}
	if zipped {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return ""
		}
		data, err = io.ReadAll(io.LimitReader(z, MaxFile))
		if err != nil {
			return ""
		}
	}
	return strings.ToValidUTF8(string(data), "?")
}
