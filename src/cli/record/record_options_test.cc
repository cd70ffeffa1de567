#include "cli/record/record_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using ::testing::HasSubstr;

RecordArguments Arguments() {
  RecordArguments arguments;
  arguments.targets = {"http://127.0.0.1:1"};
  return arguments;
}

TEST(RecordOptions, AWindowIsTenSecondsOrSixtyForANumberOfRequests) {
  RecordArguments arguments = Arguments();
  EXPECT_EQ(RecordOptionsOf(arguments)->window_ns, 10'000'000'000);
  arguments.requests = 100;
  EXPECT_EQ(RecordOptionsOf(arguments)->window_ns, 60'000'000'000);
  EXPECT_EQ(RecordOptionsOf(arguments)->window_requests, 100u);
  EXPECT_FALSE(RecordOptionsOf(arguments)->plan.requests);
  arguments.duration = "3s";
  EXPECT_EQ(RecordOptionsOf(arguments)->window_ns, 3'000'000'000);
}

TEST(RecordOptions, AWindowThatIsNamedIsExactAndTheBudgetIsReadFromItsUnits) {
  RecordArguments arguments = Arguments();
  EXPECT_FALSE(RecordOptionsOf(arguments)->window_asked);
  EXPECT_EQ(RecordOptionsOf(arguments)->budget.bytes, Budget().bytes);
  EXPECT_EQ(RecordOptionsOf(arguments)->budget.flush_ns, Budget().flush_ns);
  arguments.duration = "10s";
  arguments.session.budget_bytes = "2GB";
  arguments.session.budget_flush = "1m";
  EXPECT_TRUE(RecordOptionsOf(arguments)->window_asked);
  EXPECT_EQ(RecordOptionsOf(arguments)->budget.bytes, 2'000'000'000u);
  EXPECT_EQ(RecordOptionsOf(arguments)->budget.flush_ns, 60'000'000'000);
  arguments.session.budget_bytes = "much";
  EXPECT_THAT(RecordOptionsOf(arguments).error().message, HasSubstr("--budget-bytes: 'much'"));
}

TEST(RecordOptions, ASessionOfNsysNeedsNsys) {
  RecordArguments arguments = Arguments();
  arguments.nsys_session = "one";
  EXPECT_THAT(RecordOptionsOf(arguments).error().message, HasSubstr("goes with --via nsys"));
  arguments.via = "nsys";
  EXPECT_EQ(RecordOptionsOf(arguments)->via, Via::kNsys);
  EXPECT_EQ(RecordOptionsOf(arguments)->nsys_session, "one");
  arguments.via = "nsight";
  EXPECT_THAT(RecordOptionsOf(arguments).error().message, HasSubstr("or nsys, not 'nsight'"));
}

TEST(RecordOptions, ANumberOfRequestsEndsTheWindowAloneAndNeedsALoad) {
  RecordArguments arguments = Arguments();
  arguments.requests = 100;
  arguments.no_load = true;
  EXPECT_THAT(RecordOptionsOf(arguments).error().message, HasSubstr("with --no-load"));
  arguments.no_load = false;
  arguments.session.profile.steps = 5;
  EXPECT_THAT(RecordOptionsOf(arguments).error().message, HasSubstr("give one of them"));
}

}  // namespace
}  // namespace tacho
