"use strict";

const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

/* Lists: sorted by the column that was asked for. */
for (const table of document.querySelectorAll("table.lines")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  heads.forEach((head, column) => head.addEventListener("click", () => {
    const isText = head.classList.contains("text");
    const before = head.getAttribute("aria-sort");
    const down = before === "none" ? !isText : before === "ascending";
    const value = row => row.cells[column].dataset.value;
    const order = isText ? (a, b) => value(a).localeCompare(value(b)) : (a, b) => value(a) - value(b);
    body.append(...[...body.rows].sort((a, b) => (down ? -1 : 1) * order(a, b)));
    heads.forEach(each => each.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  }));
}

/* Source: long stretches where nothing happened are folded. */
for (const quiet of document.querySelectorAll("tbody.quiet")) {
  if (quiet.rows.length < 8) continue;
  const number = row => row.querySelector("th").textContent;
  const text = `Show lines ${number(quiet.rows[0])} to ${number(quiet.rows[quiet.rows.length - 1])}`;
  const button = make("button", { type: "button", textContent: text });
  const cells = [...quiet.rows[0].cells].slice(1).map(() => make("td"));
  const fold = make("tbody", { className: "fold" }, make("tr", {}, ...cells, make("td", {}, button)));
  button.addEventListener("click", () => { quiet.hidden = false; fold.remove(); });
  quiet.hidden = true;
  quiet.before(fold);
}

/* The timeline. Times are in microseconds; a mark is [start, length, kind, spot, busy, count, bytes]. */
function timeline(canvas, data) {
  const OVERVIEW = 22, LABEL = 19, BAR = 34, GAP = 9, AXIS = 24, NARROWEST = 5;
  const SHOWN = { sync: "waiting", copy: "copying", index: "CPU indices" };
  const STACKED = ["sync", "copy", "index"].map(kind => data.kinds.indexOf(kind));
  const whole = Math.max(1, data.seconds * 1e6);
  const context = canvas.getContext("2d");
  const height = OVERVIEW + GAP + data.lanes.length * (LABEL + BAR + GAP) + AXIS;
  const all = data.lanes.filter(lane => !lane.device).flatMap(lane => lane.marks);
  let from = 0, until = whole, width = 0, colours = {}, waiting = false;

  const toPixel = time => (time - from) / (until - from) * width;
  const toTime = pixel => from + pixel / width * (until - from);

  function bars(marks, top, tall, start, end, ownScale = false) {
    const busy = data.kinds.map(() => new Float64Array(Math.ceil(width) + 1));
    const scale = width / (end - start);
    for (const [at, length, kind, , spent] of marks) {
      if (at + length < start || at > end) continue;
      const left = (at - start) * scale, right = left + Math.max(length * scale, 1e-9);
      const density = spent * scale / (right - left);
      for (let x = Math.max(0, Math.floor(left)); x <= Math.min(width, Math.floor(right)); x++) {
        busy[kind][x] += density * (Math.min(right, x + 1) - Math.max(left, x));
      }
    }
    const totals = busy[0].map((_, x) => busy.reduce((sum, each) => sum + each[x], 0));
    const most = ownScale ? totals.reduce((a, b) => Math.max(a, b), 1e-9) : 1;
    for (let x = 0; x <= width; x++) {
      const total = totals[x];
      /* What is there is seen, however short it was. */
      const unit = Math.max(2, Math.min(1, total / most) * tall) / total;
      let bottom = top + tall;
      for (const kind of STACKED) {
        if (!busy[kind][x]) continue;
        const part = busy[kind][x] * unit;
        context.fillStyle = colours[data.kinds[kind]];
        context.fillRect(x, bottom - part, 1, part);
        bottom -= part;
      }
    }
  }

  const units = [["s", 1e6], ["ms", 1e3], ["µs", 1]];
  function written(time, step) {
    const [unit, scale] = units.find(([, size]) => step >= size) ?? units[2];
    return `${+(time / scale).toFixed(3)} ${unit}`;
  }

  function axis(top) {
    const rough = (until - from) / Math.max(2, width / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough);
    context.fillStyle = colours.soft;
    context.strokeStyle = colours.line;
    context.beginPath();
    for (let time = Math.ceil(from / step) * step; time <= until; time += step) {
      const x = Math.round(toPixel(time)) + 0.5;
      context.moveTo(x, OVERVIEW + GAP);
      context.lineTo(x, top + 4);
      const text = written(time, step), half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(Math.max(x, half), width - half) - half, top + 17);
    }
    context.stroke();
  }

  function draw() {
    waiting = false;
    const style = getComputedStyle(document.documentElement);
    for (const name of ["sync", "copy", "index", "line", "soft", "ink", "raised", "link"]) {
      colours[name] = style.getPropertyValue(`--${name}`).trim();
    }
    const ratio = window.devicePixelRatio || 1;
    width = canvas.clientWidth;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.height = `${height}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = `12px ${style.getPropertyValue("--text")}`;
    context.fillStyle = colours.raised;
    context.fillRect(0, 0, width, OVERVIEW);
    bars(all, 0, OVERVIEW, 0, whole, true);
    context.strokeStyle = colours.link;
    context.lineWidth = 2;
    const left = from / whole * width, right = until / whole * width;
    if (right - left < width - 1) context.strokeRect(left + 1, 1, Math.max(right - left, 4) - 2, OVERVIEW - 2);
    context.lineWidth = 1;
    context.fillStyle = colours.raised;
    data.lanes.forEach((_, index) => context.fillRect(0, laneTop(index) + LABEL, width, BAR));
    axis(height - AXIS);
    data.lanes.forEach((lane, index) => {
      const top = laneTop(index);
      bars(lane.marks, top + LABEL, BAR, from, until);
      context.fillStyle = colours.soft;
      context.fillText(lane.name, 0, top + 13);
    });
  }

  const laneTop = index => OVERVIEW + GAP + index * (LABEL + BAR + GAP);
  const redraw = () => { if (!waiting) { waiting = true; requestAnimationFrame(draw); } };

  function show(start, length) {
    length = Math.min(whole, Math.max(NARROWEST, length));
    from = Math.min(whole - length, Math.max(0, start));
    until = from + length;
    tip.hidden = true;
    redraw();
  }
  const zoom = (factor, centre = (from + until) / 2) =>
    show(centre - (centre - from) * factor, (until - from) * factor);
  const move = part => show(from + part * (until - from), until - from);

  const tip = make("div", { className: "tip", hidden: true });
  tip.setAttribute("role", "status");
  canvas.after(tip);

  /* The costliest mark within a few pixels of the place. */
  function markAt(x, y) {
    const lane = data.lanes[data.lanes.findIndex((_, index) =>
      y >= laneTop(index) + LABEL && y <= laneTop(index) + LABEL + BAR)];
    if (!lane) return null;
    const low = toTime(x - 3), high = toTime(x + 3);
    return lane.marks.filter(([at, length]) => at <= high && at + length >= low)
      .reduce((best, mark) => !best || mark[4] > best[4] ? mark : best, null);
  }
  const size = bytes => {
    const power = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
    return `${+(bytes / 1000 ** power).toPrecision(3)} ${["B", "kB", "MB", "GB", "TB"][power]}`;
  };
  function describe([at, , kind, spot, busy, count, bytes]) {
    const [file, line, call, source, target] = data.spots[spot] ?? ["many places", 0, "", "", ""];
    const place = line ? `${file.split("/").pop()}:${line}` : file;
    const first = count > 1 ? `${count} × ${SHOWN[data.kinds[kind]]}, longest at ${place}` : place;
    return `${first}\n${call}, ${source} → ${target}\n${written(busy, busy)}, ${size(bytes)}, at ${written(at, 1e6)}`;
  }

  let drag = null;
  canvas.addEventListener("pointerdown", event => {
    canvas.setPointerCapture(event.pointerId);
    drag = { x: event.offsetX, from, moved: false, onOverview: event.offsetY < OVERVIEW };
    if (drag.onOverview) pan(event);
  });
  function pan(event) {
    const length = until - from;
    if (drag.onOverview) show(event.offsetX / width * whole - length / 2, length);
    else show(drag.from - (event.offsetX - drag.x) / width * length, length);
  }
  canvas.addEventListener("pointermove", event => {
    if (drag) {
      if (Math.abs(event.offsetX - drag.x) > 3) drag.moved = true;
      if (drag.moved) pan(event);
      return;
    }
    const mark = markAt(event.offsetX, event.offsetY);
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = describe(mark);
    tip.style.left = `${Math.max(0, Math.min(event.offsetX + 14, width - tip.offsetWidth))}px`;
    tip.style.top = `${event.offsetY + 18}px`;
  });
  canvas.addEventListener("pointerup", event => {
    const mark = drag && !drag.moved && markAt(event.offsetX, event.offsetY);
    drag = null;
    const anchor = mark && data.anchors[mark[3]];
    if (anchor) location.hash = anchor;
  });
  canvas.addEventListener("pointercancel", () => { drag = null; });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("wheel", event => {
    const across = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!event.ctrlKey && !event.metaKey && !across) return;
    event.preventDefault();
    if (across) move(event.deltaX / width);
    else zoom(1.0025 ** event.deltaY, toTime(event.offsetX));
  }, { passive: false });
  canvas.addEventListener("keydown", event => {
    const action = {
      ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), "+": () => zoom(0.5),
      "=": () => zoom(0.5), "-": () => zoom(2), 0: () => show(0, whole), Escape: () => { tip.hidden = true; },
    }[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });

  const button = (text, label, action) => {
    const made = make("button", { type: "button", textContent: text, title: label });
    made.setAttribute("aria-label", label);
    made.addEventListener("click", action);
    return made;
  };
  const used = new Set(data.lanes.flatMap(lane => lane.marks.map(mark => data.kinds[mark[2]])));
  const legend = ["sync", "copy", "index"].filter(kind => used.has(kind))
    .map(kind => make("li", { className: kind, textContent: SHOWN[kind] }));
  canvas.parentElement.before(make("div", { className: "tools" },
    make("ul", { className: "legend" }, ...legend),
    make("div", {},
      button("−", "Zoom out", () => zoom(2)), button("+", "Zoom in", () => zoom(0.5)),
      button("Whole run", "Show the whole run", () => show(0, whole)))));

  new ResizeObserver(redraw).observe(canvas.parentElement);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  draw();
}

const canvas = document.getElementById("timeline");
if (canvas) timeline(canvas, JSON.parse(document.getElementById("timeline-data").textContent));
document.documentElement.dataset.ready = "true";
