#pragma once
// The HTML page: one file with everything in it, which runs no script and loads nothing but its own.

#include <string>

#include "report/document.hpp"

namespace hipbench::report {

// Whether the build found the chart libraries; without them the page has tables only, and says how to get charts.
bool has_charts();

struct Page {
  std::string html;
  std::string content_security_policy;  // also inside the page; a server sends it too
};
Page make_page(const Document& document, bool is_live);

}  // namespace hipbench::report
