#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// The trace folder of an engine, as its options or environment name it.

namespace tacho {

// Whether `folder` names an object store ("s3://bucket/x") and not a folder of a host. tacho
// creates and reads nothing in a store.
bool IsStore(std::string_view folder);

// The folder in which an engine that was given the name `named` writes. "~" becomes `home`, the
// home folder of the engine's user ("": not known). Any other relative path starts at `working`,
// the folder that the engine runs in. The result is absolute, without a slash at the end; an object
// store's name stays unchanged. Follows vLLM 0.32's config/profiler.py; SGLang 0.5 expands "~" too
// (scheduler_components/profiler_manager.py).
std::string EngineFolder(std::string named, const std::string& working, std::string_view home);

// EngineFolder for a process on this host. Returns `named` unchanged if tacho may not read the
// process.
std::string FolderOfProcess(int64_t pid, const std::string& named);

}  // namespace tacho
