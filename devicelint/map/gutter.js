/* Beside the source: a point where a value gets its name, an arrow where something is moved.
   Each row has a picture of its own, so that it stays beside its line wherever that goes. */

const FIRST = 12;
const MIDDLE = 11;
const narrow = matchMedia("(max-width: 60rem)");
const laneX = (lane) => FIRST + lane * (narrow.matches ? 9 : 16);

function drawGutter(view) {
  for (const old of document.querySelectorAll(".arrows")) old.remove();
  const pictures = new Map();
  const picture = (row) => {
    if (!pictures.has(row)) {
      const made = drawn("svg", { class: "arrows", width: laneX(map.lanes.length), "aria-hidden": "true" });
      pictures.set(row, made);
      row.prepend(made);
    }
    return pictures.get(row);
  };
  for (const [lane, reach] of lives(view)) drawLife(lane, reach, picture);
  for (const node of view.nodes) {
    const row = rowOf(node.line);
    if (node.kind === "choice" || !row) continue;
    const point = { class: `point ${colourOf(node.lane)}`, cx: laneX(node.lane), cy: MIDDLE, r: 4 };
    picture(row).append(drawn("circle", point));
  }
  for (const arrow of view.arrows) {
    const row = rowOf(arrow.line);
    if (row) picture(row).append(crossing(arrow));
  }
}

/* From where values came to a lane down to where they leave it; one line where there are several. */
function lives(view) {
  const found = [];
  const reaches = view.arrows
    .map((arrow) => [arrow.origin, [view.nodes[arrow.source]?.line ?? arrow.since, arrow.line]])
    .filter(([, [from, to]]) => from !== null && from < to)
    .sort(([lane, [from]], [other, [start]]) => lane - other || from - start);
  for (const [lane, [from, to]] of reaches) {
    const last = found.at(-1);
    if (last?.[0] === lane && from <= last[1][1]) last[1][1] = Math.max(to, last[1][1]);
    else found.push([lane, [from, to]]);
  }
  return found;
}

function drawLife(lane, [from, to], picture) {
  const [first, last] = [rowOf(from), rowOf(to)];
  if (!first || !last) return;
  const x = laneX(lane);
  for (let row = first; row; row = row.nextElementSibling) {
    const [y1, y2] = [row === first ? MIDDLE : 0, row === last ? MIDDLE : "100%"];
    picture(row).append(drawn("line", { class: `life ${colourOf(lane)}`, x1: x, x2: x, y1, y2 }));
    if (row === last) return;
  }
}

function crossing(arrow) {
  const [from, to] = [laneX(arrow.origin), laneX(arrow.target)];
  const way = Math.sign(to - from) || 1;
  const lane = arrow.target === hostLane ? arrow.origin : arrow.target;
  const group = drawn("g", { class: `move ${colourOf(lane)}${arrow.is_discarded ? " lost" : ""}` });
  group.dataset.line = arrow.line;
  const tip = narrow.matches ? 5 : 7;
  group.append(drawn("path", { class: "line", d: `M${from},${MIDDLE} H${to - way * tip}` }));
  group.append(drawn("path", { class: "tip", d: `M${to - way},${MIDDLE} l${-way * tip},-4.5 v9 z` }));
  group.append(drawn("circle", { class: `point ${colourOf(arrow.origin)}`, cx: from, cy: MIDDLE, r: 3 }));
  return group;
}
