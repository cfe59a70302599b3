#include "bapi/store/postgres_mailbox.h"

#include <algorithm>

namespace bapi {

void PostgresMailbox::put(const std::string& id, std::string_view text) const {
  db_->run_again(
      "INSERT INTO bapi.letter (study, box, id, body) VALUES ($1, $2, $3, $4) "
      "ON CONFLICT (study, box, id) DO UPDATE SET body = excluded.body, at = excluded.at",
      {study_, std::string_view(box_), std::string_view(id), text});
}

// Sorted as bytes, whatever the database sorts by.
std::vector<std::string> PostgresMailbox::ids() const {
  const SqlRows rows =
      db_->run_again("SELECT id FROM bapi.letter WHERE study = $1 AND box = $2", {study_, std::string_view(box_)});
  std::vector<std::string> found;
  for (int row = 0; row < rows.size(); ++row) {
    if (is_id(rows.text(row, 0))) found.emplace_back(rows.text(row, 0));
  }
  std::ranges::sort(found);
  return found;
}

bool PostgresMailbox::has(const std::string& id) const {
  return !db_->run_again("SELECT 1 FROM bapi.letter WHERE study = $1 AND box = $2 AND id = $3",
                         {study_, std::string_view(box_), std::string_view(id)})
              .empty();
}

std::optional<std::string> PostgresMailbox::read(const std::string& id) const {
  const SqlRows rows = db_->run_again(
      "SELECT body FROM bapi.letter WHERE study = $1 AND box = $2 AND id = $3 "
      "AND octet_length(body) <= $4",
      {study_, std::string_view(box_), std::string_view(id), static_cast<std::int64_t>(largest_)});
  if (rows.empty()) return std::nullopt;
  return std::string(rows.text(0, 0));
}

void PostgresMailbox::remove(const std::string& id) const {
  db_->run_again("DELETE FROM bapi.letter WHERE study = $1 AND box = $2 AND id = $3",
                 {study_, std::string_view(box_), std::string_view(id)});
}

void PostgresMailbox::remove_older_than(double seconds) const {
  db_->run_again(
      "DELETE FROM bapi.letter WHERE study = $1 AND box = $2 AND at < clock_timestamp() - $3 * interval '1 s'",
      {study_, std::string_view(box_), seconds});
}

}  // namespace bapi
