// The document that the page carries, as objects. All numbers are the program's (results/metrics.hpp); the page only arranges them.
// Long texts (sources, evidence, counters) are in packs: zlib, base64, JSON; unpacked when a candidate is opened.

function rows_of(columns, words, doc) {
  const names = Object.keys(columns);
  return columns[names[0]].map((_, i) => Object.fromEntries(names.map((name) =>
    [name, words.includes(name) ? (columns[name][i] === null ? "" : doc.strings[columns[name][i]]) : columns[name][i]])));
}

function read_document(text) {
  const doc = JSON.parse(text);
  doc.list = rows_of(doc.evaluations, ["problem", "track", "provenance", "file", "sha", "verdict", "reason", "stage", "shape_set", "unranked"], doc);
  doc.by_id = new Map(doc.list.map((evaluation) => [evaluation.id, evaluation]));
  doc.bounds_by_shape = new Map(doc.bounds.map((one) => [`${one.problem}\n${one.shape}`, {...one, roof_us: Math.max(one.matrix_roof_us, one.memory_roof_us)}]));
  doc.runs = [];
  for (const table of doc.tables) {
    table.bounds = table.shapes.map((shape) => bounds_of(doc, table.problem, shape));
    table.list = rows_of(table.entries, ["why_none", "unranked", "similar", "reference", "imported"], doc);
    table.list.forEach((entry, i) => {
      entry.table = table;
      entry.evaluation = doc.by_id.get(entry.evaluation);
      entry.shape_us = table.shapes.map((_, s) => table.entry_shape_us[i * table.shapes.length + s]);
      if (entry.evaluation) entry.evaluation.entry = entry;
    });
    table.list = table.list.filter((entry) => entry.evaluation);
    for (const run of table.runs) {
      run.table = table;
      run.turns = rows_of(run.turns, ["step", "verdict", "rung", "answer"], doc);
      for (const turn of run.turns) {
        turn.run = run;
        if (doc.by_id.has(turn.evaluation)) doc.by_id.get(turn.evaluation).turn = turn;
      }
      if (!doc.runs.includes(run.run)) doc.runs.push(run.run);
    }
  }
  doc.runs.sort();
  return doc;
}

// Floor and roofs of a shape, computed from it; null where its problem is unknown to the program.
function bounds_of(doc, problem, shape) { return doc.bounds_by_shape.get(`${problem}\n${shape}`) ?? null; }

const unpacked = new Map();

async function unpack(index) {
  if (!unpacked.has(index)) {
    if (typeof DecompressionStream === "undefined") {
      throw new Error("this browser cannot unpack the page's long texts; Chrome 80, Firefox 113, Safari 16.4 and newer ones can");
    }
    const packed = atob(document.getElementById(`pack-${index}`).textContent.trim());
    const stream = new Blob([Uint8Array.from(packed, (c) => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("deflate"));
    unpacked.set(index, JSON.parse(await new Response(stream).text()));
  }
  return unpacked.get(index);
}

async function details_of(evaluation) { return (await unpack(evaluation.pack))[String(evaluation.id)] ?? null; }
async function source_of(evaluation) { return evaluation.source_pack === null ? null : (await unpack(evaluation.source_pack))[evaluation.sha] ?? null; }

// Who made it: a run's sample and turn, or the file.
function origin_of(evaluation, most = Infinity) {
  const {turn} = evaluation;
  return turn ? `${shortened(turn.run.run, most)}, sample ${turn.sample}, turn ${turn.turn}` : shortened(evaluation.file, 2 * most);
}

function shapes_title(table) {
  const set = ["quick", "tests", "benchmarks"].includes(table.shape_set) ? `${table.shape_set}: ` : "";
  return set + (table.shapes.length === 1 ? table.shapes[0] : plural(table.shapes.length, "shape"));
}

// Tables that the choices at the top leave.
function chosen_tables(doc, state) {
  return doc.tables.filter((one) => one.provenance === state.provenance && (state.problem === "" || one.problem === state.problem));
}
