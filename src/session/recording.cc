#include "session/recording.h"

#include <algorithm>

namespace tacho {

std::string_view NameOf(Via via) {
  switch (via) {
    case Via::kAuto:
      return "auto";
    case Via::kHttp:
      return "http";
    case Via::kDaemon:
      return "daemon";
    case Via::kNsys:
      return "nsys";
  }
  return "";
}

bool Recording::AnyStarted() const {
  return std::any_of(workers.begin(), workers.end(), [](const RecordedWorker& worker) {
    return worker.expectation.start_unix_ns != 0;
  });
}

bool Recording::GaveUp() const {
  return std::any_of(workers.begin(), workers.end(), [](const RecordedWorker& worker) {
    return worker.expectation.given_up.has_value();
  });
}

std::vector<WorkerExpectation> Recording::Expectations() const {
  std::vector<WorkerExpectation> expectations;
  for (const std::vector<RecordedWorker>* list : {&workers, &left_out})
    for (const RecordedWorker& worker : *list) expectations.push_back(worker.expectation);
  return expectations;
}

bool Recording::HasTrouble() const { return std::ranges::any_of(findings, &Finding::IsTrouble); }

void ReportFinding(Recording& recording, RecordObserver& observer, Finding finding) {
  observer.OnRemark(finding.Text());
  recording.findings.push_back(std::move(finding));
}

}  // namespace tacho
