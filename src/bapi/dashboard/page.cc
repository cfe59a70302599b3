#include "bapi/dashboard/page.h"

#include <fmt/format.h>

#include <array>

#include "bapi/base/error.h"
#include "bapi/dashboard/assets.h"
#include "bapi/dashboard/sha256.h"

namespace bapi {
namespace {

// Each after those that it imports.
constexpr std::array kModules = {"base.js", "data.js", "chart.js", "charts.js", "views.js", "app.js"};

bool is_import(std::string_view line) { return line.starts_with("import "); }

// For builds without esbuild. One module as a part of the whole: without its imports, its exports as plain
// declarations, without indentation and comments on lines of their own.
std::string without_links(std::string_view module) {
  constexpr std::string_view kExport = "export ";
  std::string out;
  while (!module.empty()) {
    const std::size_t end = std::min(module.find('\n'), module.size() - 1);
    std::string_view line = module.substr(0, end + 1);
    module.remove_prefix(end + 1);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (is_import(line) || line.starts_with("//")) continue;
    if (line.starts_with(kExport)) line.remove_prefix(kExport.size());
    out += line;
  }
  return out;
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  check(at != std::string::npos, "the page has no such place");
  return text.replace(at, what.size(), by);
}

// JSON inside a script element: no markup can begin.
std::string inside_script(const Cell& data) {
  const std::string json = compact_json(data);
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

const std::string& page_script() {
  static const std::string script = [] {
    std::string text(dashboard_asset("app.min.js"));
    if (!text.empty()) return text;
    text = "'use strict';\n";
    for (const char* module : kModules) text += without_links(dashboard_asset(module));
    return text;
  }();
  return script;
}

HttpAnswer page_file(const std::string& path) {
  if (path == "/" || path == "/index.html") {
    return {.type = "text/html; charset=utf-8", .body = std::string(dashboard_asset("index.html"))};
  }
  if (path == "/app.js") return {.type = "text/javascript; charset=utf-8", .body = page_script()};
  if (path == "/style.css") {
    return {.type = "text/css; charset=utf-8", .body = std::string(dashboard_asset("style.css"))};
  }
  if (path == "/icon.svg") return {.type = "image/svg+xml", .body = std::string(dashboard_asset("icon.svg"))};
  return http_error(404, "there is no such page", "the dashboard is at /");
}

std::string page_with_data(const Cell& data) {
  const std::string script = "\n" + page_script();
  const std::string style = "\n" + std::string(dashboard_asset("style.css"));
  std::string page(dashboard_asset("index.html"));
  page = replaced(page, "<link rel=\"icon\" href=\"icon.svg\">\n", "");
  page = replaced(
      page,
      "<meta charset=\"utf-8\">",
      fmt::format("<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                  "'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; "
                  "form-action 'none'\">",
                  sha256_base64(script),
                  sha256_base64(style)));
  page = replaced(page, "<link rel=\"stylesheet\" href=\"style.css\">", "<style>" + style + "</style>");
  page = replaced(page, "<script src=\"app.js\" defer></script>\n", "");
  return replaced(page,
                  "</body>",
                  "<script type=\"application/json\" id=\"data\">" + inside_script(data) + "</script>\n<script>" +
                      script + "</script>\n</body>");
}

}  // namespace bapi
