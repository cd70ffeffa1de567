#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// An installed nsys.
struct NsysProgram {
  std::string path;
  std::string version;       // "2022.4.2.1"
  std::vector<int> numbers;  // the version as numbers, to compare
};

// The newest nsys in the folders of $PATH and in those where the packages of NVIDIA and of the
// distributions put it. Runs each for its version, with a limit of 10 s; ignores a program that
// does not answer.
std::optional<NsysProgram> FindNsys(const std::stop_token& stop = {});

// "NVIDIA Nsight Systems version 2022.4.2.1-df9881f": {2022, 4, 2, 1}; empty for anything else.
std::vector<int> NsysVersionIn(std::string_view text);
std::string NsysVersionText(const std::vector<int>& numbers);

// The program that turns a .qdstrm file into a report: beside `nsys`, in the host folder of its
// installation, or in $PATH; "" if it is not installed.
std::string FindImporter(const NsysProgram& nsys);

}  // namespace tacho
