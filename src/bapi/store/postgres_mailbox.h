#pragma once

#include <memory>
#include <string>

#include "bapi/store/mailbox.h"
#include "bapi/store/postgres_connection.h"

namespace bapi {

// Letters of a study in a database: rows of bapi.letter.
class PostgresMailbox : public Mailbox {
 public:
  // `study` is the number of its row, `box` the name of the box; `largest` letter, in bytes.
  PostgresMailbox(std::shared_ptr<PostgresConnection> db, std::int64_t study, std::string box, std::size_t largest)
      : db_(std::move(db)), study_(study), box_(std::move(box)), largest_(largest) {}

  void put(const std::string& id, std::string_view text) const override;
  std::vector<std::string> ids() const override;
  bool has(const std::string& id) const override;
  std::optional<std::string> read(const std::string& id) const override;
  void remove(const std::string& id) const override;
  void remove_older_than(double seconds) const override;

 private:
  std::shared_ptr<PostgresConnection> db_;
  std::int64_t study_;
  std::string box_;
  std::size_t largest_;
};

}  // namespace bapi
