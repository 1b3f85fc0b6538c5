// The search, the one thing that needs a script. The index is in index.js.
"use strict";
(function () {
  // A permalink to something folded opens it.
  function unfold() {
    var at = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (var e = at; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    if (at) at.scrollIntoView();
  }
  var box = document.getElementById("q");
  if (!box) { addEventListener("hashchange", unfold); unfold(); return; }

  var index = window.LINERATE, words = index.words.split(" "), number = new Map();
  words.forEach(function (w, i) { number.set(w, i); });
  index.posts.forEach(function (p) { for (var i = 1; i < p.length; i++) p[i] += p[i - 1]; });
  var lower = index.entries.map(function (e) { return e.n.toLowerCase(); });

  function stem(w) { return w.length > 3 && w.endsWith("s") && !w.endsWith("ss") ? w.slice(0, -1) : w; }

  // Edits between two words (a swap of neighbours is one), more than most is most + 1.
  function edits(a, b, most) {
    if (Math.abs(a.length - b.length) > most) return most + 1;
    var before = [], last = [], row = [], i, j;
    for (j = 0; j <= b.length; j++) last[j] = j;
    for (i = 1; i <= a.length; i++) {
      row = [i];
      var least = i;
      for (j = 1; j <= b.length; j++) {
        var v = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) v = Math.min(v, before[j - 2] + 1);
        row[j] = v;
        if (v < least) least = v;
      }
      if (least > most) return most + 1;
      before = last; last = row;
    }
    return last[b.length];
  }

  // What a word of the query finds: entry → worth. Whole words first, then their
  // beginnings; misspelt ones where there is neither.
  function hits(w) {
    var found = new Map();
    function take(i, share) {
      index.posts[i].forEach(function (p) {
        var n = p >> 3, s = (p & 7) * share;
        if (!(found.get(n) >= s)) found.set(n, s);
      });
    }
    var exact = number.get(stem(w));
    if (exact !== undefined) take(exact, 4);
    if (w.length > 1) for (var i = 0; i < words.length; i++) if (i !== exact && words[i].startsWith(w)) take(i, 3);
    if (w.length > 2) for (var k = 0; k < lower.length; k++) if (lower[k].includes(w) && !(found.get(k) >= 12)) found.set(k, 12);
    if (!found.size && w.length > 3) {
      var most = w.length > 7 ? 2 : 1;
      for (i = 0; i < words.length; i++) {
        var d = edits(w, words[i], most);
        if (d <= most) take(i, 3 - d);
      }
    }
    return found;
  }

  function search(query) {
    var parts = query.toLowerCase().split(/[^a-z0-9]+/).filter(Boolean), sum = null, whole = query.trim().toLowerCase();
    if (!parts.length) return index.entries.map(function (_, n) { return [n, 0]; });
    parts.forEach(function (w) {
      var h = hits(w), next = new Map();
      if (sum) sum.forEach(function (s, n) { if (h.has(n)) next.set(n, s + h.get(n)); });
      sum = sum ? next : h;
    });
    var all = [];
    sum.forEach(function (s, n) {
      var e = index.entries[n];
      if (lower[n] === whole) s += 100; else if (lower[n].endsWith(whole)) s += 20;
      if (e.f & 2) s -= 8;
      if (e.f & 8) s -= 4;
      all.push([n, s]);
    });
    return all.sort(function (a, b) { return b[1] - a[1] || lower[a[0]].length - lower[b[0]].length || a[0] - b[0]; });
  }

  var fields = ["os", "release", "role", "is"].map(function (id) { return document.getElementById(id); });
  index.roles.slice().sort().forEach(function (r) { fields[2].add(new Option(r, r)); });
  function releases() {
    var have = fields[1].value;
    fields[1].length = 1;
    index.releases.forEach(function (list, os) {
      if (fields[0].value === "" || +fields[0].value === os) list.slice().reverse().forEach(function (r) {
        fields[1].add(new Option((os ? "Linux " : "FreeBSD ") + r, os + ":" + r));
      });
    });
    fields[1].value = have;
    if (fields[1].selectedIndex < 0) fields[1].selectedIndex = 0;
  }
  function passes(e) {
    var f = fields, is = f[3].value;
    if (f[0].value !== "" && e.o !== +f[0].value) return false;
    if (f[1].value) {
      var at = f[1].value.split(":"), bit = index.releases[+at[0]].indexOf(at[1]);
      if (e.o !== +at[0] || !(e.r >>> bit & 1)) return false;
    }
    if (f[2].value && (e.g || []).indexOf(index.roles.indexOf(f[2].value)) < 0) return false;
    return !is || (e.f & +is) !== 0;
  }

  var out = document.getElementById("results"), told = document.getElementById("told"), most = 60;
  function show() {
    var began = performance.now(), found = search(box.value).filter(function (h) { return passes(index.entries[h[0]]); });
    var took = performance.now() - began;
    var asked = box.value.trim() !== "" || fields.some(function (f) { return f.value !== ""; });
    out.textContent = "";
    found.slice(0, asked ? most : 0).forEach(function (h) {
      var e = index.entries[h[0]], li = document.createElement("li"), a = document.createElement("a"), s = document.createElement("span");
      a.href = e.u; a.textContent = e.n;
      s.textContent = (e.o ? "Linux" : "FreeBSD") + (e.f & 2 ? " · gone" : "") + (e.f & 1 ? " · measured" : "") + (e.f & 4 ? " · folklore refuted" : "");
      s.className = "tags";
      var p = document.createElement("p"); p.textContent = e.t;
      li.append(a, " ", s, p); out.append(li);
    });
    document.body.dataset.ms = took.toFixed(2);
    told.textContent = !asked ? "" : found.length === 0 ? "Nothing found." : found.length + " found" + (found.length > most ? ", the best " + most + " shown" : "");
    var state = new URLSearchParams();
    if (box.value) state.set("q", box.value);
    fields.forEach(function (f) { if (f.value) state.set(f.id, f.value); });
    history.replaceState(null, "", "#" + state.toString());
  }
  function restore() {
    var state = new URLSearchParams(location.hash.slice(1));
    box.value = state.get("q") || "";
    fields[0].value = state.get("os") || "";
    releases();
    fields.slice(1).forEach(function (f) { f.value = state.get(f.id) || ""; });
    show();
  }
  box.addEventListener("input", show);
  fields.forEach(function (f, i) { f.addEventListener("change", function () { if (i === 0) releases(); show(); }); });
  addEventListener("hashchange", restore);
  document.getElementById("finder").hidden = false;
  restore();
  box.focus();
})();
