/* A graph that is wider than the page: where it begins, that it continues, and the ways through it. */

function inSight(...items) {
  const { scroller } = placed;
  const left = Math.min(...items.map((item) => item.x));
  const right = Math.max(...items.map((item) => item.x + item.width));
  const room = scroller.clientWidth;
  scroller.scrollTo({ left: right - left > room ? left - GAP : (left + right - room) / 2 });
}

/* What fails first: the worst finding, the topmost of several, and the values that it is about. */
function showFailure() {
  const rank = (one) => RANKS.indexOf(one.severity);
  const [first] = [...map.findings].sort((one, other) => rank(one) - rank(other));
  if (!first || !placed?.items.length) return;
  const far = (item) => Math.abs(item.line - first.line);
  const [nearest] = [...placed.items].sort((one, other) => far(one) - far(other));
  const failing = [...nearest.from, ...nearest.into].filter(clashes);
  inSight(nearest, ...failing.flatMap((edge) => [edge.source, edge.target]));
  placed.scroller.scrollIntoView({ block: "nearest" });
}

/* A long graph is gone through function by function, or by what fits into the page. */
function offerFunctions() {
  const { bands, scroller } = placed;
  const choice = document.getElementById("functions");
  choice.replaceChildren(...bands.map(({ name, left }) => new Option(titleOf(name), left)));
  scroller.addEventListener("scroll", () => {
    const here = scroller.scrollLeft + scroller.clientWidth / 3;
    choice.selectedIndex = bands.findLastIndex(({ left }) => left <= here);
    hint();
  });
  new ResizeObserver(hint).observe(scroller);
}

/* A side on which the graph continues fades, and its button can be used. */
function hint() {
  const { bands, scroller, picture } = placed;
  const most = picture.clientWidth - scroller.clientWidth;
  scroller.parentElement.style.setProperty("--bar", `${scroller.offsetHeight - scroller.clientHeight}px`);
  const rest = { left: scroller.scrollLeft, right: most - scroller.scrollLeft };
  document.getElementById("functions").parentElement.hidden = bands.length < 2 || most <= 0;
  document.getElementById("sides").hidden = most <= 0;
  for (const button of document.querySelectorAll("#sides button")) {
    const { side } = button.dataset;
    const continues = rest[side] >= 1;
    scroller.parentElement.classList.toggle(`more-${side}`, continues);
    button.setAttribute("aria-disabled", String(!continues));
  }
}

document.getElementById("functions")?.addEventListener("change", (event) => {
  placed.scroller.scrollTo({ left: Number(event.target.value) - placed.scroller.clientWidth / 4 });
});
for (const button of document.querySelectorAll("#sides button")) {
  button.addEventListener("click", () => {
    const way = button.dataset.side === "left" ? -1 : 1;
    placed.scroller.scrollBy({ left: way * placed.scroller.clientWidth * 0.8 });
  });
}
