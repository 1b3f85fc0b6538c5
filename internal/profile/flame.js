(function () {
  "use strict";
  var W = 1200, letter = 6.7;
  function fit(name, w) {
    var room = Math.floor((w - 5) / letter);
    return room >= name.length ? name : room < 3 ? "" : name.slice(0, room - 1) + "…";
  }
  function zoom(svg, x0, w0, depth) {
    svg.querySelectorAll(".f").forEach(function (g) {
      var x = +g.dataset.x, w = +g.dataset.w, d = +g.dataset.d;
      var above = d < depth && x <= x0 + 1e-9 && x + w >= x0 + w0 - 1e-9;
      var inside = d >= depth && x >= x0 - 1e-9 && x + w <= x0 + w0 + 1e-9;
      g.style.display = above || inside ? "" : "none";
      g.classList.toggle("dim", above);
      var left = above ? 0 : (x - x0) / w0 * W, width = above ? W : w / w0 * W;
      var rect = g.querySelector("rect"), text = g.querySelector("text");
      rect.setAttribute("x", left); rect.setAttribute("width", Math.max(width - .5, .3));
      text.setAttribute("x", left + 3); text.textContent = fit(g.dataset.n, width);
    });
  }
  document.querySelectorAll("svg.flame").forEach(function (svg) {
    var pointed = svg.querySelector(".pointed");
    svg.addEventListener("click", function (e) {
      var g = e.target.closest(".f");
      if (g) zoom(svg, +g.dataset.x, +g.dataset.w, +g.dataset.d); else zoom(svg, 0, 1, 0);
    });
    svg.addEventListener("mouseover", function (e) {
      var g = e.target.closest(".f");
      pointed.textContent = g ? g.querySelector("title").textContent : "";
    });
  });
  var find = document.getElementById("find");
  if (find) find.addEventListener("input", function () {
    var what = find.value.toLowerCase();
    document.querySelectorAll(".flame .f").forEach(function (g) {
      g.classList.toggle("found", what !== "" && g.dataset.n.toLowerCase().indexOf(what) >= 0);
    });
  });
})();
