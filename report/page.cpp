#include "report/page.hpp"

#include <fmt/format.h>

#include <functional>
#include <span>

#include "common/embedded.hpp"
#include "common/files.hpp"
#include "report/packs.hpp"

namespace hipbench::report {

std::span<const EmbeddedFile> web_files();        // web/, in the order in which they are joined
std::span<const EmbeddedFile> chart_libraries();  // empty when setup could not fetch them

namespace {

// What Observable Plot puts into each chart that is made with the class "chart", so that the policy can allow just
// that.
constexpr std::string_view kPlotStyle =
    ":where(.chart) {\n  --plot-background: white;\n  display: block;\n  height: auto;\n  height: intrinsic;\n  "
    "max-width: 100%;\n}\n"
    ":where(.chart text),\n:where(.chart tspan) {\n  white-space: pre;\n}";

std::string_view file_of(std::span<const EmbeddedFile> files, std::string_view name) {
  for (const EmbeddedFile& file : files)
    if (file.name == name) return file.text;
  return {};
}

std::string policy_source(std::string_view text) {
  const std::string hex = sha256_hex(text);
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return fmt::format(" 'sha256-{}'", base64(bytes));
}

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    if (c == '<')
      html += "&lt;";
    else if (c == '&')
      html += "&amp;";
    else
      html += c;
  }
  return html;
}

// Our own scripts as one, in a scope of their own.
std::string page_script() {
  std::string script = "(() => {\n\"use strict\";\n";
  for (const EmbeddedFile& file : web_files())
    if (file.name.ends_with(".js")) script += file.text;
  return script + "})();\n";
}

}  // namespace

bool has_charts() { return !chart_libraries().empty(); }

Page make_page(const Document& document, bool is_live) {
  std::vector<std::string> scripts;
  for (const EmbeddedFile& file : chart_libraries())
    if (file.name.ends_with(".js")) scripts.emplace_back(file.text);
  scripts.push_back(page_script());
  const std::string_view style = file_of(web_files(), "style.css");

  Page page;
  std::string script_sources, script_elements, packs;
  for (const std::string& script : scripts) {
    script_sources += policy_source(script);
    script_elements += fmt::format("<script>{}</script>\n", script);
  }
  for (size_t i = 0; i < document.packs.size(); ++i)
    packs += fmt::format("<script type=\"text/plain\" id=\"pack-{}\">{}</script>\n", i, document.packs[i]);
  page.content_security_policy = fmt::format(
      "default-src 'none'; script-src{}; style-src{}{}; img-src data:; connect-src {}; base-uri 'none'; form-action "
      "'none'",
      script_sources, policy_source(style), policy_source(kPlotStyle), is_live ? "'self'" : "'none'");

  const std::pair<std::string_view, std::function<std::string()>> places[] = {
      {"policy", [&] { return page.content_security_policy; }},
      {"style", [&] { return std::string(style); }},
      {"licences", [&] { return escaped(file_of(chart_libraries(), "licenses.txt")); }},
      {"document", [&] { return document.json; }},
      {"packs", [&] { return packs; }},
      {"scripts", [&] { return script_elements; }}};
  // What is put in is never looked at again: it may have braces of its own.
  std::string_view rest = file_of(web_files(), "index.html");
  for (size_t at; (at = rest.find("{{")) != std::string_view::npos;) {
    page.html += rest.substr(0, at);
    const size_t end = rest.find("}}", at);
    const std::string_view name = rest.substr(at + 2, end - at - 2);
    for (const auto& [place, text] : places)
      if (place == name) page.html += text();
    rest.remove_prefix(end + 2);
  }
  page.html += rest;
  return page;
}

}  // namespace hipbench::report
