// The sections about candidates: leaderboard, distances, the list of all.

function candidate_link(evaluation) { return element("a", {href: `#candidate/${evaluation.id}`}, origin_of(evaluation, 32)); }
function entry_notes(entry) {
  return [entry.reference && `ours: ${entry.reference}`, entry.unranked && `not ranked: ${entry.unranked}`, entry.aided && "aided",
          entry.similar && `nearly ${entry.similar}`, entry.imported && `imported from ${entry.imported}`, entry.why_none !== entry.table.no_speedups && entry.why_none].filter(Boolean).join("; ");
}
function roof_us(one, s) { return one.bounds[s]?.roof_us ?? 0; }

// The whole set as the program ranked it, or one shape of it.
function leaderboard(one, shape) {
  const s = one.shapes.indexOf(shape);
  const rows = one.list.map((entry) => (s < 0
    ? {entry, us: entry.us, speedup: entry.speedup, expert: entry.expert_fraction, roof: entry.roof_fraction}
    : {entry, us: entry.shape_us[s] > 0 ? entry.shape_us[s] : null,
       speedup: entry.shape_us[s] > 0 && one.baseline_us[s] > 0 ? one.baseline_us[s] / entry.shape_us[s] : null,
       expert: entry.shape_us[s] > 0 && one.expert_us[s] > 0 ? one.expert_us[s] / entry.shape_us[s] : null,
       roof: entry.shape_us[s] > 0 && roof_us(one, s) > 0 ? roof_us(one, s) / entry.shape_us[s] : null})).filter((row) => row.us > 0);
  // As the program orders the whole set: the unranked last, the aided behind the others and ranked apart.
  const behind = ({entry}) => (entry.unranked !== "" ? 2 : entry.aided ? 1 : 0);
  if (s >= 0) rows.sort((a, b) => behind(a) - behind(b) || a.us - b.us);
  const ranks = [0, 0];
  for (const row of rows) row.rank = behind(row) < 2 ? ++ranks[behind(row)] : null;
  return rows;
}

function leaderboard_section(doc, state, update) {
  const tables = chosen_tables(doc, state);
  const parts = [element("h2", {id: "leaderboard"}, "Leaderboard")];
  if (tables.length === 0) return [...parts, element("p", null, "No evaluation matches the choices above.")];
  const one = tables.find((other) => doc.tables.indexOf(other) === state.table) ?? tables.find((other) => other.list.some((entry) => entry.us > 0)) ?? tables[0];
  const shape = one.shapes.includes(state.shape) ? state.shape : "";
  const ranked = (other) => other.list.filter((entry) => entry.us > 0).length;
  parts.push(element("div", {class: "controls"},
    choice("Results that may be compared", tables.map((other) => [String(doc.tables.indexOf(other)),
           `${table_title(other)} · ${plural(ranked(other), "candidate")} with a time${other.timing_model ? ` · ${other.timing_model}` : ""}`]),
           String(doc.tables.indexOf(one)), (value) => update({table: Number(value), shape: ""}, "leaderboard")),
    choice("Shape", [["", one.shapes.length === 1 ? one.shapes[0] : "all: geometric mean"], ...(one.shapes.length === 1 ? [] : one.shapes.map((other) => [other, other]))],
           shape, (value) => update({table: doc.tables.indexOf(one), shape: value}, "leaderboard"))));
  parts.push(element("p", {class: "quiet"}, provenance_mark(one.provenance), " ",
    [one.trust.replace(/\.$/, ""), one.toolchain && `Compiler: ${one.toolchain.replace(/\.$/, "")}`].filter(Boolean).map((text) => `${text}. `).join("")));
  if (one.no_speedups) parts.push(element("p", {class: "notice"}, `No speed-ups: ${one.no_speedups}`));
  const rows = leaderboard(one, shape);
  const has = (key) => rows.some((row) => row[key] !== null);
  parts.push(rows.length === 0 ? element("p", null, "No candidate passed with a time.") : table([
    {head: "rank", number: true, value: (row) => (row.rank === null ? null : row.rank + (row.entry.aided ? 1e9 : 0)), cell: (row) => (row.rank === null ? "–" : String(row.rank))},
    {head: "candidate", value: (row) => origin_of(row.entry.evaluation), cell: (row) => candidate_link(row.entry.evaluation), text: true},
    {head: "time", number: true, value: (row) => row.us, cell: (row) => time(row.us)},
    has("speedup") && {head: "speed-up", number: true, largest_first: true, value: (row) => row.speedup, cell: (row) => ratio(row.speedup)},
    has("expert") && {head: "of the expert's speed", number: true, largest_first: true, value: (row) => row.expert, cell: (row) => percent(row.expert)},
    has("roof") && {head: "of the roof", number: true, largest_first: true, value: (row) => row.roof, cell: (row) => percent(row.roof)},
    shape === "" && {head: "SOL score", number: true, largest_first: true, value: (row) => row.entry.sol_score, cell: (row) => share(row.entry.sol_score)},
    {head: "evaluations", number: true, value: (row) => row.entry.count, cell: (row) => String(row.entry.count)},
    {head: "notes", text: true, cell: (row) => entry_notes(row.entry)},
  ].filter(Boolean), rows, {caption: `${table_title(one)}${shape ? `, ${shape}` : one.shapes.length > 1 ? ", geometric mean" : ""}. One line a candidate: its newest evaluation.`,
                            label: "Leaderboard", limit: 20}));
  parts.push(distance_section(one));
  return parts;
}

// For each shape: the candidates' times between the floor, the roof, the expert and the baseline. Floor and roof are computed from the
// shape, the same for everybody: neither modelled nor measured.
function distance_section(one) {
  const rows = one.shapes.map((shape, s) => {
    const ranked = leaderboard(one, shape).filter((row) => row.rank !== null);
    return {shape, times: ranked.map((row) => row.us), best: ranked[0] ?? null, floor: one.bounds[s]?.floor_us ?? 0, roof: roof_us(one, s),
            baseline: one.baseline_us[s] ?? 0, expert: one.expert_us[s] ?? 0};
  });
  const best = rows.filter((row) => row.best !== null);
  if (best.length === 0) return [];
  const kinds = [
    {name: "floor: cannot be beaten", key: "floor", color: "var(--bad)", dash: ""},
    {name: "roof: best published rates", key: "roof", color: "var(--warn)", dash: ""},
    {name: "expert", key: "expert", color: "var(--c3)", dash: "6 2"},
    {name: "baseline", key: "baseline", color: "var(--text)", dash: "2 2"},
  ].filter((kind) => rows.some((row) => row[kind.key] > 0));
  const shown = rows.flatMap((row) => row.times.slice(0, 150).map((us) => ({shape: row.shape, us})));
  const domain = log_extent([...shown.map((dot) => dot.us), ...rows.flatMap((row) => kinds.map((kind) => row[kind.key]))]);
  return [element("h2", {id: "distance"}, "Distance to the roof and to the expert"), figure({
    title: `${one.problem}: time of each shape`, provenance: one.provenance,
    note: "Floor and roof are computed from the shape and the chip's rates. The further left, the faster.",
    alt: best.map((row) => `${row.shape}: best ${time(row.best.us)}, roof ${time(row.roof)}${row.expert > 0 ? `, expert ${time(row.expert)}` : ""}`).join(". "),
    items: [{text: "best candidate", look: {color: "var(--c0)"}, symbol: "dot"}, {text: "other candidates", look: {color: "var(--c7)"}, symbol: "dot"},
            ...kinds.map((kind) => ({text: kind.name, look: kind, symbol: "tick"}))],
    options: (width) => ({
      height: 60 + 40 * rows.length, marginLeft: 12, marginRight: 20, marginTop: 18,
      x: {type: "log", domain, axis: null},
      y: {label: null, domain: rows.map((row) => row.shape), axis: null},
      marks: [
        Plot.axisX(time_ticks(...domain, width), {text: time, label: "time →", labelOffset: 40}),
        Plot.gridX(time_ticks(...domain, width)),
        Plot.text(rows, {x: () => domain[0], y: "shape", text: (row) => shortened(row.shape, Math.floor(width / 7.5)), textAnchor: "start", dy: -13, fill: "currentColor"}),
        Plot.dot(shown, {x: "us", y: "shape", r: 2.5, dy: 5, fill: "var(--c7)", fillOpacity: 0.4}),
        ...kinds.map((kind) => Plot.tickX(rows.filter((row) => row[kind.key] > 0), {x: kind.key, y: "shape", stroke: kind.color, strokeWidth: 2.5, insetTop: 13, insetBottom: 2, strokeDasharray: kind.dash})),
        Plot.dot(best, {x: (row) => row.best.us, y: "shape", r: 5.5, dy: 5, fill: "var(--c0)", stroke: "var(--page)"}),
      ],
    }),
    columns: [
      {head: "shape", cell: (row) => row.shape},
      {head: "best candidate", text: true, cell: (row) => (row.best === null ? "–" : candidate_link(row.best.entry.evaluation))},
      {head: "its time", number: true, value: (row) => row.best?.us ?? null, cell: (row) => time(row.best?.us)},
      {head: "roof", number: true, value: (row) => row.roof, cell: (row) => time(row.roof)},
      {head: "of the roof", number: true, value: (row) => row.best?.roof ?? null, cell: (row) => percent(row.best?.roof ?? null)},
      {head: "floor", number: true, value: (row) => row.floor, cell: (row) => time(row.floor)},
      {head: "expert", number: true, value: (row) => row.expert, cell: (row) => time(row.expert)},
      {head: "of the expert's speed", number: true, value: (row) => row.best?.expert ?? null, cell: (row) => percent(row.best?.expert ?? null)},
      {head: "baseline", number: true, value: (row) => row.baseline, cell: (row) => time(row.baseline)},
    ],
    rows,
  })];
}

function evaluations_section(evaluations) {
  const place = element("div");
  const texts = new Map();
  const text_of = (e) => {
    if (!texts.has(e)) texts.set(e, `${e.id} ${origin_of(e)} ${e.file} ${e.problem} ${e.track} ${e.provenance} ${e.verdict.replaceAll("_", " ")} ${e.reason} ${e.sha}`.toLowerCase());
    return texts.get(e);
  };
  let words = [];
  function fill() {
    const rows = words.length === 0 ? evaluations : evaluations.filter((e) => words.every((word) => text_of(e).includes(word)));
    place.replaceChildren(...table([
      {head: "id", number: true, value: (e) => e.id, cell: (e) => element("a", {href: `#candidate/${e.id}`}, String(e.id))},
      {head: "started", tight: true, value: (e) => e.at, cell: (e) => when(e.at)},
      {head: "problem", value: (e) => e.problem, cell: (e) => e.problem},
      {head: "track", value: (e) => e.track, cell: (e) => e.track},
      {head: "whose", value: origin_of, cell: (e) => origin_of(e, 40), text: true},
      {head: "verdict", value: (e) => e.verdict, cell: (e) => verdict_text(e.verdict)},
      {head: "time", number: true, value: (e) => e.us, cell: (e) => time(e.us)},
      {head: "from", value: (e) => e.provenance, cell: (e) => (e.us > 0 ? provenance_mark(e.provenance) : "")},
      {head: "why", text: true, cell: (e) => shortened([e.unranked, e.reason].filter(Boolean).join("; "), 140)},
    ], rows, {caption: `${plural(rows.length, "evaluation")}; times are geometric means over the shapes of each`, label: "Evaluations", limit: 50, sort: 0, descending: true}));
  }
  fill();
  let timer = 0;
  const input = element("input", {type: "text", oninput: () => {
    clearTimeout(timer);
    timer = setTimeout(() => { words = input.value.toLowerCase().split(/\s+/).filter(Boolean); fill(); }, 120);
  }});
  return [element("h2", {id: "evaluations"}, "All evaluations"),
          element("div", {class: "controls"}, element("label", null, "Search: a file, run, verdict, word of the reason …", element("br"), input)), place];
}
