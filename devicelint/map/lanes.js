/* The swim lanes: a pill for each value, in the column of its line and on the lane of its device. */

const PILL = 24;
const GAP = 38;
const HEAD = 48;
const MOST_TRACKS = 10;

const ruler = document.createElement("canvas").getContext("2d");
function widthOf(text, font) {
  ruler.font = font;
  return Math.ceil(ruler.measureText(text).width);
}

/* What is drawn: the values, and an end for each move that has no value there. */
function itemsOf(view) {
  const items = view.nodes
    .filter((node) => node.kind !== "choice")
    .map((node) => ({ ...node, from: [], into: [] }));
  const byId = new Map(items.map((item) => [item.id, item]));
  const edges = [];
  const end = (arrow, lane, name) => {
    const item = { id: `${name}${arrow.id}`, name: arrow.what, line: arrow.line, lane };
    items.push(Object.assign(item, { kind: "end", inputs: [], from: [], into: [], story: "" }));
    return item;
  };
  for (const arrow of view.arrows) {
    const source = byId.get(arrow.source) ?? end(arrow, arrow.origin, "source");
    const target = byId.get(arrow.result) ?? end(arrow, arrow.target, "result");
    target.lost = arrow.is_discarded;
    edges.push({ source, target, arrow });
  }
  for (const item of items) {
    for (const id of item.inputs) {
      const source = byId.get(id);
      if (source && source !== item) edges.push({ source, target: item });
    }
  }
  for (const edge of edges) {
    edge.source.into.push(edge);
    edge.target.from.push(edge);
  }
  return { items, edges };
}

/* What an item is made of in its own line; `total += loss.item()` makes a circle. */
const madeOf = (item) => item.from.filter((edge) => edge.source.line === item.line);

function isMadeOf(item, other) {
  const parts = new Set([item]);
  for (const part of parts) for (const { source } of madeOf(part)) parts.add(source);
  return parts.has(other);
}

/* What a line makes out of what it makes stands further to the right. */
function putInColumns(items) {
  const depth = (item, seen = new Set()) => {
    if (seen.has(item)) return 0;
    seen.add(item);
    const closes = ({ source, arrow }) => item.kind === "unnamed" && !arrow && isMadeOf(source, item);
    const edges = madeOf(item).filter((edge) => !closes(edge));
    const before = edges.map((edge) => edge.source);
    return before.length ? 1 + Math.max(...before.map((one) => depth(one, seen))) : 0;
  };
  const columns = new Map();
  for (const item of items) {
    const key = item.line * 64 + Math.min(63, depth(item));
    if (!columns.has(key)) columns.set(key, []);
    columns.get(key).push(item);
  }
  const ordered = [...columns].sort(([one], [other]) => one - other).map(([, column]) => column);
  ordered.forEach((column, index) => column.forEach((item) => (item.column = index)));
  return ordered;
}

/* A value keeps its track until it is last used, so that lines do not run through other values.
   One that is given the same name anew follows it on the same track. */
function putOnTracks(items, lanes) {
  const lanesOfTracks = lanes.map(() => []);
  const latest = new Map();
  for (const item of [...items].sort((one, other) => one.column - other.column)) {
    const tracks = lanesOfTracks[item.lane];
    const key = `${item.lane} ${item.name}`;
    const track = trackFor(item, tracks, latest.get(key));
    const until = Math.max(item.column, ...item.into.map((edge) => edge.target.column));
    tracks[track] = { at: item.column, until: Math.max(until, tracks[track]?.until ?? 0) };
    latest.set(key, track);
    item.track = track;
  }
  return lanesOfTracks.map((tracks) => Math.max(1, tracks.length));
}

function trackFor(item, tracks, same) {
  const isLeft = ({ at, until }) => at < item.column && until <= item.column;
  if (same !== undefined && isLeft(tracks[same])) return same;
  const free = tracks.findIndex(({ until }) => until < item.column);
  if (free >= 0 || tracks.length < MOST_TRACKS) return free >= 0 ? free : tracks.length;
  const passed = tracks.filter(({ at }) => at < item.column);
  const soonest = passed.sort((one, other) => one.until - other.until)[0];
  return soonest ? tracks.indexOf(soonest) : tracks.length;
}

function place(view) {
  const { items, edges } = itemsOf(view);
  const used = map.lanes.map((lane, index) => items.some((item) => item.lane === index));
  const columns = putInColumns(items);
  const counts = putOnTracks(items, map.lanes);
  const height = map.run ? 46 : 34;
  const lanes = [];
  let y = HEAD;
  map.lanes.forEach((lane, index) => {
    lanes.push(used[index] ? { index, y, height: counts[index] * height + 12 } : null);
    if (used[index]) y += counts[index] * height + 12;
  });
  let x = GAP / 2;
  for (const column of columns) {
    for (const item of column) item.width = Math.max(30, widthOf(item.name, "12px " + MONO) + 20);
    const amounts = column.flatMap((item) => item.from.map((edge) => edge.arrow && measured(edge.arrow)));
    const notes = amounts.map((one) => (one?.isLast ? widthOf(one.text, "10px " + SANS) + 6 : 0));
    const width = Math.max(...column.map((item) => item.width), ...notes);
    for (const item of column) {
      item.x = x;
      item.y = lanes[item.lane].y + 6 + item.track * height + (height - 34) / 4 + 17;
    }
    column.x = x;
    column.width = width;
    x += width + GAP;
  }
  return { items, edges, columns, lanes: lanes.filter(Boolean), width: x, height: y };
}

const MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif';

/* Along the track of the source, and over to the target just before it. */
function pathsOf({ source, target }) {
  const [x1, y1] = [source.x + source.width, source.y];
  const [x2, y2] = [target.x, target.y];
  if (x2 <= x1) {
    const [from, to] = [source.x + source.width / 2, target.x + target.width / 2];
    const top = Math.max(HEAD + 4, Math.min(y1, y2) - PILL - 18);
    return ["", `M${from},${y1 - PILL / 2} C${from},${top} ${to},${top} ${to},${y2 - PILL / 2 - 2}`];
  }
  const turn = Math.max(x1, x2 - GAP);
  const half = (x2 - turn) / 2;
  const along = turn > x1 ? `M${x1},${y1} H${turn}` : "";
  return [along, `M${turn},${y1} C${turn + half},${y1} ${x2 - half},${y2} ${x2 - 1},${y2}`];
}

/* The head of an arrow, the larger the thicker its line is. */
function tipOf(target, weight, isBack) {
  const length = 7 + weight;
  const half = 3 + weight;
  const [middle, top] = [target.x + target.width / 2, target.y - PILL / 2];
  if (isBack) return `M${middle},${top} l${-half},${-length} h${2 * half} z`;
  return `M${target.x},${target.y} l${-length},${-half} v${2 * half} z`;
}

function edgeOf(edge, heaviest) {
  const [along, across] = pathsOf(edge);
  const isBack = edge.target.x <= edge.source.x + edge.source.width;
  if (!edge.arrow) {
    const kind = clashes(edge) ? "clash" : "flow";
    return drawn("path", { class: isBack ? `${kind} back` : kind, d: along + across.replace("M", along ? "L" : "M") });
  }
  const amount = measured(edge.arrow);
  const weight = amount && heaviest ? 2 + 5 * Math.sqrt(amount.micros / heaviest) : 2.5;
  const { target, arrow } = edge;
  const lane = arrow.target === hostLane ? arrow.origin : arrow.target;
  const group = drawn("g", { class: `move ${colourOf(lane)}${arrow.is_discarded ? " lost" : ""}` });
  group.append(drawn("title", {}, sentence(arrow, amount)));
  if (along) group.append(drawn("path", { class: `along ${colourOf(arrow.origin)}`, d: along }));
  group.append(drawn("path", { class: "line", d: across, "stroke-width": weight.toFixed(2) }));
  group.append(drawn("path", { class: "tip", d: tipOf(target, weight, isBack) }));
  if (amount?.isLast) {
    const at = { class: "amount", x: target.x + 2, y: target.y + PILL / 2 + 12 };
    group.append(drawn("text", at, amount.text));
  }
  return group;
}

/* Whether a value is used where it cannot be: a finding tells of both lines. */
function clashes({ source, target }) {
  if (source.lane === target.lane) return false;
  return map.findings.some((one) => {
    const lines = [one.line, ...one.related.map((place) => place.line)];
    return one.severity === "error" && lines.includes(source.line) && lines.includes(target.line);
  });
}

const hostLane = map.lanes.findIndex((lane) => lane.group === "host");

function sentence(arrow, amount) {
  const [origin, target] = [map.lanes[arrow.origin].name, map.lanes[arrow.target].name];
  const lost = arrow.is_discarded ? ", thrown away" : "";
  const title = `line ${labels.get(arrow.line)}: ${arrow.what} goes from ${origin} to ${target} by .${arrow.method}()`;
  return title + lost + (amount ? ` (${amount.text})` : "");
}

function pillOf(item) {
  const worst = worstAt(item.line);
  const classes = ["node", item.kind, colourOf(item.lane), worst, item.lost ? "lost" : ""];
  const link = drawn("a", { class: classes.filter(Boolean).join(" "), href: `#L${item.line}`, tabindex: -1 });
  const lane = map.lanes[item.lane].name;
  link.setAttribute("aria-label", `${item.name}, line ${labels.get(item.line)}, on ${lane}${worst ? `, ${worst}` : ""}`);
  const radius = item.kind === "module" ? 4 : PILL / 2;
  const box = { x: item.x, y: item.y - PILL / 2, width: item.width, height: PILL, rx: radius };
  link.append(drawn("rect", box));
  link.append(drawn("text", { x: item.x + item.width / 2, y: item.y + 4 }, item.name));
  if (worst) {
    const [x, y] = [item.x + item.width - 2, item.y - PILL / 2 + 1];
    link.append(drawn("circle", { class: "badge", cx: x, cy: y, r: 5 }));
  }
  if (item.lost) {
    const [x, y] = [item.x - 20, item.y];
    link.append(drawn("path", { class: "cross", d: `M${x - 5},${y - 5} l10,10 m0,-10 l-10,10` }));
  }
  return link;
}

const FILE = map.path.split(/[\\/]/).at(-1);
const titleOf = (name) => (name ? `${name}()` : `top level of ${FILE}`);

/* The functions of the file above the columns that stand in them, and the lines. */
function headOf(placed) {
  const head = drawn("g", { class: "head", "aria-hidden": "true" });
  const bands = [];
  const functionOf = (column) => column.find((item) => item.function !== undefined)?.function;
  for (const column of placed.columns) {
    const name = functionOf(column) ?? bands.at(-1)?.name ?? "";
    const right = column.x + column.width + GAP / 2;
    if (bands.at(-1)?.name === name) bands.at(-1).right = right;
    else bands.push({ name, left: column.x - GAP / 2, right });
  }
  bands.forEach((band, index) => {
    if (index) head.append(drawn("path", { class: "edge", d: `M${band.left},0 V${placed.height}` }));
    const room = Math.floor((band.right - band.left - 12) / 7.3);
    const name = titleOf(band.name);
    const text = name.length > room ? `${name.slice(0, Math.max(1, room - 1))}…` : name;
    const title = drawn("text", { class: "function", x: band.left + 8, y: 17 }, text);
    band.title = title;
    head.append(title);
  });
  placed.bands = bands;
  let line = null;
  for (const column of placed.columns) {
    if (column[0].line === line) continue;
    line = column[0].line;
    const label = drawn("a", { href: `#L${line}`, class: `at ${worstAt(line)}`, tabindex: -1 });
    label.append(drawn("text", { x: column.x + 2, y: 38 }, labels.get(line)));
    head.append(label);
  }
  return head;
}

/* The name of a function stays in sight while any of it is. */
function keepTitles(bands, left) {
  for (const { title, left: begin, right } of bands) {
    const room = right - 8 - widthOf(title.textContent, "600 12px " + MONO);
    title.setAttribute("x", Math.max(begin + 8, Math.min(left + 8, room)));
  }
}

function drawLanes(view) {
  const placed = place(view);
  const size = { width: placed.width, height: placed.height, viewBox: `0 0 ${placed.width} ${placed.height}` };
  const picture = drawn("svg", { ...size, role: "group", "aria-label": "Values and moves" });
  for (const lane of placed.lanes) {
    const box = { x: 0, y: lane.y, width: placed.width, height: lane.height };
    picture.append(drawn("rect", { class: `lane ${colourOf(lane.index)}`, ...box }));
  }
  picture.append(headOf(placed));
  const amounts = placed.edges.map((edge) => (edge.arrow && measured(edge.arrow)?.micros) || 0);
  const heaviest = Math.max(0, ...amounts);
  for (const edge of placed.edges) if (!edge.arrow) picture.append((edge.drawn = edgeOf(edge)));
  for (const edge of placed.edges) if (edge.arrow) picture.append((edge.drawn = edgeOf(edge, heaviest)));
  for (const item of placed.items) picture.append((item.drawn = pillOf(item)));
  const names = made("div", "names");
  names.style.paddingTop = `${HEAD}px`;
  for (const lane of placed.lanes) {
    const name = made("div", colourOf(lane.index), made("span", "", map.lanes[lane.index].name));
    name.style.height = `${lane.height}px`;
    names.append(name);
  }
  const scroller = made("div", "scroller", picture);
  document.getElementById("lanes").replaceChildren(names, made("div", "view", scroller));
  scroller.addEventListener("scroll", () => keepTitles(placed.bands, scroller.scrollLeft));
  return { ...placed, picture, scroller };
}
