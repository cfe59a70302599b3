#pragma once

#include <string>
#include <string_view>

namespace bapi {

// SHA-256 (FIPS 180-4) in base64, as a Content-Security-Policy names a script.
std::string sha256_base64(std::string_view text);

}  // namespace bapi
