const map = JSON.parse(document.getElementById("map").textContent);
const root = document.documentElement;
const labels = new Map(map.lines.map(([line, label]) => [line, label]));

/* An element of SVG; what is text becomes text, and never markup. */
function drawn(tag, attributes = {}, ...content) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
}

function made(tag, className, ...content) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...content);
  return element;
}

const colourOf = (lane) => `${map.lanes[lane].group}-${map.lanes[lane].colour % 4}`;
const rowOf = (line) => document.getElementById(`L${line}`);

const findingsAt = new Map();
for (const found of map.findings) {
  findingsAt.set(found.line, [...(findingsAt.get(found.line) ?? []), found]);
}
const RANKS = ["error", "warning", "note"];
function worstAt(line) {
  const found = findingsAt.get(line) ?? [];
  return RANKS.find((rank) => found.some((one) => one.severity === rank)) ?? "";
}

/* What was measured of an arrow; what counts for several of a line together is shown at the last. */
function measured(arrow) {
  if (!arrow.measures.length) return null;
  const isLast = arrow.shared_by.at(-1) === arrow.id;
  return { micros: arrow.micros, text: arrow.amount, isLast };
}
