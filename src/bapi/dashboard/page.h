#pragma once

#include <string>

#include "bapi/dashboard/http.h"
#include "bapi/report/table.h"

namespace bapi {

// The page: index.html, its style, and its script, which is the modules of src/bapi/dashboard/assets one after the
// other in the order of their imports. They import by name only and share one set of names, so that they need no
// bundler.
const std::string& page_script();

// The file of the page at `path`; 404 if there is none. The same for everyone: it holds no data.
HttpAnswer page_file(const std::string& path);

// The page as one file with its data inside: opens from the disk, asks nothing of the network.
std::string page_with_data(const Cell& data);

}  // namespace bapi
