// A running study's page changes as trials end. Without this script the browser loads it
// again every few seconds.
"use strict";
(function () {
  var box = document.getElementById("progress");
  if (!box || !window.EventSource || box.dataset.state !== "running" && box.dataset.state !== "waiting") return;
  var source = new EventSource(box.dataset.events);
  source.addEventListener("progress", function (e) {
    var p = JSON.parse(e.data), doc = new DOMParser().parseFromString(p.html, "text/html");
    box.replaceChildren.apply(box, Array.from(doc.body.childNodes));
    box.dataset.done = p.done;
    box.dataset.state = p.state;
    if (p.state === "complete") source.close();
  });
})();
