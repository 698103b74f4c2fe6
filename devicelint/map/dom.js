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

/* Numbers as people read them. */
const short = (amount) =>
  amount >= 9.95 || Number.isInteger(amount) ? Math.round(amount).toLocaleString("en") : amount.toFixed(1);
function inUnits(amount, units, factor) {
  for (const unit of units.slice(0, -1)) {
    if (amount < 999.5) return `${short(amount)} ${unit}`;
    amount /= factor;
  }
  return `${short(amount)} ${units.at(-1)}`;
}
/* What was measured of an arrow; what counts for several of a line together is told of the last. */
function measured(arrow) {
  const all = arrow.measures.map((index) => map.run.measures[index]);
  if (!all.length) return null;
  const sum = (key) => all.reduce((total, one) => total + key(one), 0);
  const count = sum((one) => one.count);
  const bytes = sum((one) => one.bytes);
  const micros = sum((one) => Math.max(one.host_us, one.device_us ?? 0));
  const size = inUnits(bytes, ["B", "kB", "MB", "GB", "TB"], 1000);
  const told = `${count.toLocaleString("en")}× · ${size} · ${inUnits(micros, ["µs", "ms", "s"], 1000)}`;
  const sharing = arrow.shared_by.length > 1;
  const isLast = !sharing || arrow.shared_by.at(-1) === arrow.id;
  return { micros, isLast, told: sharing ? `together ${told}` : told };
}
