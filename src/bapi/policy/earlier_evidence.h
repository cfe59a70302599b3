#pragma once

#include "bapi/gp/exact_gp.h"
#include "bapi/study/spec.h"

namespace bapi {

// What the earlier studies of a warm start say about its curves: a trend for each (model/earlier_trend.h), none without
// any. A function of the specification alone; the last few results are kept, so that only the first decision of a study
// pays for the models. May be called by several threads.
Trends earlier_trends(const StudySpec& spec);

}  // namespace bapi
