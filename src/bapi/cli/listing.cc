#include "bapi/cli/listing.h"

#include "bapi/studies/study_view.h"

namespace bapi {

void ListingArguments::declare(Arguments& arguments) {
  arguments.optional_positional("STUDY", study, kStudyHelp);
  declare_format(arguments);
}

void ListingArguments::declare_format(Arguments& arguments) {
  arguments.option("-f,--format", format, "table (for people), json or csv");
}

}  // namespace bapi
