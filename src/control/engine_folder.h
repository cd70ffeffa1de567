#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// The trace folder of an engine, as its options or environment name it.

namespace tacho {

// Whether `folder` is a store ("s3://bucket/x") and not on a host: tacho creates and looks for
// nothing in it.
bool IsStore(std::string_view folder);

// The folder that the engine uses for the name `named`: "~" becomes `home`, the home of its user
// ("": not known); any other relative path is below `working`, the folder that the engine runs in.
// The result is absolute, without a slash at the end; a store stays as it is. As in vLLM 0.32's
// config/profiler.py; SGLang 0.5 knows "~" too (scheduler_components/profiler_manager.py).
std::string EngineFolder(std::string named, const std::string& working, std::string_view home);

// The same for an engine that runs on this host. Returns `named` unchanged if the process may not
// be read.
std::string FolderOfProcess(int64_t pid, const std::string& named);

}  // namespace tacho
