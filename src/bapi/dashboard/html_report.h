#pragma once

#include <optional>
#include <string>

#include "bapi/store/study_lock.h"
#include "bapi/studies/study_view.h"

namespace bapi {

struct HtmlReportOptions {
  bool logs = true;     // the ends of the logs of failed trials
  bool planner = true;  // plan, outlook and forecasts: fits the models, which takes a moment
};

// The dashboard's page of one study with its data inside: one file of a few megabytes at most that opens from the disk
// without a network. Of a large study it holds all trials, but only the curves and pages of the best; the page says so.
std::string html_report(const StudyView& study, const HtmlReportOptions& options, double now);

}  // namespace bapi
