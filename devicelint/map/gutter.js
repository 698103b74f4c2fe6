/* Beside the source: a point where a value gets its name, an arrow where something is moved. */

const STEP = 16;
const FIRST = 12;
const laneX = (lane) => FIRST + lane * STEP;

function drawGutter(view) {
  const list = document.querySelector(".source");
  list.querySelector("svg")?.remove();
  const middles = new Map();
  const middle = (line) => {
    const row = rowOf(line);
    if (!middles.has(line) && row) middles.set(line, row.offsetTop + 11);
    return middles.get(line);
  };
  const width = FIRST + STEP * map.lanes.length;
  const size = { class: "arrows", width, height: list.scrollHeight, "aria-hidden": "true" };
  const picture = drawn("svg", size);
  for (const arrow of view.arrows) picture.append(...lifeOf(arrow, view, middle));
  for (const node of view.nodes) {
    const y = middle(node.line);
    if (node.kind === "choice" || y === undefined) continue;
    picture.append(drawn("circle", { class: `point ${colourOf(node.lane)}`, cx: laneX(node.lane), cy: y, r: 4 }));
  }
  for (const arrow of view.arrows) {
    const y = middle(arrow.line);
    if (y !== undefined) picture.append(crossing(arrow, y));
  }
  list.prepend(picture);
}

/* Down the lane from where a value came there to where it leaves. */
function lifeOf(arrow, view, middle) {
  const [from, to] = [view.nodes[arrow.source]?.line ?? arrow.since, arrow.line];
  if (from === null || from >= to || middle(from) === undefined) return [];
  const x = laneX(arrow.origin);
  return [drawn("path", { class: `life ${colourOf(arrow.origin)}`, d: `M${x},${middle(from)} V${middle(to)}` })];
}

function crossing(arrow, y) {
  const [from, to] = [laneX(arrow.origin), laneX(arrow.target)];
  const way = Math.sign(to - from) || 1;
  const lane = arrow.target === hostLane ? arrow.origin : arrow.target;
  const group = drawn("g", { class: `move ${colourOf(lane)}${arrow.is_discarded ? " lost" : ""}` });
  group.dataset.line = arrow.line;
  group.append(drawn("path", { class: "line", d: `M${from},${y} H${to - way * 7}` }));
  group.append(drawn("path", { class: "tip", d: `M${to - way},${y} l${-way * 7},-4.5 v9 z` }));
  group.append(drawn("circle", { class: `point ${colourOf(arrow.origin)}`, cx: from, cy: y, r: 3 }));
  return group;
}
