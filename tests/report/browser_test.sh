#!/usr/bin/env bash
# browser_test.sh PROGRAM FOLDER: the page of 5,000 made-up evaluations with hostile texts, in headless Chromium. FOLDER gets
# screenshots to look at: light, dark, phone, a candidate, a wrong one. Skipped (77) where there is no Chromium.
set -euo pipefail
program=$1 screenshots=$2
for browser in chromium chromium-browser google-chrome none; do command -v "$browser" >/dev/null && break; done
if [[ $browser == none ]]; then
  echo 'skipped: there is no Chromium here (Debian: apt-get install chromium)'
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$screenshots"
failures=0
fail() { printf 'FAILED: %s\n' "$1" && failures=$((failures + 1)); }

# browse FLAGS…: a fresh profile each time; what the page's console says lands in $work/console.
browse() {
  rm -rf "$work/profile"
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --user-data-dir="$work/profile" --hide-scrollbars --enable-logging=stderr --virtual-time-budget=10000 "$@" \
    2>"$work/log" || fail "the browser ended with status $?"
  grep CONSOLE "$work/log" >>"$work/console" || true
}

"$program" "$work" 5000 | tee "$work/figures"
size=$(stat -c %s "$work/report.html")
((size < 15000000)) || fail "the page has $size bytes; 15 MB are allowed"
charts=yes
grep -q 'charts: yes' "$work/figures" || charts=no
page=file://$work/report.html

# The overview, in real time: virtual time would say nothing about waiting.
rm -rf "$work/profile"
timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync \
  --user-data-dir="$work/profile" --timeout=15000 --dump-dom "$page" >"$work/overview.html" 2>/dev/null || fail "the browser ended with status $?"
drawn=$(grep -o 'data-drawn-milliseconds="[0-9]*"' "$work/overview.html" | grep -o '[0-9]*' || true)
echo "opened in ${drawn:-?} ms"
# Two seconds are promised for an ordinary computer; a loaded one gets more.
((${drawn:-99999} < 10000)) || fail "opening took ${drawn:-too many} ms"

grep -q '<title>hipbench report</title>' "$work/overview.html" || fail 'the title is not ours'
for section in fast-p leaderboard distance trajectories cost verdicts published evaluations; do
  grep -q "<h2 id=\"$section\"" "$work/overview.html" || fail "there is no section $section"
done
if [[ $charts == yes ]]; then
  drawn=$(grep -o '<svg[^>]*class="chart"[^>]*>' "$work/overview.html" | wc -l)
  ((drawn >= 10)) || fail "only $drawn charts"
  labelled=$(grep -o '<svg[^>]*class="chart"[^>]*>' "$work/overview.html" | grep 'role="img"' | grep 'aria-label=' | grep -c 'aria-description=' || true)
  ((labelled == drawn)) || fail "only $labelled of $drawn charts say what they show"
fi
grep -q 'modelled' "$work/overview.html" || fail 'nothing says that times are modelled'

# A candidate with hostile source, evidence, run and model.
id=$(grep -o 'href="#candidate/[0-9]*"[^<]*>[^<]*run&lt;/script' "$work/overview.html" | grep -o 'candidate/[0-9]*' | sed 's,.*/,,' | sort -n | tail -n 1 || true)
[[ -n $id ]] || fail 'no candidate of the hostile run is listed'
browse --dump-dom "$page#candidate/${id:-1}" >"$work/candidate.html"
grep -q "<title>Evaluation ${id:-1} · hipbench report</title>" "$work/candidate.html" || fail 'the title of a candidate is not ours'
grep -q '<h2>Source</h2><pre class="source"' "$work/candidate.html" || fail 'a candidate has no source'
# One that is wrong has a map of where.
wrong=$(perl -0ne 'print "$1\n" if m{href="#candidate/(\d+)">\d+</a></th>(?:(?!</tr>).)*?wrong result}s' "$work/overview.html")
[[ -n $wrong ]] || fail 'no wrong candidate is listed'
browse --dump-dom "$page#candidate/${wrong:-1}" >"$work/wrong.html"
grep -q 'is wrong at' "$work/wrong.html" && grep -q '<code>####......</code>' "$work/wrong.html" || fail 'a wrong candidate has no map of where'
for dom in overview candidate; do
  # As text it may and must be there; as an element never.
  # Attributes go first: a serialised one may hold "<".
  sed 's/="[^"]*"/=""/g' "$work/$dom.html" | grep -oE '<img|<svg[^>]*onload|<title>INJECTED' >"$work/elements" || true
  [[ ! -s $work/elements ]] || fail "hostile text became an element in $dom: $(<"$work/elements")"
  grep -q '&lt;img src=x' "$work/$dom.html" || fail "hostile text is not shown as it is in $dom"
done

# Without the libraries: a notice, and every chart's table open.
perl -0pe 's{<script>// https://d3js.*?</script>}{}s; s{<script>// \@observablehq.*?</script>}{}s' "$work/report.html" >"$work/plain.html"
browse --dump-dom "file://$work/plain.html" >"$work/plain_dom.html"
grep -q 'There are no charts: the chart libraries were not there' "$work/plain_dom.html" || fail 'a page without charts does not say so'
grep -q '<details open="">' "$work/plain_dom.html" || fail 'a page without charts hides its tables'

browse --window-size=1280,4000 --screenshot="$screenshots/light.png" "$page"
browse --window-size=1280,4000 --blink-settings=preferredColorScheme=0 --screenshot="$screenshots/dark.png" "$page"
# No window is as narrow as a phone; a frame is.
printf '<body style="margin:0"><iframe style="border:0" width="390" height="5000" src="%s"></iframe></body>' "$page" >"$work/phone.html"
browse --window-size=500,5000 --screenshot="$screenshots/phone.png" "file://$work/phone.html"
browse --window-size=1280,3000 --screenshot="$screenshots/candidate.png" "$page#candidate/${id:-1}"
browse --window-size=1280,2000 --screenshot="$screenshots/wrong.png" "$page#candidate/${wrong:-1}"
for name in light dark phone candidate wrong; do
  (($(stat -c %s "$screenshots/$name.png") > 20000)) || fail "the screenshot $name is empty"
done
if [[ -s $work/console ]]; then
  fail 'the page complained:'
  sort -u "$work/console" | head -n 20
fi
((failures == 0)) || exit 1
echo "all as expected; screenshots in $screenshots"
