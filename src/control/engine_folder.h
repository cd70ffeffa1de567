#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// The trace folder of an engine, as its options or environment name it.

namespace tacho {

// A store ("s3://bucket/x"): no folder of a host, so nothing is made or looked for in it.
bool IsStore(std::string_view folder);

// What the engine makes of the name: "~" is the home of its user ("": not known), another relative
// one is below `working`, the folder that it runs in. Absolute, without a slash at the end; a store
// as it is. As vLLM 0.32's config/profiler.py does; SGLang 0.5 knows "~" too
// (scheduler_components/profiler_manager.py).
std::string EngineFolder(std::string named, const std::string& working, std::string_view home);

// The same for an engine that runs on this host. As it is if the process may not be read.
std::string FolderOfProcess(int64_t pid, const std::string& named);

}  // namespace tacho
