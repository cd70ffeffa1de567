#include "cli/options/parse.h"
#include "base/closest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/analyze/analyze_command.h"
#include "cli/launch/launch_options.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Parsed {
  AnalyzeOptions options;
  Result<bool> result;
};
Parsed Parse(const std::vector<std::string>& arguments) {
  Parsed parsed;
  parsed.result = ParseArguments(AnalyzeSpec(parsed.options), arguments);
  return parsed;
}

TEST(ParseArguments, OptionsAndPaths) {
  const Parsed p = Parse({"a.json", "--top", "5", "-w", "--rank=3", "b", "--csv", "out"});
  ASSERT_TRUE(p.result.has_value()) << p.result.error().message;
  EXPECT_FALSE(*p.result);
  EXPECT_THAT(p.options.traces.paths, ElementsAre("a.json", "b"));
  EXPECT_EQ(p.options.top, 5);
  EXPECT_EQ(p.options.traces.rank, std::vector<std::string>{"3"});
  EXPECT_TRUE(p.options.wide);
  EXPECT_EQ(p.options.csv_folder, "out");
  EXPECT_FALSE(p.options.json);
}

TEST(ParseArguments, DashIsAPathAndDoubleDashEndsOptions) {
  EXPECT_THAT(Parse({"-"}).options.traces.paths, ElementsAre("-"));
  EXPECT_THAT(Parse({"--json", "--", "--odd-name.json"}).options.traces.paths,
              ElementsAre("--odd-name.json"));
}

TEST(ParseArguments, TheLastOfTheSameOptionWins) {
  EXPECT_EQ(Parse({"x", "--top", "5", "--top", "7"}).options.top, 7);
}

TEST(ParseArguments, TheScriptsFlags) {
  const Parsed p = Parse({"--profile-dir", "d", "--all-ranks", "--top-n", "30"});
  ASSERT_TRUE(p.result.has_value());
  EXPECT_EQ(p.options.profile_dir, "d");
  EXPECT_TRUE(p.options.all_ranks);
  EXPECT_EQ(p.options.top, 30);
}

TEST(ParseArguments, UnknownOptionsAreNamedWithTheNearest) {
  const Parsed p = Parse({"x", "--kernel"});
  ASSERT_FALSE(p.result.has_value());
  EXPECT_EQ(p.result.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(p.result.error().message,
            "unknown option --kernel (did you mean --kernels?); see 'tacho analyze --help'");
  EXPECT_THAT(Parse({"--xyzzyxyzzy"}).result.error().message,
              HasSubstr("unknown option --xyzzyxyzzy; see"));
}

TEST(ParseArguments, AnotherProgramsOptionStandsAfterDashes) {
  LaunchArguments a;
  EXPECT_EQ(ParseArguments(LaunchSpec(a), {"vllm", "m", "--max-model-len", "1"}).error().message,
            "unknown option --max-model-len: what is not tacho's own stands after --; see "
            "'tacho launch --help'");
}

TEST(ParseArguments, NumbersMustBeNumbers) {
  EXPECT_EQ(Parse({"x", "--top", "many"}).result.error().message,
            "--top takes a whole number from 1 on, not 'many'; see 'tacho analyze --help'");
  EXPECT_FALSE(Parse({"x", "--top", "0"}).result.has_value());
  EXPECT_FALSE(Parse({"x", "--top", "-1"}).result.has_value());
  EXPECT_FALSE(Parse({"x", "--top", "99999999999999999999"}).result.has_value());
  EXPECT_FALSE(Parse({"x", "--top"}).result.has_value());
}

TEST(ParseArguments, MisuseIsToldInOurWords) {
  EXPECT_EQ(Parse({"x", "--csv"}).result.error().message,
            "--csv needs a value: DIR; see 'tacho analyze --help'");
  EXPECT_EQ(Parse({"x", "--top"}).result.error().message,
            "--top needs a value: N; see 'tacho analyze --help'");
  EXPECT_EQ(Parse({"x", "--json=maybe"}).result.error().message,
            "--json takes no value; see 'tacho analyze --help'");
  EXPECT_EQ(Parse({"x", "-q"}).result.error().message,
            "unknown option -q; see 'tacho analyze --help'");
}

// Accepted as in other programs.
TEST(ParseArguments, ShortOptionsInOneWord) {
  LaunchArguments a;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"-qoX"}, {"-q", "-o=X"}, {"-q", "-o", "X"}, {"-qo", "X"}}) {
    a = {};
    ASSERT_TRUE(ParseArguments(LaunchSpec(a), words)) << words[0];
    EXPECT_TRUE(a.quiet);
    EXPECT_EQ(a.out, "X");
  }
  EXPECT_EQ(Parse({"x", "-wz"}).result.error().message,
            "unknown option -z; see 'tacho analyze --help'");
}

TEST(ParseArguments, AnOptionIsNoValueOfTheOneBefore) {
  EXPECT_EQ(Parse({"x", "--csv", "--json"}).result.error().message,
            "--csv needs a value: DIR; see 'tacho analyze --help'");
  EXPECT_EQ(Parse({"x", "--csv=--json"}).options.csv_folder, "--json");
  EXPECT_EQ(Parse({"x", "--csv", "-odd"}).options.csv_folder, "-odd");
}

TEST(ParseArguments, HelpBeatsEverything) {
  EXPECT_TRUE(*Parse({"--top", "--help"}).result);
  const Parsed p = Parse({"--help", "--nonsense"});
  ASSERT_TRUE(p.result.has_value());
  EXPECT_TRUE(*p.result);
}

TEST(ParseArguments, AnOptionWithAFewValues) {
  EXPECT_TRUE(Parse({"--color", "never"}).result.has_value());
  const Parsed wrong = Parse({"--color", "nevre"});
  ASSERT_FALSE(wrong.result.has_value());
  EXPECT_THAT(wrong.result.error().message,
              HasSubstr("--color is auto, always or never, not 'nevre' (did you mean never?)"));
}

TEST(HelpText, NamesEveryOptionWithinTheWidth) {
  AnalyzeOptions options;
  const CommandSpec spec = AnalyzeSpec(options);
  const std::string help = HelpText(spec);
  for (const OptionGroup& group : spec.groups) {
    EXPECT_THAT(help, HasSubstr(group.title + ":\n"));
    for (const OptionRow& row : group.options) {
      EXPECT_THAT(help, HasSubstr(row.names.substr(row.names.rfind('-') - 1)));
    }
  }
  for (size_t begin = 0; begin < help.size();) {
    const size_t end = help.find('\n', begin);
    EXPECT_LE(DisplayWidth(std::string_view(help).substr(begin, end - begin)), 100u);
    begin = end + 1;
  }
}

TEST(Closest, FindsTyposAndNothingElse) {
  const std::vector<std::string> names = {"analyze", "compare", "record"};
  EXPECT_EQ(Closest("analyse", names), "analyze");
  EXPECT_EQ(Closest("anlayze", names), "analyze");
  EXPECT_EQ(Closest("rekord", names), "record");
  EXPECT_EQ(Closest("stat", {"list", "status", "start", "stop"}), "status");
  EXPECT_EQ(Closest("sta", {"status", "start", "stop"}), "start") << "two begin so";
  EXPECT_EQ(Closest("frobnicate", names), "");
}

}  // namespace
}  // namespace tacho
