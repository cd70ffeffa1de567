#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/options/parse.h"

namespace tacho {

// Pages for man(1), in the macros of man(7), from the rows of the help.
std::string OverviewPage();  // tacho.1
// The page of a command, with a section for each of its sub-commands.
std::string ManPage(const std::vector<CommandSpec>& specs);
// All pages, each as (file name, text).
std::vector<std::pair<std::string, std::string>> ManPages();

}  // namespace tacho
