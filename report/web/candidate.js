// One evaluation of one candidate, whole.

async function candidate_page(doc, id) {
  const evaluation = doc.by_id.get(id);
  if (!evaluation) {
    return [element("h1", null, `There is no evaluation ${id} here`), element("p", null, element("a", {href: "#evaluations"}, "All evaluations"))];
  }
  let details = null, source = null, problem_text = "";
  try {
    details = await details_of(evaluation);
    source = await source_of(evaluation);
  } catch (error) {
    problem_text = `Its long texts cannot be shown: ${error.message}`;
  }
  const shapes = details?.shapes ?? [];
  return [
    element("p", null, element("a", {href: "#evaluations"}, "← all evaluations")),
    element("h1", null, `Evaluation ${id}: ${origin_of(evaluation)}`),
    element("p", null, verdict_text(evaluation.verdict), " · ", evaluation.problem, " · ", `${evaluation.track} track`, " · ", provenance_mark(evaluation.provenance),
            evaluation.us > 0 ? ` · geometric mean ${time(evaluation.us)}` : ""),
    standing_part(evaluation),
    evaluation.unranked && element("p", {class: "notice"}, `Not ranked: ${evaluation.unranked}.`),
    problem_text && element("p", {class: "notice"}, problem_text),
    details?.verdict.reason && element("p", null, details.verdict.reason),
    details?.verdict.evidence && element("pre", {tabindex: 0}, details.verdict.evidence),
    details && shapes_part(doc, evaluation, shapes),
    shapes.map(mismatch_part),
    roofline_part(doc, evaluation, shapes),
    profile_part(shapes),
    kernels_part(details?.kernels ?? []),
    (details?.warnings ?? []).length > 0 && [element("h2", null, "Warnings"), element("ul", null, details.warnings.map((text) => element("li", null, text)))],
    turn_part(doc, evaluation),
    record_part(doc, evaluation, details),
    source_part(doc, evaluation, source),
  ].flat(Infinity).filter(Boolean);
}

// The part of the data sheet's rates that the shape's work and bytes are in that time.
function utilisation(doc, evaluation, shape) {
  const bounds = bounds_of(doc, evaluation.problem, shape.shape);
  if (!bounds || !(shape.time?.us > 0)) return {matrix: null, memory: null};
  return {matrix: bounds.peak_tflops > 0 ? bounds.flops / shape.time.us / 1e6 / bounds.peak_tflops : null, memory: bounds.bytes / shape.time.us / 1e6 / bounds.peak_tbytes};
}

function shapes_part(doc, evaluation, shapes) {
  if (shapes.length === 0) return element("p", {class: "quiet"}, `It came to no shape: it ended in the step "${evaluation.stage}".`);
  const has = (what) => shapes.some(what);
  return [element("h2", null, "Shapes"), table([
    {head: "shape", cell: (s) => s.shape},
    {head: "verdict", cell: (s) => verdict_text(s.verdict.kind)},
    {head: "error/allowed", number: true, value: (s) => s.comparison?.worst_ratio, cell: (s) => number(s.comparison?.worst_ratio ?? null)},
    {head: "rows checked", number: true, cell: (s) => (s.row_count ? (s.checked_rows === s.row_count ? "all" : `${s.checked_rows} of ${s.row_count}`) : "–")},
    {head: "rounds", number: true, cell: (s) => number(s.rounds ?? null)},
    {head: "wave instructions", number: true, value: (s) => s.wave_instructions, cell: (s) => (s.wave_instructions ? quantity(s.wave_instructions) : "–")},
    {head: `time, ${evaluation.provenance}`, number: true, value: (s) => s.time?.us, cell: (s) => time(s.time?.us)},
    {head: "of the roof", number: true, cell: (s) => { const bounds = bounds_of(doc, evaluation.problem, s.shape); return s.time && bounds ? percent(bounds.roof_us / s.time.us) : "–"; }},
    has((s) => s.time?.us > 0) && {head: "of peak FLOPS", number: true, cell: (s) => percent(utilisation(doc, evaluation, s).matrix)},
    has((s) => s.time?.us > 0) && {head: "of peak HBM", number: true, cell: (s) => percent(utilisation(doc, evaluation, s).memory)},
    has((s) => s.time?.noise_floor > 0) && {head: "noise floor (A/A)", number: true, cell: (s) => percent(s.time?.noise_floor ?? null)},
    has((s) => s.verdict.reason) && {head: "why", text: true, cell: (s) => s.verdict.reason},
  ].filter(Boolean), shapes, {label: "Shapes"})];
}

function standing_part(evaluation) {
  const {entry} = evaluation;
  if (!entry) return null;
  const {table: one} = entry;
  return list_of([
    ["speed-up over the baseline", entry.speedup > 0 ? ratio(entry.speedup) : entry.why_none && `none: ${entry.why_none}`],
    ["of the expert's speed", entry.expert_fraction > 0 ? percent(entry.expert_fraction) : ""],
    ["position from the baseline (0) to the expert (1)", entry.position === null ? "" : number(entry.position)],
    ["of the roof", entry.roof_fraction > 0 ? percent(entry.roof_fraction) : ""],
    ["SOL score", entry.sol_score === null ? "" : share(entry.sol_score)],
    ["how sure", entry.us > 0 ? one.trust : ""],
  ]);
}

// The judge's map, lines "row 64  ..37##" after one that says what a sign stands for.
function mismatch_map(shape) {
  const [note, ...lines] = (shape.comparison?.map ?? "").trim().split("\n");
  const rows = lines.map((line) => /^row (\d+) +([.#1-9]+)$/.exec(line)).filter(Boolean).map(([, row, signs]) => ({row, signs}));
  if (rows.length === 0) return null;
  const step = Number(/ x (\d+) column/.exec(note)?.[1] ?? 1);
  const wrong = (sign) => (sign === "." ? 0 : sign === "#" ? 1 : Number(sign) / 10);
  const cells = rows.flatMap(({row, signs}) => [...signs].map((sign, i) => ({row, column: i * step, wrong: wrong(sign)})));
  const most = Math.max(1, Math.ceil(rows[0].signs.length / 8));
  return figure({
    title: `Where ${shape.comparison.output} is wrong at ${shape.shape}`, note: "The stronger the colour, the more of it is wrong; the rows are those that were compared.",
    alt: shape.comparison.pattern || "see the table", wide: false,
    options: () => ({
      height: 70 + 13 * rows.length, marginLeft: 56,
      x: {label: "column →", domain: [...rows[0].signs].map((_, i) => i * step), tickFormat: (v) => ((v / step) % most === 0 ? String(v) : ""), tickSize: 0, padding: 0.05},
      y: {label: "row", domain: rows.map((one) => one.row), tickSize: 0, padding: 0.05},
      marks: [
        Plot.cell(cells, {x: "column", y: "row", fill: "var(--chip)"}),
        Plot.cell(cells.filter((cell) => cell.wrong > 0), {x: "column", y: "row", fill: "var(--bad)", fillOpacity: (cell) => 0.25 + 0.75 * cell.wrong}),
      ],
    }),
    columns: [{head: "from row", cell: (one) => one.row}, {head: "signs", cell: (one) => element("code", null, one.signs)}],
    rows, caption: note,
  });
}

function mismatch_part(shape) {
  const c = shape.comparison;
  const evidence = shape.verdict.evidence;
  if (shape.verdict.kind === "passed" || (!c && !evidence)) return null;
  return [element("h3", null, `What is wrong at ${shape.shape}`),
    c && list_of([
      ["output", c.output],
      ["wrong elements", `${c.mismatches.toLocaleString("en")} of ${c.elements.toLocaleString("en")} compared (${percent(c.mismatches / c.elements)})`],
      ["not finite", c.non_finite > 0 ? c.non_finite.toLocaleString("en") : ""],
      ["never written", c.untouched > 0 ? c.untouched.toLocaleString("en") : ""],
      ["what they have in common", c.pattern],
      ["worst element", c.worst ? `row ${c.worst.row}, column ${c.worst.column}: got ${number(c.worst.got, 6)}, expected ${number(c.worst.expected, 6)}, error ${number(c.worst.error)} where ${number(c.worst.allowed)} is allowed` : ""],
    ]),
    c && mismatch_map(shape),
    evidence && element("pre", {tabindex: 0}, evidence)];
}

// MI300X (docs/measurement.md, "Floors and roofs"): best published rates. The problem says which matrix rate is its own.
function roofline_part(doc, evaluation, shapes) {
  const points = shapes.filter((s) => s.time?.us > 0 && bounds_of(doc, evaluation.problem, s.shape)).map((s) => {
    const bounds = bounds_of(doc, evaluation.problem, s.shape);
    return {shape: s.shape, intensity: bounds.flops / bounds.bytes, tflops: bounds.flops / s.time.us / 1e6, bounds,
            peak: bounds.flops / bounds.matrix_roof_us / 1e6, bandwidth: bounds.bytes / bounds.memory_roof_us / 1e6};
  }).filter((point) => point.intensity > 0 && Number.isFinite(point.tflops) && point.tflops > 0);
  if (points.length === 0) return null;
  const [{peak, bandwidth}] = points;
  const x = log_extent([...points.map((p) => p.intensity), peak / bandwidth], 2.5);
  const y = log_extent([...points.map((p) => p.tflops), peak], 2);
  const roof = [x[0], peak / bandwidth, x[1]].filter((v) => v >= x[0] && v <= x[1]).map((intensity) => ({intensity, tflops: Math.min(peak, intensity * bandwidth)}));
  return [element("h2", null, "Roofline"), figure({
    title: "Work a second against work a byte", provenance: evaluation.provenance,
    note: `Work and bytes are the least that the problem needs. Roof: ${number(peak)} TFLOPS and ${number(bandwidth)} TB/s, the best published rates.`,
    alt: points.map((p) => `${p.shape}: ${number(p.intensity)} FLOP a byte, ${number(p.tflops)} TFLOPS, roof ${number(Math.min(peak, p.intensity * bandwidth))} TFLOPS`).join(". "),
    items: [{text: "roof", look: {color: "var(--warn)", dash: ""}}, {text: "this candidate, one dot a shape", look: {color: "var(--c0)"}, symbol: "dot"}],
    options: (width) => ({
      height: 300, marginRight: 24, marginLeft: 56,
      x: {type: "log", domain: x, label: "FLOP a byte →", ticks: width > 500 ? 6 : 3, tickFormat: (v) => number(v, 1)},
      y: {type: "log", domain: y, label: "↑ TFLOPS", ticks: 6, grid: true, tickFormat: (v) => number(v, 1)},
      marks: [
        Plot.line(roof, {x: "intensity", y: "tflops", stroke: "var(--warn)", strokeWidth: 2.2}),
        Plot.ruleX(points, {x: "intensity", y1: "tflops", y2: (p) => Math.min(peak, p.intensity * bandwidth), stroke: "var(--c0)", strokeDasharray: "2 3"}),
        Plot.dot(points, {x: "intensity", y: "tflops", r: 5, fill: "var(--c0)", title: (p) => p.shape}),
      ],
    }),
    columns: [
      {head: "shape", cell: (p) => p.shape},
      {head: "FLOP a byte", number: true, value: (p) => p.intensity, cell: (p) => number(p.intensity)},
      {head: "TFLOPS", number: true, value: (p) => p.tflops, cell: (p) => number(p.tflops)},
      {head: "roof, TFLOPS", number: true, value: (p) => Math.min(peak, p.intensity * bandwidth), cell: (p) => number(Math.min(peak, p.intensity * bandwidth))},
    ],
    rows: points,
  })];
}

const kClasses = ["mfma", "valu", "salu", "vmem", "lds", "smem", "branch", "other"];
const kCauses = ["executing", "issue", "mfma", "lds_latency", "lds_throughput", "memory_latency", "memory_throughput", "barrier", "instruction_fetch"];
const kMostBars = 24;

// Counters are exact on the emulated device: executed instructions, no time. Where the time goes is the timing model's word.
function profile_part(shapes) {
  const launches = shapes.flatMap((s) => (s.launches ?? []).map((launch, i) => ({...launch, shape: s.shape, key: `${s.shape} · ${i + 1} ${launch.kernel}`, parts: launch.counters})));
  if (launches.length === 0) return null;
  const rest = launches.length > kMostBars ? ` The first ${kMostBars} launches of ${launches.length}.` : "";
  const modelled = launches.filter((launch) => launch.modelled).map((launch) => ({...launch, parts: launch.modelled.shares}));
  return [element("h2", null, "Profile"),
    modelled.length > 0 && stacked_figure({
      title: "What the waves' time goes into", provenance: "modelled", note: `Doing, or waiting for.${rest}`, label: "share of the waves' time →", rows: modelled.slice(0, kMostBars),
      kinds: kCauses.map((kind, index) => ({kind, text: kind.replaceAll("_", " "), color: index < 8 ? `var(--c${[2, 5, 0, 3, 4, 1, 7, 6][index]})` : "var(--text)"})), amount: percent,
      columns: [
        {head: "launch", cell: (l) => l.key, text: true},
        {head: "alone on an idle chip", number: true, value: (l) => l.modelled.us, cell: (l) => time(l.modelled.us)},
        {head: "of it the kernel", number: true, value: (l) => l.modelled.kernel_us, cell: (l) => time(l.modelled.kernel_us)},
        ...["mfma", "valu", "lds", "vector_memory"].map((unit) => ({head: `${unit.replace("_", " ")} busy`, number: true, value: (l) => l.modelled.busy[unit], cell: (l) => percent(l.modelled.busy[unit])})),
        {head: "L1 hits", number: true, value: (l) => l.modelled.l1_hit_rate, cell: (l) => percent(l.modelled.l1_hit_rate)},
        {head: "L2 hits", number: true, value: (l) => l.modelled.l2_hit_rate, cell: (l) => percent(l.modelled.l2_hit_rate)},
        {head: "beyond L2", number: true, value: (l) => l.modelled.bytes_beyond_l2, cell: (l) => bytes(l.modelled.bytes_beyond_l2)},
      ],
    }),
    modelled.length > 0 && hints_part(modelled),
    stacked_figure({
      title: "Executed wave instructions by class", note: `Of the timed call, counted exactly; no times.${rest}`, label: "share of wave instructions →", rows: launches.slice(0, kMostBars),
      kinds: kClasses.map((kind, index) => ({kind, text: kind, color: `var(--c${index})`})), amount: quantity,
      columns: [
        {head: "launch", cell: (l) => l.key, text: true},
        {head: "grid", cell: (l) => l.grid.join("×")},
        {head: "block", cell: (l) => l.block.join("×")},
        {head: "LDS, dynamic", number: true, cell: (l) => kibibytes(l.dynamic_lds_bytes)},
        {head: "wave instructions", number: true, value: (l) => l.counters.wave_instructions, cell: (l) => quantity(l.counters.wave_instructions)},
        {head: "MFMA FLOP", number: true, value: (l) => l.counters.mfma_flops, cell: (l) => quantity(l.counters.mfma_flops)},
        {head: "read", number: true, value: (l) => l.counters.bytes_read, cell: (l) => bytes(l.counters.bytes_read)},
        {head: "written", number: true, value: (l) => l.counters.bytes_written, cell: (l) => bytes(l.counters.bytes_written)},
      ],
    })];
}

function hints_part(launches) {
  const lines = launches.flatMap((launch) => launch.modelled.hot_lines.map((line) => ({...line, key: launch.key})));
  const changes = launches.flatMap((launch) => launch.modelled.changes.map((change) => ({...change, key: launch.key})));
  return [
    changes.length > 0 && [element("h3", null, "What would help most"), table([
      {head: "launch", cell: (c) => c.key, text: true},
      {head: "without", cell: (c) => c.without.replaceAll("_", " ")},
      {head: "gains at most", number: true, value: (c) => c.gain_us_at_most, cell: (c) => time(c.gain_us_at_most)},
      {head: "how", cell: (c) => c.advice, text: true},
    ], changes, {caption: "By the timing model", label: "What would help most", limit: 20})],
    lines.length > 0 && [element("h3", null, "Hottest lines"), table([
      {head: "launch", cell: (l) => l.key, text: true},
      {head: "line", cell: (l) => l.source || "without a line", text: true},
      {head: "share of the waves' time", number: true, value: (l) => l.share, cell: (l) => percent(l.share)},
      {head: "mostly", cell: (l) => l.cause.replaceAll("_", " ")},
    ], lines, {caption: "By the timing model", label: "Hottest lines", limit: 20})],
  ];
}

function kernels_part(kernels) {
  if (kernels.length === 0) return null;
  return [element("h2", null, "Compiled kernels"), table([
    {head: "kernel", cell: (k) => k.name, text: true},
    {head: "VGPRs", number: true, value: (k) => k.vgprs, cell: (k) => String(k.vgprs)},
    {head: "of them AGPRs", number: true, value: (k) => k.agprs, cell: (k) => String(k.agprs)},
    {head: "SGPRs", number: true, value: (k) => k.sgprs, cell: (k) => String(k.sgprs)},
    {head: "spilled", number: true, value: (k) => k.vgpr_spills + k.sgpr_spills, cell: (k) => String(k.vgpr_spills + k.sgpr_spills)},
    {head: "LDS, static", number: true, value: (k) => k.lds_bytes, cell: (k) => kibibytes(k.lds_bytes)},
    {head: "scratch a work-item", number: true, value: (k) => k.scratch_bytes, cell: (k) => kibibytes(k.scratch_bytes)},
  ], kernels, {label: "Compiled kernels"})];
}

function turn_part(doc, evaluation) {
  const {turn} = evaluation;
  if (!turn) return null;
  const own = turn.run.turns.filter((one) => one.sample === turn.sample).sort((a, b) => a.turn - b.turn);
  const link = (number_of) => {
    const other = own.find((one) => one.turn === number_of);
    return other && doc.by_id.has(other.evaluation) ? element("a", {href: `#candidate/${other.evaluation}`}, `turn ${number_of}`) : `turn ${number_of}`;
  };
  return [element("h2", null, "Where it comes from"), list_of([
    ["run", turn.run.run], ["model", turn.run.model], ["strategy", turn.run.strategy], ["step", turn.step],
    ["changed", turn.parent === null ? "" : link(turn.parent)], ["combined with", turn.partner === null ? "" : link(turn.partner)],
    ["cost", `${dollars(turn.usd)}, ${quantity(turn.tokens)} tokens`], ["aided", turn.run.aided ? "an example of the same problem was shown" : ""],
    ["nearly the same as", evaluation.entry?.similar],
    ["the sample's turns", own.map((one, index) => [index > 0 && ", ", one === turn ? element("strong", null, String(one.turn)) : link(one.turn)])],
  ])];
}

function record_part(doc, evaluation, details) {
  return [element("h2", null, "Record"), list_of([
    ["file", evaluation.file], ["SHA-256 of the source", element("code", null, evaluation.sha)], ["started", when(evaluation.at)],
    ["device", details?.device], ["seed", details?.seed], ["shapes asked for", evaluation.shape_set],
    ["toolchain", details?.toolchain], ["timing model", details?.shapes.find((s) => s.time?.model)?.time.model], ["hipbench", details?.hipbench_version],
    ["took", details ? `${number(details.total_seconds)} s, of it compiling ${number(details.compile_seconds)} s${details.compile_was_cached ? " (cached)" : ""}` : ""],
    ["the same again", element("code", null, `hipbench replay ${evaluation.id} --db ${doc.database}`)],
  ])];
}

function source_part(doc, evaluation, source) {
  const head = element("h2", null, "Source");
  if (source === null) {
    return [head, element("p", null, "It is not in this page, which keeps the sources of the best candidates and of as many others as fit. From the database: ",
                          element("code", null, `sqlite3 ${doc.database} "SELECT text FROM sources WHERE sha256 = '${evaluation.sha}'"`))];
  }
  const lines = source.replace(/\n$/, "").split("\n");
  return [head, element("pre", {class: "source", tabindex: 0, "aria-label": "Source of the candidate"},
                        element("span", {class: "lines", "aria-hidden": "true"}, lines.map((_, index) => index + 1).join("\n")), element("code", null, lines.join("\n")))];
}
