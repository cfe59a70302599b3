#include "bapi/dashboard/page.h"

#include <regex>

#include "bapi/dashboard/assets.h"
#include "bapi/dashboard/sha256.h"
#include "bapi/study/event.h"

namespace bapi {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Page, ScriptIsOneWithoutImports) {
  EXPECT_EQ(page_script().find("\nimport "), std::string::npos);
  EXPECT_EQ(page_script().find("\nexport "), std::string::npos);
}

// Names and logs may hold markup: nothing of the script may parse text as a page, a program or a style.
TEST(Page, ScriptNeverParsesText) {
  for (const char* word : {"innerHTML",
                           "outerHTML",
                           "insertAdjacentHTML",
                           "document.write",
                           "eval(",
                           "new Function",
                           "setAttribute('style'",
                           "javascript:",
                           "DOMParser",
                           "createContextualFragment"}) {
    EXPECT_EQ(page_script().find(word), std::string::npos) << word;
    for (const char* module : {"base.js", "data.js", "chart.js", "charts.js", "views.js", "app.js"}) {
      EXPECT_EQ(dashboard_asset(module).find(word), std::string_view::npos) << module << ": " << word;
    }
  }
  for (const char* file : {"index.html", "style.css"}) {
    const std::string text(dashboard_asset(file));
    EXPECT_FALSE(std::regex_search(text, std::regex(R"(\son\w+=|\sstyle=|url\(|@import)"))) << file;
  }
}

// A kind without a colour would be a hole in the bar of the budget, and in the burn-down.
TEST(Page, HasAColourForEveryKindOfSpending) {
  const std::string style(dashboard_asset("style.css"));
  for (const Name<OverheadKind>& kind : names<OverheadKind>.entries) {
    const std::string word(kind.word);
    EXPECT_NE(style.find(".k-" + word + " {"), std::string::npos) << word;
    const std::string charts(dashboard_asset("charts.js"));
    EXPECT_TRUE(std::regex_search(charts, std::regex("KIND_COLOUR = .*\\b" + word + "'?: '"))) << word;
  }
}

TEST(Page, IsSmall) {
  EXPECT_LE(dashboard_asset("style.css").size(), 12'000U);
  EXPECT_LE(page_script().size(), dashboard_asset("app.min.js").empty() ? 135'000U : 90'000U);
}

TEST(Page, AnswersForItsOwnFilesOnly) {
  for (const char* path : {"/", "/app.js", "/style.css", "/icon.svg"}) EXPECT_EQ(page_file(path).status, 200) << path;
  for (const char* path : {"/base.js", "/../style.css", "/etc/passwd", "//"}) {
    EXPECT_EQ(page_file(path).status, 404) << path;
  }
}

TEST(Page, WithDataHoldsNoMarkupOfTheData) {
  const std::string page = page_with_data(Fields{{"name", "</script><script>alert(1)</script>"}});
  EXPECT_EQ(count(page, "</script>"), 2U);
  EXPECT_NE(page.find("\\u003c/script>"), std::string::npos);
}

TEST(Page, WithDataAllowsItsOwnScriptAlone) {
  const std::string page = page_with_data(Fields{});
  const std::size_t begin = page.find("<script>") + 8;
  const std::string script = page.substr(begin, page.find("</script>", begin) - begin);
  EXPECT_NE(page.find("script-src 'sha256-" + sha256_base64(script) + "'"), std::string::npos);
  EXPECT_EQ(page.find("app.js\""), std::string::npos);
  EXPECT_EQ(page.find("href=\"style.css"), std::string::npos);
}

}  // namespace
}  // namespace bapi
