#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// An nsys that is installed on this machine.
struct NsysProgram {
  std::string path;
  std::string version;       // "2022.4.2.1"
  std::vector<int> numbers;  // the version's numbers, for comparing
};

// The newest nsys in the folders of $PATH and in those where the packages of NVIDIA and of the
// distributions install it. Runs each nsys to get its version, for at most 10 s; ignores one that
// does not answer.
std::optional<NsysProgram> FindNsys(const std::stop_token& stop = {});

// The version's numbers in "NVIDIA Nsight Systems version 2022.4.2.1-df9881f": {2022, 4, 2, 1};
// empty for any other text.
std::vector<int> NsysVersionIn(std::string_view text);
std::string NsysVersionText(const std::vector<int>& numbers);

// The path of the program that turns a .qdstrm file into a report. It may lie beside `nsys`, in the
// host folder of its installation, or in $PATH; "" if it is not installed.
std::string FindImporter(const NsysProgram& nsys);

}  // namespace tacho
