#include "analysis/findings/finding.h"

namespace tacho {

std::string_view WholeId(FindingWhole whole) {
  switch (whole) {
    case FindingWhole::kWindow:
      return "window";
    case FindingWhole::kWindowWithRequests:
      return "window-with-requests";
    case FindingWhole::kRequests:
      break;
  }
  return "requests";
}

std::string_view ConfidenceId(Confidence confidence) {
  switch (confidence) {
    case Confidence::kMeasured:
      return "measured";
    case Confidence::kAtLeast:
      return "at-least";
    case Confidence::kAtMost:
      return "at-most";
    case Confidence::kAbout:
      return "about";
    case Confidence::kCannotTell:
      break;
  }
  return "cannot-tell";
}

std::string_view WhyUnknownId(WhyUnknown because) {
  switch (because) {
    case WhyUnknown::kLostWork:
      return "lost-work";
    case WhyUnknown::kTimesRefused:
      return "times-refused";
    case WhyUnknown::kClocks:
      return "clocks";
    case WhyUnknown::kBlame:
      return "no-waits";
    case WhyUnknown::kFewMatched:
      return "few-matching-collectives";
    case WhyUnknown::kJoin:
      return "not-joined";
    case WhyUnknown::kSplit:
      return "not-split";
    case WhyUnknown::kNothing:
      break;
  }
  return "";
}

}  // namespace tacho
