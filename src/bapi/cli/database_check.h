#pragma once

#include <string>

namespace bapi {

// What `bapi doctor` says about a database, and about the study in it if the address names one: server, connection and
// what is unsafe about them. Returns the exit code.
int check_database(const std::string& address);

}  // namespace bapi
