// What is shown: the overview, or the candidate that the address's fragment names (#candidate/12).

const doc = read_document(document.getElementById("document").textContent);
const main = document.getElementById("main");
const looks = run_looks(doc);

const state = first_state();

// Provenances are never mixed: one is chosen, and what it leaves out is said.
function first_state() {
  const timed = doc.tables.filter((one) => one.list.some((entry) => entry.us > 0));
  const provenance = ["measured", "modelled"].find((one) => timed.some((other) => other.provenance === one)) ?? doc.tables[0]?.provenance ?? "modelled";
  return {problem: "", provenance, table: -1, shape: ""};
}

function overview() {
  const provenances = [...new Set(doc.list.map((evaluation) => evaluation.provenance))];
  const problems = [...new Set([...doc.list, ...doc.published].map((one) => one.problem))].sort();
  const evaluations = doc.list.filter((e) => e.provenance === state.provenance && (state.problem === "" || e.problem === state.problem));
  const parts = [
    element("h1", null, "Results"),
    notices(provenances),
    element("nav", {"aria-label": "Sections"}, element("ul", null,
      [["fast-p", "fast_p"], ["leaderboard", "Leaderboard"], ["distance", "Distance to roof and expert"], ["trajectories", "Refinement"], ["cost", "Cost"],
       ["verdicts", "Verdicts"], ["published", "Published by others"], ["evaluations", "All evaluations"]]
        .filter(([id]) => id !== "published" || doc.published.length > 0).map(([id, text]) => element("li", null, element("a", {href: `#${id}`}, text))))),
    element("div", {class: "controls"},
      choice("Problem", [["", "all"], ...problems.map((one) => [one, one])], state.problem, (value) => update({problem: value, table: -1, shape: ""})),
      choice("Times", provenances.map((one) => [one, one]), state.provenance, (value) => update({provenance: value, table: -1, shape: ""}))),
  ];
  if (doc.list.length === 0) {
    parts.push(element("p", null, "There are no evaluations in this database yet. ", element("code", null, "hipbench eval FILE --problem ID"), " makes one."));
  } else {
    parts.push(runs_section(doc, state, looks), leaderboard_section(doc, state, update), trajectories_section(doc, state, looks), cost_section(doc, state, looks),
               verdicts_section(evaluations));
  }
  parts.push(published_section(doc, state), doc.list.length > 0 ? evaluations_section(evaluations) : []);
  return parts.flat(Infinity).filter(Boolean);
}

function notices(provenances) {
  return [
    provenances.length > 1 && element("p", {class: "notice"}, "This database has modelled and measured times. They are never in one table, chart or ratio: choose which to see."),
    state.provenance === "modelled" && element("p", {class: "quiet"}, provenance_mark("modelled"),
      " Times here come from the timing model of the emulated MI300X, not from a GPU. docs/timing-model.md says how far to trust them."),
    !have_charts && element("p", {class: "notice"}, "There are no charts: the chart libraries were not there when this hipbench was built. All numbers are in the tables. " +
      "For charts run scripts/setup with a network, then scripts/build, and make the page again."),
  ];
}

function update(changes, focus_section = null) {
  Object.assign(state, changes);
  const top = scrollY;
  show(overview(), "hipbench report");
  scrollTo(0, top);
  if (focus_section) document.getElementById(focus_section)?.scrollIntoView();
}

function show(parts, title) {
  document.title = title;
  main.replaceChildren(...parts);
}

// Where the reader left the overview for a candidate, to go back to.
let left = null;
main.addEventListener("click", (event) => {
  if (main.querySelector("#evaluations") && event.target.closest("a[href^='#candidate/']")) left = {hash: location.hash, top: scrollY};
});

async function route() {
  const fragment = decodeURIComponent(location.hash.slice(1));
  const candidate = /^candidate\/(\d+)$/.exec(fragment);
  if (candidate) {
    const id = Number(candidate[1]);
    const parts = await candidate_page(doc, id);
    if (location.hash.slice(1) !== fragment) return;  // another one was asked for meanwhile
    show(parts, `Evaluation ${id} · hipbench report`);
    main.focus({preventScroll: true});
    scrollTo(0, 0);
    return;
  }
  if (!main.querySelector("#evaluations") || fragment === "") show(overview(), "hipbench report");
  if (left !== null && left.hash === location.hash) {
    scrollTo(0, left.top);
    left = null;
    return;
  }
  if (fragment !== "" && fragment !== "overview") document.getElementById(fragment)?.scrollIntoView();
}

// A page that `hipbench serve` gave asks now and then whether there is more; it is never changed under the reader's eyes.
function watch() {
  const news = document.getElementById("news");
  let failures = 0;
  async function ask() {
    try {
      const answer = await fetch("revision", {cache: "no-store"});
      if (!answer.ok) throw new Error(String(answer.status));
      failures = 0;
      const revision = (await answer.text()).trim();
      news.replaceChildren(...(revision === doc.live.revision ? [] : [
        "There are new results. ", element("button", {type: "button", onclick: () => location.reload()}, "Show them")]));
    } catch {
      if (++failures === 3) news.replaceChildren("hipbench serve does not answer any more; this page shows what was there before.");
    }
    setTimeout(ask, 5000);
  }
  setTimeout(ask, 5000);
}

document.getElementById("origin").textContent =
  `${doc.database}, ${plural(doc.list.length, "evaluation")}, ${plural(doc.runs.length, "run")}; made ${when(doc.generated_at)} by hipbench ${doc.hipbench_version}`;
document.getElementById("made-by").textContent = have_charts
  ? `Charts: Observable Plot ${Plot.version} with D3 ${d3.version}, ISC licence. Nothing in this page is loaded from elsewhere.`
  : "Nothing in this page is loaded from elsewhere.";
document.getElementById("licences").hidden = !have_charts;
document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
addEventListener("hashchange", route);
route();
if (doc.live) watch();
// How long the reader waited, charts included: the time since the page was asked for.
requestAnimationFrame(() => requestAnimationFrame(() => { document.documentElement.dataset.drawnMilliseconds = String(Math.round(performance.now())); }));
