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

  var index = window.LINERATE;
  var lower = index.entries.map(function (e) { return [e.n, e.i || "", e.t].map(function (s) { return s.toLowerCase(); }); });

  // What a word of the query is worth for an entry: in its name, its idea or its text; 0 where
  // it is in none. A plural's s does not matter.
  function worth(n, w) {
    var at = lower[n];
    return at[0].includes(w) ? 6 : at[1].includes(w) ? 3 : at[2].includes(w) ? 2 : w.length > 3 && w.endsWith("s") ? worth(n, w.slice(0, -1)) : 0;
  }
  function search(query) {
    var parts = query.toLowerCase().split(/[^a-z0-9]+/).filter(Boolean), whole = query.trim().toLowerCase(), all = [];
    index.entries.forEach(function (e, n) {
      var sum = 0;
      for (var k = 0; k < parts.length; k++) {
        var s = worth(n, parts[k]);
        if (!s) return;
        sum += s;
      }
      if (lower[n][0] === whole) sum += 100; else if (whole && lower[n][0].endsWith(whole)) sum += 20;
      all.push([n, sum - (e.f & 2 ? 3 : 0) - (e.f & 8 ? 2 : 0)]);
    });
    return parts.length ? all.sort(function (a, b) { return b[1] - a[1] || lower[a[0]][0].length - lower[b[0]][0].length || a[0] - b[0]; }) : all;
  }

  var fields = ["os", "release", "is"].map(function (id) { return document.getElementById(id); });
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
    var f = fields, is = f[2].value;
    if (f[0].value !== "" && e.o !== +f[0].value) return false;
    if (f[1].value) {
      var at = f[1].value.split(":"), bit = index.releases[+at[0]].indexOf(at[1]);
      if (e.o !== +at[0] || !(e.r >>> bit & 1)) return false;
    }
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
