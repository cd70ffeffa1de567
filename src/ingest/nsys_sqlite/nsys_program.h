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
  std::vector<int> numbers;  // the same, to be compared
};

// The newest nsys of the folders of $PATH and of those where NVIDIA's and the distributions'
// packages put it. Each is asked for its version, for 10 s at most; what does not answer is none.
std::optional<NsysProgram> FindNsys(const std::stop_token& stop = {});

// "NVIDIA Nsight Systems version 2022.4.2.1-df9881f": {2022, 4, 2, 1}; empty for anything else.
std::vector<int> NsysVersionIn(std::string_view text);
std::string NsysVersionText(const std::vector<int>& numbers);

// The program that makes a report of a .qdstrm file: beside `nsys`, in the folder for the host of
// its installation, or in $PATH; "" if there is none.
std::string FindImporter(const NsysProgram& nsys);

}  // namespace tacho
