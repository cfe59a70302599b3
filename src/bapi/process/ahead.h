#pragma once

#include <span>
#include <string>
#include <vector>

#include "bapi/control/report_parser.h"
#include "bapi/store/study_dir.h"

// What a program had reported past the end of its segment when its process was ended: trials/0007/ahead, in the form of
// the report file. It is not in the log, because how much it is depends on chance. When the trial goes on, it comes
// first, before a process begins; so what is decided, counted and charged is the same as if the program had waited.
namespace bapi {

// Replaces what was kept. Throws StoreError.
void keep_ahead(const TrialDir& dir, std::span<const ReportLine> reports, const std::string& metric);

// The reports of epochs past `last`, in order; empty if there are none or the file is damaged from there on.
std::vector<EpochReport> reports_ahead(const TrialDir& dir, const std::string& metric, Epoch last);

}  // namespace bapi
