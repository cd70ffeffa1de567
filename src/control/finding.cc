#include "control/finding.h"

namespace tacho {

std::string_view NameOf(FindingSeverity severity) {
  switch (severity) {
    case FindingSeverity::kInfo:
      return "info";
    case FindingSeverity::kNotice:
      return "notice";
    case FindingSeverity::kIncomplete:
      return "incomplete";
    case FindingSeverity::kBlocking:
      break;
  }
  return "blocking";
}

std::optional<FindingSeverity> SeverityNamed(std::string_view name) {
  for (const auto severity : {FindingSeverity::kInfo, FindingSeverity::kNotice,
                              FindingSeverity::kIncomplete, FindingSeverity::kBlocking})
    if (NameOf(severity) == name) return severity;
  return std::nullopt;
}

std::string_view Finding::Remedy() const { return remedy.empty() ? KindOf(id).remedy : remedy; }

std::string Finding::Words() const {
  if (remedy.empty()) return evidence;
  const std::string_view joint = KindOf(id).joint;
  return evidence + std::string(joint) + remedy + (joint == " (" ? ")" : "");
}

std::string Finding::Text() const { return subject.empty() ? Words() : subject + ": " + Words(); }

std::vector<std::string> TextsOf(const std::vector<Finding>& findings, bool troubles) {
  std::vector<std::string> texts;
  for (const Finding& finding : findings)
    if (finding.IsTrouble() == troubles) texts.push_back(finding.Text());
  return texts;
}

Error ErrorOf(const Finding& finding) {
  const bool remote = finding.id == FindingId::kNoAnswer || finding.id == FindingId::kOpenSession ||
                      finding.id == FindingId::kBeingProfiled ||
                      finding.id == FindingId::kNsysRecords;
  const Error error{remote ? ErrorKind::kRemote : ErrorKind::kUsage, finding.Words()};
  return finding.subject.empty() ? error : error.WithContext(finding.subject);
}

Finding FindingOf(const Error& error, const std::string& url) {
  const bool usage = error.kind == ErrorKind::kUsage;
  return {usage ? FindingId::kRequestDoesNotFit : FindingId::kNoAnswer, url,
          error.Place() == url ? std::string(error.What()) : error.message};
}

}  // namespace tacho
