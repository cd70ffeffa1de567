#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tacho {

// All of `text` to standard output. A reader that went away ("| head") is no failure; anything else
// that keeps the text from arriving is kOutput.
Result<void> WriteStdout(std::string_view text);

// `message` on standard error, "tacho: " in front. Names in it may be anybody's: each line is made
// visible (text/visible_text.h).
void Complain(std::string_view message);

// `text` as it is to standard error: a line that is drawn anew. If that fails there is no reason to
// stop.
void DrawOnStderr(std::string_view text);

// Complains of `error` and gives the command's exit status.
int Fails(const Error& error);

// The error as the one JSON object that --json prints in place of a result (docs/json.md).
std::string ErrorJson(const Error& error, int exit_status);

// The files (name, content) in `folder`, which is made when it is not there. They are written
// beside their places and renamed when all are whole: on failure (kOutput) none of them has
// changed.
Result<void> WriteFiles(const std::string& folder,
                        const std::vector<std::pair<std::string, std::string>>& files);

// Whether writing `files` would replace only what begins as they do (name, beginning), which are
// their older versions. kOutput, with its name: another file is in the place of one.
Result<void> CheckReplaces(const std::string& folder,
                           const std::vector<std::pair<std::string, std::string>>& files);

// One file, in the same way; its folder is made when it is not there. What is there and is no
// regular file (a pipe, a device) is written to, a link's target is replaced, not the link.
// kOutput; kUsage: the path of a folder.
Result<void> WriteFile(const std::string& path, std::string content);
// Whether WriteFile is going to find a place to write to, as far as that is known before. Makes the
// folder.
Result<void> CheckWritable(const std::string& path);

}  // namespace tacho
