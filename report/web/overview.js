// The sections about runs: fast_p, trajectories, cost, verdicts.

const kHeadline = [0, 1, 2, 5];

function run_looks(doc) { return new Map(doc.runs.map((run, index) => [run, look_of(index)])); }
function run_items(runs, looks, symbol) {
  return [...new Map(runs.map((run) => [run.run, run])).values()].map((run) => ({text: `${run.run} (${shortened(run.model, 40)})`, look: looks.get(run.run), symbol}));
}
function run_notes(run) {
  return [!run.finished && "unfinished", run.unranked && `not ranked: ${run.unranked}`, run.aided && "aided: an example of the problem was shown",
          run.similar > 0 && `${run.similar} nearly a shipped kernel`, run.without_speedup > 0 && `${run.without_speedup} passed without a speed-up`].filter(Boolean).join("; ");
}
function table_title(one) { return `${one.problem}, ${one.track} track, ${shapes_title(one)}`; }

// `curves`: {run, model, requested, curve}, all of one provenance. They come with their bands; here they are only drawn.
function fast_p_chart(doc, curves, provenance, title, looks, wide) {
  const points = curves.flatMap(({run, curve}) => doc.thresholds.map((p, i) => ({run, p, value: curve.share[i], low: curve.low[i], high: curve.high[i]})));
  const at = (p) => doc.thresholds.indexOf(p);
  const drawn = points.filter((point) => point.p > 0);
  return figure({
    title, provenance, wide,
    note: "Share of the samples asked for that pass and are more than p times as fast as the baseline. Shaded: 95 %, bootstrap over samples.",
    alt: curves.map(({run, curve}) => `${run}: ${kHeadline.map((p) => `${share(curve.share[at(p)])} at p = ${p}`).join(", ")}`).join(". "),
    items: run_items(curves, looks),
    options: (width) => ({
      height: wide ? 320 : 240, marginRight: 16,
      x: {type: "log", label: "p, times as fast as the baseline →", domain: [0.1, 10], ticks: [0.1, 0.2, 0.5, 1, 2, 5, 10], tickFormat: (p) => String(p)},
      y: {domain: [0, 1], label: "↑ share of samples", grid: true, ticks: 5},
      marks: [
        Plot.ruleX([1], {stroke: "currentColor", strokeOpacity: 0.45}),
        Plot.ruleY([0]),
        ...curves.flatMap(({run}) => {
          const look = looks.get(run);
          const own = drawn.filter((point) => point.run === run);
          return [
            Plot.areaY(own, {x: "p", y1: "low", y2: "high", fill: look.color, fillOpacity: 0.16, curve: "step-after"}),
            Plot.lineY(own, {x: "p", y: "value", stroke: look.color, strokeWidth: 2.2, strokeDasharray: look.dash, curve: "step-after"}),
          ];
        }),
        width > 420 && Plot.tip(drawn, Plot.pointerX({x: "p", y: "value", title: (d) => `${shortened(d.run, 40)}\nfast_${number(d.p)} = ${share(d.value)}`})),
      ],
    }),
    columns: [
      {head: "run", cell: (row) => row.run},
      {head: "p", number: true, cell: (row) => String(row.p)},
      {head: "fast_p", number: true, cell: (row) => share(row.value)},
      {head: "95 %", cell: (row) => `${share(row.low)} to ${share(row.high)}${row.degenerate ? " (all alike: says nothing)" : ""}`},
      {head: "samples asked for", number: true, cell: (row) => String(row.requested)},
    ],
    rows: curves.flatMap(({run, requested, curve}) => kHeadline.filter((p) => at(p) >= 0).map((p) =>
      ({run, requested, p, value: curve.share[at(p)], low: curve.low[at(p)], high: curve.high[at(p)], degenerate: curve.degenerate[at(p)]}))),
  });
}

function headlines_part(doc, state, looks) {
  const headlines = doc.headlines.filter((one) => one.provenance === state.provenance);
  if (state.problem !== "" || headlines.length === 0) return [];
  // Means over other problems, tracks or shapes are other numbers: they get charts of their own.
  const kinds = new Map();
  for (const one of headlines) {
    const key = `${one.track} track, ${one.shape_set} shapes of ${one.problems.join(", ")}`;
    kinds.set(key, [...(kinds.get(key) ?? []), one]);
  }
  return [[...kinds].map(([key, own]) => {
    const curves = own.filter((one) => one.curve.share.length > 0).map((one) => ({...one, requested: one.requested.join(" + ")}));
    return curves.length === 0 ? null : fast_p_chart(doc, curves, state.provenance, `fast_p, unweighted mean over the problems: ${key}`, looks, true);
  }), table([
    {head: "run", value: (one) => one.run, cell: (one) => one.run},
    {head: "model", value: (one) => one.model, cell: (one) => one.model, text: true},
    {head: "strategy", value: (one) => one.strategy, cell: (one) => one.strategy},
    {head: "track, shapes", cell: (one) => `${one.track}, ${one.shape_set}`},
    ...kHeadline.map((p) => ({head: `mean fast_${p}`, number: true, largest_first: true, value: (one) => one.mean[p], cell: (one) => share(one.mean[p])})),
    ...[...new Set(headlines.flatMap((one) => one.problems))].map((problem) => ({head: `fast_1 of ${problem}`, number: true, cell: (one) => {
      const at = one.problems.indexOf(problem);
      return at < 0 ? "" : `${share(one.fast_1[at])} of ${one.requested[at]}`;
    }})),
    {head: "cost", number: true, value: (one) => one.usd, cell: (one) => dollars(one.usd)},
    {head: "notes", text: true, cell: run_notes},
  ], headlines, {caption: "Runs over all their problems. Failed and missing samples count in the denominator; samples of different problems are never pooled.", label: "Runs over all problems"})];
}

function runs_section(doc, state, looks) {
  const tables = chosen_tables(doc, state).filter((one) => one.runs.length > 0);
  const parts = [element("h2", {id: "fast-p"}, "How often, and how much faster: fast_p")];
  if (tables.length === 0) return [...parts, element("p", null, "No runs of ", element("code", null, "hipbench generate"), " match the choices above.")];
  parts.push(headlines_part(doc, state, looks));
  parts.push(element("div", {class: "small-multiples"}, tables.map((one) => {
    const curves = one.runs.filter((run) => run.curve.share.length > 0);
    return curves.length === 0 ? null : fast_p_chart(doc, curves, one.provenance, `fast_p on ${table_title(one)}`, looks, false);
  })));
  parts.push(tables.filter((one) => one.no_speedups).map((one) => element("p", {class: "notice"}, `${table_title(one)}: no speed-ups. ${one.no_speedups}`)));
  parts.push(table([
    {head: "run", value: (run) => run.run, cell: (run) => run.run},
    {head: "problem", value: (run) => run.table.problem, cell: (run) => run.table.problem},
    {head: "track, shapes", cell: (run) => `${run.table.track}, ${run.table.shape_set}`},
    {head: "model", value: (run) => run.model, cell: (run) => run.model, text: true},
    {head: "strategy", value: (run) => run.strategy, cell: (run) => run.strategy},
    {head: "passed", number: true, value: (run) => run.passed / run.requested, largest_first: true, cell: (run) => `${run.passed} of ${run.requested}`},
    ...kHeadline.map((p) => ({head: `fast_${p}`, number: true, largest_first: true, value: (run) => run.fast[p], cell: (run) => share(run.fast[p])})),
    {head: "fast_1, 95 % (Wilson)", cell: (run) => (run.fast_1_interval ? `${share(run.fast_1_interval[0])} to ${share(run.fast_1_interval[1])}` : "–")},
    {head: "best speed-up", number: true, largest_first: true, value: (run) => Math.max(0, ...run.speedups), cell: (run) => ratio(Math.max(0, ...run.speedups))},
    {head: "position to the expert, median", number: true, largest_first: true, value: (run) => run.median_position, cell: (run) => number(run.median_position)},
    {head: "cost", number: true, value: (run) => run.usd, cell: (run) => dollars(run.usd)},
    {head: "tokens", number: true, value: (run) => run.tokens, cell: (run) => quantity(run.tokens)},
    {head: "notes", text: true, cell: run_notes},
  ], tables.flatMap((one) => one.runs), {caption: "Every run on every problem. The denominator is the samples asked for: those that are missing count as failed.", label: "Runs"}), draws_section(tables));
  return parts;
}

// What who draws several of a run's samples gets, and how many come near the expert.
function draws_section(tables) {
  const runs = tables.flatMap((one) => one.runs).filter((run) => run.requested > 1);
  if (runs.length === 0) return [];
  const rows = runs.flatMap((run) => run.draws.map(([k, pass, fast_1, best]) => ({run, k, pass, fast_1, best})));
  const near = runs.filter((run) => run.expert_shares.length > 0);
  return [element("details", {open: !have_charts}, element("summary", null, "Several samples: pass@k, fast_1@k, best of k"), table([
    {head: "run", value: (row) => row.run.run, cell: (row) => row.run.run},
    {head: "problem", value: (row) => row.run.table.problem, cell: (row) => row.run.table.problem},
    {head: "k", number: true, value: (row) => row.k, cell: (row) => String(row.k)},
    {head: "pass@k", number: true, largest_first: true, value: (row) => row.pass, cell: (row) => share(row.pass)},
    {head: "fast_1@k", number: true, largest_first: true, value: (row) => row.fast_1, cell: (row) => share(row.fast_1)},
    {head: "best of k", number: true, largest_first: true, value: (row) => row.best, cell: (row) => ratio(row.best)},
  ], rows, {caption: "One of k samples passes, or is faster than the baseline; what the best of k gains over the baseline, geometric mean", label: "Several samples", limit: 40})),
  near.length > 0 && table([
    {head: "run", value: (run) => run.run, cell: (run) => run.run},
    {head: "problem", value: (run) => run.table.problem, cell: (run) => run.table.problem},
    ...[0.25, 0.5, 0.75, 1].map((part, i) => ({head: `above ${part} of the expert`, number: true, largest_first: true, value: (run) => run.expert_shares[i], cell: (run) => share(run.expert_shares[i])})),
    {head: "fast_1_shape", number: true, largest_first: true, value: (run) => run.fast_1_shape, cell: (run) => share(run.fast_1_shape)},
  ], near, {caption: "Shares of the samples asked for that reach parts of the expert's speed; fast_1_shape counts shapes one by one", label: "Near the expert"})];
}

// What others published: shown, never ranked, never divided with what is above.
function published_section(doc, state) {
  const rows = doc.published.filter((one) => state.problem === "" || one.problem === state.problem);
  if (rows.length === 0) return [];
  return [element("h2", {id: "published"}, "Published by others"), element("p", {class: "quiet"}, provenance_mark("published"),
    " Not checked here and not comparable with the above: other machines, compilers and methods."), table([
    {head: "problem", value: (one) => one.problem, cell: (one) => one.problem},
    {head: "shape", value: (one) => one.shape, cell: (one) => one.shape, text: true},
    {head: "time", number: true, value: (one) => one.us, cell: (one) => time(one.us)},
    {head: "whose", value: (one) => one.what, cell: (one) => one.what, text: true},
    {head: "device", value: (one) => one.device, cell: (one) => one.device, text: true},
    {head: "source", value: (one) => one.source, cell: (one) => one.source, text: true},
  ], rows, {caption: plural(rows.length, "published time"), label: "Published times", limit: 50})];
}

// The best speed-up so far, turn by turn, of each sample.
function trajectories_section(doc, state, looks) {
  const tables = chosen_tables(doc, state).filter((one) => one.runs.some((run) => run.turns.some((turn) => turn.turn > 0)));
  if (tables.length === 0) return [];
  return [element("h2", {id: "trajectories"}, "Refinement: the best so far, turn by turn"), tables.map((one) => {
    const turns = one.runs.flatMap((run) => run.turns);
    const medians = one.runs.flatMap(medians_of);
    const positive = turns.filter((turn) => turn.best > 0);
    if (positive.length === 0) return element("p", null, `${table_title(one)}: no turn has a speed-up.`);
    return figure({
      title: `Trajectories on ${table_title(one)}`, provenance: one.provenance,
      note: "Thin: one sample. Thick: the median over the run's samples, from the turn on at which half of them have one that passes.",
      alt: one.runs.map((run) => `${run.run}: ${plural(run.drawn, "sample")}, best ${ratio(Math.max(0, ...run.speedups))}`).join(". "),
      items: run_items(one.runs, looks),
      options: () => ({
        height: 300,
        x: {label: "turn →", ticks: Math.min(12, Math.max(1, ...turns.map((turn) => turn.turn))), tickFormat: (t) => (Number.isInteger(t) ? String(t) : "")},
        y: {type: "log", label: "↑ best speed-up so far", domain: log_extent([1, ...positive.map((turn) => turn.best)]), grid: true, ticks: 6, tickFormat: (v) => number(v)},
        marks: [
          Plot.ruleY([1], {stroke: "currentColor", strokeOpacity: 0.5}),
          ...one.runs.flatMap((run) => {
            const look = looks.get(run.run);
            const own = positive.filter((turn) => turn.run === run);
            return [
              Plot.line(own, {x: "turn", y: "best", z: "sample", stroke: look.color, strokeOpacity: own.length > 400 ? 0.15 : 0.35, curve: "step-after"}),
              Plot.dot(own.filter((turn) => turn.speedup === turn.best), {x: "turn", y: "best", r: 2.2, fill: look.color, fillOpacity: own.length > 400 ? 0.3 : 0.7}),
              Plot.line(medians.filter((m) => m.run === run), {x: "turn", y: "median", stroke: look.color, strokeWidth: 2.8, strokeDasharray: look.dash, curve: "step-after"}),
            ];
          }),
        ],
      }),
      columns: [
        {head: "run", value: (t) => t.run.run, cell: (t) => t.run.run},
        {head: "sample", number: true, value: (t) => t.sample, cell: (t) => String(t.sample)},
        {head: "turn", number: true, value: (t) => t.turn, cell: (t) => (doc.by_id.has(t.evaluation) ? element("a", {href: `#candidate/${t.evaluation}`}, String(t.turn)) : String(t.turn))},
        {head: "step", value: (t) => t.step, cell: (t) => t.step},
        {head: "verdict", value: (t) => t.verdict, cell: (t) => verdict_text(t.verdict)},
        {head: "speed-up", number: true, largest_first: true, value: (t) => t.speedup, cell: (t) => ratio(t.speedup)},
        {head: "best so far", number: true, largest_first: true, value: (t) => t.best, cell: (t) => ratio(t.best)},
      ],
      rows: turns,
    });
  })];
}

function medians_of(run) {
  const samples = new Map();
  for (const turn of run.turns) samples.set(turn.sample, [...(samples.get(turn.sample) ?? []), turn]);
  const last = Math.max(0, ...run.turns.map((turn) => turn.turn));
  const result = [];
  for (let turn = 0; turn <= last; ++turn) {
    // A sample that stopped earlier keeps what it had; one that was never drawn has nothing.
    const bests = [...samples.values()].map((own) => Math.max(0, ...own.filter((one) => one.turn <= turn).map((one) => one.best)));
    while (bests.length < run.requested) bests.push(0);
    bests.sort((a, b) => a - b);
    const median = bests[Math.floor((bests.length - 1) / 2)];
    if (median > 0) result.push({run, turn, median});
  }
  return result;
}

const kSymbols = [["circle", "○"], ["square", "□"], ["triangle", "△"], ["diamond", "◇"], ["star", "☆"], ["cross", "✚"]];

function cost_section(doc, state, looks) {
  const runs = chosen_tables(doc, state).flatMap((one) => one.runs).filter((run) => run.fast[1] !== null);
  if (runs.length === 0) return [];
  const priced = runs.some((run) => run.usd > 0);
  const cost = (run) => (priced ? run.usd : run.tokens) / Math.max(1, run.requested);
  const shown = runs.filter((run) => cost(run) > 0);
  if (shown.length === 0) return [];
  const problems = [...new Set(shown.map((run) => run.table.problem))];
  return [element("h2", {id: "cost"}, "Cost against quality"), figure({
    title: `fast_1 against ${priced ? "US dollars" : "tokens"} a sample`, provenance: state.provenance,
    note: priced ? "Failed requests are included. Prices are those of the run's price table." : "No prices are known for these models, so tokens stand for cost.",
    alt: shown.map((run) => `${run.run} on ${run.table.problem}: ${priced ? dollars(cost(run)) : quantity(cost(run))} a sample, fast_1 ${share(run.fast[1])}`).join(". "),
    items: [...run_items(shown, looks, "dot"), ...problems.map((problem, i) => ({text: `${kSymbols[i % kSymbols.length][1]} ${problem}`, symbol: "none"}))],
    options: () => ({
      height: 300, marginRight: 24,
      x: {type: "log", label: `${priced ? "US dollars" : "tokens"} a sample →`, domain: log_extent(shown.map(cost), 2), ticks: 5, tickFormat: (v) => (priced ? number(v) : quantity(v))},
      y: {domain: [-0.03, 1], label: "↑ fast_1", grid: true, ticks: [0, 0.25, 0.5, 0.75, 1], tickFormat: (v) => v.toFixed(2)},
      marks: [
        Plot.ruleY([0]),
        ...problems.map((problem, i) => Plot.dot(shown.filter((run) => run.table.problem === problem), {
          x: cost, y: (run) => run.fast[1], r: 6, symbol: kSymbols[i % kSymbols.length][0], stroke: (run) => looks.get(run.run).color, strokeWidth: 2,
          title: (run) => `${run.run} on ${problem}`})),
      ],
    }),
    columns: [
      {head: "run", value: (run) => run.run, cell: (run) => run.run},
      {head: "problem", value: (run) => run.table.problem, cell: (run) => run.table.problem},
      {head: "US dollars a sample", number: true, value: (run) => run.usd / run.requested, cell: (run) => dollars(run.usd / run.requested)},
      {head: "tokens a sample", number: true, value: (run) => run.tokens / run.requested, cell: (run) => quantity(run.tokens / run.requested)},
      {head: "fast_0", number: true, largest_first: true, value: (run) => run.fast[0], cell: (run) => share(run.fast[0])},
      {head: "fast_1", number: true, largest_first: true, value: (run) => run.fast[1], cell: (run) => share(run.fast[1])},
      {head: "expected US dollars until one passes", number: true, value: (run) => run.usd_to_pass, cell: (run) => (run.usd_to_pass === null ? "never did" : dollars(run.usd_to_pass))},
      {head: "until one is faster than the baseline", number: true, value: (run) => run.usd_to_fast_1, cell: (run) => (run.usd_to_fast_1 === null ? "never was" : dollars(run.usd_to_fast_1))},
    ],
    rows: runs,
  })];
}

const kVerdictColors = {passed: "c2", wrong_result: "c1", nondeterministic: "c5", crashed: "c4", timed_out: "c3", out_of_memory: "c6", compile_error: "c0", rejected: "c7",
                        sandbox_violation: "bad", cheating: "text", infrastructure: "published"};

function verdicts_section(evaluations) {
  if (evaluations.length === 0) return [];
  const counts = new Map();  // whose → verdict → how many
  for (const evaluation of evaluations) {
    const whose = `${evaluation.turn ? evaluation.turn.run.run : "files"} on ${evaluation.problem}`;
    if (!counts.has(whose)) counts.set(whose, {});
    counts.get(whose)[evaluation.verdict] = (counts.get(whose)[evaluation.verdict] ?? 0) + 1;
  }
  return [element("h2", {id: "verdicts"}, "Verdicts"), stacked_figure({
    title: "How evaluations ended", note: "Shares of the evaluations that match the choices above; counts are inside the bars.", label: "share of evaluations →",
    kinds: Object.entries(kVerdictColors).map(([kind, color]) => ({kind, text: kind.replaceAll("_", " "), color: `var(--${color})`})),
    rows: [...counts].map(([key, parts]) => ({key, parts})), amount: String,
    columns: [{head: "whose", value: (row) => row.key, cell: (row) => row.key}],
  })];
}
