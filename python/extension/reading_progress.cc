#include "reading_progress.h"

#include "cli/screen/progress_line.h"

namespace tacho {

void ReadingProgress::OnPlan(size_t traces, uint64_t stored_bytes) {
  traces_ = traces;
  total_bytes_ = stored_bytes;
}

void ReadingProgress::OnExportBegin(const std::string& file, const std::string& program) {
  const std::lock_guard lock(mutex_);
  exporting_ = file + " with " + program;
  export_share_ = 0;
}

void ReadingProgress::OnExportEnd() {
  const std::lock_guard lock(mutex_);
  exporting_.clear();
}

ReadingProgress::Look ReadingProgress::LookAt(double seconds, bool unicode) const {
  const std::lock_guard lock(mutex_);
  return {traces_, done_bytes_, total_bytes_,
          exporting_.empty()
              ? ProgressLine(done_bytes_, total_bytes_, traces_, seconds, {.unicode = unicode})
              : ExportLine(exporting_, export_share_, seconds)};
}

std::string ReadingProgress::LastLine(double seconds) const {
  return ReadLine(done_bytes_, seconds);
}

}  // namespace tacho
