#include "bapi/studies/study_workers.h"

#include <algorithm>

namespace bapi {
namespace {

// A worker that has gone was there until its lease ended.
double idle_share(const WorkerRecord& worker, double now) {
  const double until = is_present(worker.state) ? now : std::min(now, worker.lease_until);
  const double offered = worker.card.slots * (until - worker.joined);
  return offered > 0.0 ? std::clamp(1.0 - worker.tally.busy / offered, 0.0, 1.0) : 0.0;
}

Cell trials_of(WorkerId worker, const std::vector<WorkOrder>& orders) {
  Cell trials = Cell::array();
  for (const WorkOrder& order : orders) {
    if (order.worker == worker) trials.push_back(index(order.trial));
  }
  return trials;
}

}  // namespace

Table workers_table(const Workforce& workforce) {
  Table table({"worker", "host", "pid", "job", "state", "slots", "trials", "lease", "failures", "idle", "joined"});
  for (const WorkerRecord& worker : workforce.workers) {
    table.add({index(worker.id),
               worker.card.host,
               worker.card.pid,
               worker.card.job.empty() ? Cell() : Cell(worker.card.job),
               std::string(word(worker.state)),
               worker.card.slots,
               trials_of(worker.id, workforce.orders),
               is_present(worker.state) ? Cell(worker.lease_until - workforce.now) : Cell(),
               worker.tally.failures,
               idle_share(worker, workforce.now),
               worker.joined});
  }
  return table;
}

Workforce present_of(Workforce workforce) {
  std::erase_if(workforce.workers, [](const WorkerRecord& worker) { return !is_present(worker.state); });
  return workforce;
}

}  // namespace bapi
