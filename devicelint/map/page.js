/* One machine at a time; a value that is chosen is shown with all that it comes from and goes to. */

let machine = 0;
let placed = null;
let chosen = null;

const HINT =
  "Each value stands on the lane of its device, in the order of the source; thick arrows move data, " +
  "dotted red lines fail. Choose a value to see where it comes from, and what becomes of it.";

function show(view) {
  machine = view;
  for (const element of document.querySelectorAll("[data-view]")) {
    element.hidden = Number(element.dataset.view) !== view;
  }
  for (const word of document.querySelectorAll("[data-places]")) {
    const places = word.dataset.places.split(";");
    for (const place of places) if (place) word.classList.remove(colourOf(lastOf(place)));
    if (places[view]) word.classList.add(colourOf(lastOf(places[view])));
    word.title = lanesOf(places[view]).map((lane) => map.lanes[lane].name).join(" or ");
  }
  chosen = null;
  if (document.getElementById("lanes")) {
    placed = drawLanes(map.views[view]);
    for (const item of placed.items) listen(item);
    placed.items.sort(inOrder)[0]?.drawn.setAttribute("tabindex", 0);
    offerFunctions();
  }
  drawGutter(map.views[view]);
  light(null);
}

const lanesOf = (place) => (place ? place.split(",").map(Number) : []);
const lastOf = (place) => lanesOf(place).at(-1);
const inOrder = (one, other) => one.column - other.column || one.y - other.y;

/* All that an item is made from, or all that is made of it. */
function reached(item, edges, end) {
  const found = new Set(item[edges]);
  for (const edge of found) for (const next of edge[end][edges]) found.add(next);
  return found;
}

function light(item) {
  for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
  placed?.picture.classList.toggle("choosing", Boolean(item));
  document.querySelector(".source").classList.toggle("choosing", Boolean(item));
  const details = document.getElementById("details");
  if (details) {
    details.textContent = item ? story(item) : HINT;
    details.classList.toggle("chosen", Boolean(item));
  }
  if (!item) return;
  const edges = [...reached(item, "from", "source"), ...reached(item, "into", "target")];
  const items = new Set([item, ...edges.flatMap((edge) => [edge.source, edge.target])]);
  for (const edge of edges) edge.drawn.classList.add("lit");
  for (const one of items) {
    one.drawn.classList.add("lit");
    rowOf(one.line)?.classList.add("lit");
  }
}

function story(item) {
  const place = map.lanes[item.lane].name;
  const parts = [`${item.name}, line ${labels.get(item.line)}: on ${place}`];
  if (item.story) parts[0] += `, ${item.story}`;
  const names = (edges, end) => [...new Set(edges.map((edge) => edge[end].name))].join(", ");
  if (item.from.length) parts.push(`from ${names(item.from, "source")}`);
  if (item.into.length) parts.push(`used for ${names(item.into, "target")}`);
  const found = (findingsAt.get(item.line) ?? []).map((one) => `${one.code}: ${one.message}`);
  return [parts.join("; ") + ".", ...found].join(" ");
}

function listen(item) {
  const { drawn: link } = item;
  link.addEventListener("pointerenter", () => light(item));
  link.addEventListener("pointerleave", () => light(chosen));
  link.addEventListener("focus", () => light(item));
  link.addEventListener("blur", () => light(chosen));
  link.addEventListener("click", () => (chosen = item));
  link.addEventListener("keydown", (event) => {
    const next = neighbour(item, event.key);
    if (!next) return;
    event.preventDefault();
    for (const one of placed.items) one.drawn.setAttribute("tabindex", -1);
    next.drawn.setAttribute("tabindex", 0);
    next.drawn.focus();
    inSight(next);
  });
}

/* Left and right go through the values in their order, up and down through a column and beyond. */
function neighbour(item, key) {
  const ordered = [...placed.items].sort(inOrder);
  const at = ordered.indexOf(item);
  if (key === "ArrowRight") return ordered[at + 1];
  if (key === "ArrowLeft") return ordered[at - 1];
  if (key === "Home") return ordered[0];
  if (key === "End") return ordered.at(-1);
  const way = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (!way) return undefined;
  const far = (one) => Math.abs(one.y - item.y) + Math.abs(one.x - item.x) / 4;
  const beyond = ordered.filter((one) => Math.sign(one.y - item.y) === way);
  return beyond.sort((one, other) => far(one) - far(other))[0];
}

/* On paper there is nothing to scroll: the graph goes on from sheet to sheet. */
const SHEET = 1000;
function layOut() {
  const sheets = document.getElementById("sheets");
  if (!sheets) return;
  sheets.replaceChildren();
  const content = [...placed.picture.children].map((one) => one.cloneNode(true));
  const all = drawn("g", { id: "all" }, ...content);
  for (let left = 0; left < placed.width; left += SHEET) {
    const size = { class: "sheet", viewBox: `${left} 0 ${SHEET} ${placed.height + 12}` };
    const part = left ? drawn("use", { href: "#all" }) : all;
    sheets.append(drawn("svg", size, part, ...placed.lanes.map((lane) => laneName(lane, left))));
  }
}

function laneName(lane, left) {
  const at = { class: `lane-name ${colourOf(lane.index)}`, x: left + 4, y: lane.y + lane.height - 5 };
  return drawn("text", at, map.lanes[lane.index].name);
}

/* A line that the address names is shown in the lanes, too. */
function follow() {
  const line = Number(location.hash.match(/^#L(\d+)$/)?.[1]);
  const here = placed?.items.filter((item) => item.line === line) ?? [];
  if (!location.hash) showFailure();
  if (!here.length || here.includes(chosen)) return;
  chosen = here.at(-1);
  inSight(chosen);
  light(chosen);
}

root.classList.add("drawn");
document.getElementById("machine")?.addEventListener("change", (event) => {
  show(Number(event.target.value));
  follow();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  chosen = null;
  light(null);
});
addEventListener("hashchange", follow);
addEventListener("beforeprint", layOut);
narrow.addEventListener("change", () => drawGutter(map.views[machine]));
show(0);
follow();
