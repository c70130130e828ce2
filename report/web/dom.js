// Making elements and writing numbers. Text from the database only ever becomes a text node or an attribute of those below: nothing
// here parses HTML.

const kSafeAttributes = new Set(["id", "class", "href", "for", "type", "value", "role", "tabindex", "scope", "open", "disabled", "placeholder",
  "aria-label", "aria-sort", "aria-live", "aria-hidden", "colspan", "selected", "title", "lang"]);

// element("a", {href: "#x", onclick: f}, "text", child, [children])
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (!kSafeAttributes.has(key)) throw new Error(`attribute ${key}`);
    else if (key === "href" && !String(value).startsWith("#")) throw new Error("links stay inside the page");
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

// Three significant digits, however large or small.
function number(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-4) return value.toExponential(digits - 1);
  return value.toLocaleString("en", {maximumSignificantDigits: Math.max(digits, Math.min(15, Math.ceil(Math.log10(size + 1)))), useGrouping: false});
}

function quantity(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const units = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [size, unit] of units) if (Math.abs(value) >= size) return `${number(value / size)} ${unit}`;
  return number(value);
}

function bytes(value) { return value >= 1000 ? `${quantity(value)}B` : value >= 0 ? `${value} B` : "–"; }
function kibibytes(value) { return value >= 1024 ? `${number(value / 1024)} KiB` : `${value} B`; }

function time(us) {
  if (!(us > 0)) return "–";
  if (us >= 1e6) return `${number(us / 1e6)} s`;
  if (us >= 1e3) return `${number(us / 1e3)} ms`;
  return `${number(us)} µs`;
}

function ratio(value) { return value > 0 ? `${number(value)}×` : "–"; }
function percent(value) { return value === null || value === undefined || !Number.isFinite(value) ? "–" : `${number(100 * value)} %`; }
function share(value) { return value === null || value === undefined ? "–" : value.toFixed(3); }
function dollars(value) { return value === null || value === undefined ? "–" : `$${number(value)}`; }
function when(text) { return text.replace("T", " ").replace(/(:\d\d)(\.\d+)?Z$/, "$1 UTC"); }
function shortened(text, length) { return text.length > length ? `${text.slice(0, length - 1)}…` : text; }
function plural(count, one, many = `${one}s`) { return `${count.toLocaleString("en")} ${count === 1 ? one : many}`; }

// A verdict or provenance is never told by colour alone: the word is always there.
function verdict_text(kind) {
  return element("span", {class: kind === "passed" ? "passed" : kind === "infrastructure" || kind === "" ? "unsure" : "failed"},
                 kind === "" ? "none" : kind.replaceAll("_", " "));
}
function provenance_mark(provenance) {
  const word = provenance === "instructions" ? "wave instructions, no time" : provenance;
  return element("span", {class: `provenance ${["modelled", "measured", "published", "instructions"].includes(provenance) ? provenance : ""}`}, word);
}

// columns: [{head, number, value(row) for sorting, cell(row), text}]. More rows than `limit` come with a button.
function table(columns, rows, {caption, label, limit = 100, sort = null, descending = false} = {}) {
  const body = element("tbody");
  const state = {sort, descending, shown: limit};
  const heads = columns.map((column, index) => {
    if (!column.value) return element("th", {scope: "col", class: column.number && "number"}, column.head);
    return element("th", {scope: "col", class: column.number && "number"},
                   element("button", {type: "button", onclick: () => {
                     state.descending = state.sort === index ? !state.descending : Boolean(column.largest_first);
                     state.sort = index;
                     fill();
                   }}, column.head));
  });
  const more = element("button", {type: "button", onclick: () => { state.shown += 500; fill(); }});
  const rest = element("p", null, more);
  function sorted() {
    if (state.sort === null) return rows;
    const {value} = columns[state.sort];
    const sign = state.descending ? -1 : 1;
    const missing = (x) => x === null || x === undefined || Number.isNaN(x) || x === "";
    return rows.map((row) => [value(row), row]).sort(([a], [b]) => {
      if (missing(a) || missing(b)) return missing(a) - missing(b);  // what is not there comes last, whichever the order
      return sign * (typeof a === "string" ? a.localeCompare(b) : a - b);
    }).map(([, row]) => row);
  }
  function fill() {
    heads.forEach((head, index) => {
      if (state.sort === index) head.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    body.replaceChildren(...sorted().slice(0, state.shown).map((row, index) => element("tr", null, columns.map((column, at) => {
      const inside = column.cell(row, index);
      return at === 0 ? element("th", {scope: "row", class: column.number && "number"}, inside)
                      : element("td", {class: column.number ? "number" : column.text ? "text" : column.tight ? "tight" : null}, inside);
    }))));
    rest.hidden = rows.length <= state.shown;
    more.textContent = `Show more (${(rows.length - state.shown).toLocaleString("en")} left)`;
  }
  fill();
  return [element("div", {class: "scroll", role: "region", tabindex: 0, "aria-label": label ?? caption ?? "table"},
                  element("table", null, caption && element("caption", null, caption), element("thead", null, element("tr", null, heads)), body)),
          rest];
}

// [[term, value], …]; what is empty is left out.
function list_of(pairs) {
  return element("dl", null, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
                                  .map(([term, value]) => [element("dt", null, term), element("dd", null, value)]));
}

function choice(label, options, chosen, onchange) {
  const select = element("select", {onchange: () => onchange(select.value)},
                         options.map(([value, text]) => element("option", {value, selected: value === chosen}, text)));
  return element("label", null, label, element("br"), select);
}
