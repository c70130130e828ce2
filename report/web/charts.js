// Charts by Observable Plot. Each has a caption, a description for screen readers and its numbers as a table; without the library the
// table is all there is. Colours are CSS variables, so that dark and light need no second drawing.

const kColors = 8;
const kDashes = ["", "7 3", "2 3", "9 3 2 3"];
const have_charts = typeof Plot !== "undefined" && typeof d3 !== "undefined";

// A series keeps its look all over the page: a colour, and from the ninth on a dash as well.
function look_of(index) { return {color: `var(--c${index % kColors})`, dash: kDashes[Math.floor(index / kColors) % kDashes.length]}; }

function svg_element(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function legend(items) {
  return element("ul", {class: "legend"}, items.map(({text, look, symbol}) => element("li", null,
    symbol !== "none" && svg_element("svg", {width: 26, height: 12, "aria-hidden": "true"},
      symbol === "dot" ? svg_element("circle", {cx: 13, cy: 6, r: 4.5, fill: look.color})
      : symbol === "box" ? svg_element("rect", {x: 5, y: 0, width: 16, height: 12, fill: look.color})
      : symbol === "tick" ? svg_element("line", {x1: 13, x2: 13, y1: 0, y2: 12, stroke: look.color, "stroke-width": 2.5, "stroke-dasharray": look.dash})
      : svg_element("line", {x1: 0, x2: 26, y1: 6, y2: 6, stroke: look.color, "stroke-width": 2.5, "stroke-dasharray": look.dash})),
    text)));
}

const redraws = new Set();
let redraw_timer = 0;
addEventListener("resize", () => {
  clearTimeout(redraw_timer);
  redraw_timer = setTimeout(() => { for (const draw of redraws) draw(); }, 150);
});

// A figure: `options(width)` are Plot's, drawn anew when the width changes. `rows` and `columns`: its numbers.
function figure({title, note, provenance, alt, options, items, columns, rows, caption, wide = true}) {
  const place = element("div");
  const made = element("figure", null,
    element("figcaption", null, element("strong", null, title), " ", provenance && provenance_mark(provenance), " ",
            note && element("span", {class: "quiet"}, note)),
    items && have_charts && legend(items), place,
    element("details", {open: !have_charts}, element("summary", null, "The numbers as a table"),
            table(columns, rows, {caption: caption ?? title})));
  if (!have_charts) return made;
  place.style.minHeight = `${options(640).height}px`;  // so that what is below does not jump when it is drawn
  let drawn = 0;
  function draw() {
    const width = Math.max(280, Math.min(place.clientWidth || 640, wide ? 1100 : 560));
    if (!place.isConnected) { redraws.delete(draw); return; }
    if (width === drawn) return;
    drawn = width;
    const own = options(width);
    // Room for the axis' label below its ticks, in this page's larger letters.
    const svg = Plot.plot({className: "chart", width, marginLeft: 48, marginBottom: 44, ...own, marks: own.marks.filter(Boolean), x: {labelOffset: 40, ...own.x}, ariaLabel: title, ariaDescription: alt});
    svg.setAttribute("role", "img");
    place.replaceChildren(svg);
    place.style.minHeight = "";
  }
  redraws.add(draw);
  requestAnimationFrame(draw);
  return made;
}

// "1 µs" on a logarithmic axis, few enough labels for the width.
function time_ticks(low, high, width) {
  const all = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power)
    for (const digit of [1, 2, 5]) all.push(digit * 10 ** power);
  const inside = all.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  const tens = inside.filter((tick) => /^1(e|0*$)/.test(String(tick)) || Number.isInteger(Math.log10(tick)));
  return inside.length * 62 <= width ? inside : tens.length >= 2 ? tens : inside.slice(0, 4);
}

function log_extent(values, around = 1.25) {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  if (positive.length === 0) return [0.1, 10];
  return [Math.min(...positive) / around, Math.max(...positive) * around];
}

// One bar a row, cut into the shares of its parts. rows: [{key, parts: {kind: amount}}], kinds: [{kind, text, color}].
function stacked_figure({title, note, provenance, rows, kinds, label, amount, columns}) {
  const pieces = rows.flatMap((row) => {
    const total = kinds.reduce((sum, {kind}) => sum + (row.parts[kind] ?? 0), 0);
    let from = 0;
    return kinds.filter(({kind}) => row.parts[kind] > 0).map(({kind, text, color}) => {
      const part = row.parts[kind];
      const piece = {key: row.key, text, color, part, from: from / total, to: (from + part) / total};
      from += part;
      return piece;
    });
  });
  const present = kinds.filter(({kind}) => rows.some((row) => row.parts[kind] > 0));
  return figure({
    title, note, provenance,
    alt: rows.map((row) => `${row.key}: ${present.filter(({kind}) => row.parts[kind] > 0).map(({kind, text}) => `${text} ${amount(row.parts[kind])}`).join(", ")}`).join(". "),
    items: present.map(({text, color}) => ({text, look: {color}, symbol: "box"})),
    options: (width) => ({
      height: 72 + 36 * rows.length, marginLeft: 12, marginRight: 24, marginTop: 18,
      x: {label, percent: true, domain: [0, 100]},
      y: {label: null, domain: rows.map((row) => row.key), axis: null},
      marks: [
        Plot.barX(pieces, {x1: "from", x2: "to", y: "key", fill: "color", insetLeft: 0.5, insetRight: 0.5, insetTop: 13, insetBottom: 1, title: (d) => `${d.text}: ${amount(d.part)}`}),
        Plot.text(pieces.filter((d) => (d.to - d.from) * (width - 40) > 7.5 * amount(d.part).length + 4),
                  {x: (d) => (d.from + d.to) / 2, y: "key", text: (d) => amount(d.part), dy: 6, fill: "var(--page)", fontWeight: 600}),
        Plot.text(rows, {x: 0, y: "key", text: (d) => shortened(d.key, Math.floor(width / 7.5)), textAnchor: "start", dy: -12, fill: "currentColor"}),
      ],
    }),
    columns: [
      ...columns,
      ...present.map(({kind, text}) => ({head: text, number: true, value: (row) => row.parts[kind] ?? 0, cell: (row) => amount(row.parts[kind] ?? 0)})),
    ],
    rows,
  });
}
