"use strict";
const tip = document.getElementById("tip");
for (const chart of document.querySelectorAll("svg.chart")) {
  const all = [...chart.querySelectorAll(".series")];
  const series = all.map((group) => ({
    group,
    name: group.dataset.name,
    points: group.dataset.points.split(";").filter(Boolean).map((text) => {
      const [px, py, x, y, sd] = text.split(" ");
      return { px: +px, py: +py, x, y, sd };
    }),
  }));
  for (const legend of chart.querySelectorAll(".legend")) {
    const name = legend.dataset.name;
    const toggle = () => {
      const off = legend.classList.toggle("off");
      legend.setAttribute("aria-pressed", String(!off));
      for (const group of all) if (group.dataset.name === name) group.classList.toggle("off", off);
    };
    legend.setAttribute("role", "button");
    legend.setAttribute("tabindex", "0");
    legend.setAttribute("aria-pressed", "true");
    legend.addEventListener("click", toggle);
    legend.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(); }
    });
  }
  chart.addEventListener("mousemove", (event) => {
    const matrix = chart.getScreenCTM().inverse();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    let best = null;
    for (const one of series) {
      if (one.group.classList.contains("off")) continue;
      for (const point of one.points) {
        const distance = Math.hypot(point.px - at.x, point.py - at.y);
        if (distance < 22 && (!best || distance < best.distance)) best = { distance, point, name: one.name };
      }
    }
    tip.hidden = !best;
    if (!best) return;
    const { x, y, sd } = best.point;
    tip.textContent = `${best.name}\nx = ${x}\ny = ${y}${sd ? ` \u00b1 ${sd}` : ""}`;
    const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${left}px`;
    tip.style.top = `${Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8)}px`;
  });
  chart.addEventListener("mouseleave", () => { tip.hidden = true; });
}
