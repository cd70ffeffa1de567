#include "control/nsys/nsys_launch.h"

#include <gmock/gmock.h>

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// As nsys 2022.4.2 prints it, shortened.
constexpr std::string_view kLaunchHelp = R"(
usage: nsys launch [<args>] [application] [<application args>]

	(Deprecated) --cpuctxsw=

	   WARNING: This switch is no longer supported.
	   Please set the --cpuctxsw switch when using the start command instead.

	--cuda-graph-trace=

	   Possible values are 'graph' or 'node'.

	--nvtx-domain-[include|exclude]=

	   Possible values are a comma-separated list of NVTX domains.

	(Deprecated) -s, --sample=

	   WARNING: This switch is no longer supported.
	   To enable CPU IP/backtrace sampling, please set the --sample switch when using the start
	   command instead.

	--session-new=

	-t, --trace=

	   Default is 'cuda,nvtx,osrt,opengl'. Application scope.

	--trace-fork-before-exec=

	   If true, trace any child process after fork and before they call one of the exec functions.
)";
constexpr std::string_view kStartHelp = "\n\t--cpuctxsw=\n\n\t-o, --output=\n\n\t-s, --sample=\n";

TEST(NsysOptionsIn, AreThoseThatTheHelpDoesNotCallDeprecated) {
  EXPECT_THAT(NsysOptionsIn(kLaunchHelp),
              ElementsAre("--cuda-graph-trace", "--nvtx-domain-", "--session-new", "--trace",
                          "--trace-fork-before-exec"));
  EXPECT_THAT(NsysOptionsIn(kStartHelp), ElementsAre("--cpuctxsw", "--output", "--sample"));
  EXPECT_THAT(NsysOptionsIn(""), IsEmpty());
  EXPECT_THAT(NsysOptionsIn("nsys: not found\n"), IsEmpty());
}

TEST(NsysLaunchWords, HoldWhatTheVersionKnows) {
  EXPECT_THAT(NsysLaunchWords({.program = "/opt/nsys", .session = "vllm"}, kLaunchHelp),
              ElementsAre("/opt/nsys", "launch", "--session-new=vllm", "-t", "cuda,nvtx",
                          "--trace-fork-before-exec=true", "--cuda-graph-trace=node"));
  EXPECT_THAT(NsysLaunchWords({.session = "a", .os_calls = true}, kStartHelp),
              ElementsAre("nsys", "launch", "--session-new=a", "-t", "cuda,nvtx,osrt",
                          "--sample=none", "--cpuctxsw=none"));
  EXPECT_THAT(NsysLaunchWords({.session = "a"}, ""),
              ElementsAre("nsys", "launch", "--session-new=a", "-t", "cuda,nvtx"));
}

TEST(NsysStartWords, EscapeWhatNsysWouldReplace) {
  EXPECT_THAT(NsysStartWords({.session = "50%p", .report = "/r/%q{HOME}"}, kStartHelp),
              ElementsAre("nsys", "start", "--session=50%%p", "--sample=none", "--cpuctxsw=none",
                          "-o", "/r/%%q{HOME}"));
  EXPECT_THAT(NsysStopWords("nsys", "50%p"), ElementsAre("nsys", "stop", "--session=50%%p"));
}

}  // namespace
}  // namespace tacho
