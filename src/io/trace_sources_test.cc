#include "io/trace_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/folder_for_test.h"
#include "io/packed_for_test.h"

namespace tacho {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::string_literals;
using packed::Gzipped;
using packed::Zstded;

const std::string kEmptyTrace = R"({"schemaVersion": 1, "traceEvents": []})";
const std::string kReport = "NVIDIA Tegra Profiler Report";
const std::string kSqlite = "SQLite format 3\0....CREATE TABLE StringIds(id INTEGER"s;

std::vector<std::string> Displays(const Result<Discovery>& found) {
  if (!found) return {"error: " + found.error().message};
  std::vector<std::string> names;
  for (const TraceSource& trace : found->traces) names.push_back(trace.Display());
  return names;
}

std::string ErrorOf(const std::vector<std::string>& paths) {
  const auto found = FindTraces(paths);
  if (found) return "";
  EXPECT_EQ(found.error().kind, ErrorKind::kUnreadable);
  return found.error().message;
}

TEST(FindTraces, LeavesExportsOutBesideTraces) {
  FolderForTest folder;
  const std::string text = R"({"exporter":"tacho","schemaVersion":1,"traceEvents":[]})";
  const std::string part = folder.Write("part.json.gz", Gzipped(text));
  const std::string step = folder.Write("step.json", text);
  EXPECT_THAT(Displays(FindTraces({folder.path()})), ElementsAre(part, step));
  const std::string trace = folder.Write("trace.json", kEmptyTrace);
  const auto found = FindTraces({folder.path()});
  EXPECT_THAT(Displays(found), ElementsAre(trace));
  EXPECT_THAT(found->skipped, ElementsAre(HasSubstr("part.json.gz: an export of tacho"),
                                          HasSubstr("step.json: an export of tacho")));
  EXPECT_THAT(Displays(FindTraces({folder.path(), step})), ElementsAre(step, trace));
}

TEST(FindTraces, LeavesRecordingsOfGraphCaptureOutBesideTraces) {
  FolderForTest folder;
  const std::string text = Gzipped(kEmptyTrace);
  const std::string all = folder.Write("a/graph_capture_profile/odd.json.gz", text);
  const std::string one = folder.Write("a/Runner_bs_8_fa3_rank0.json.gz", text);
  folder.Write("a/capture_traces/empty.json", "");
  EXPECT_THAT(Displays(FindTraces({folder.path()})), ElementsAre(one, all));
  const std::string trace = folder.Write("b-TP-0.trace.json.gz", text);
  const auto found = FindTraces({folder.path()});
  EXPECT_THAT(Displays(found), ElementsAre(trace));
  EXPECT_THAT(found->captures, ElementsAre(one, all));
  EXPECT_THAT(found->failures, IsEmpty());
  EXPECT_THAT(found->skipped, ElementsAre(HasSubstr("is empty")));
  // A path that is given is read, be it a file or a folder.
  EXPECT_THAT(Displays(FindTraces({folder.path(), one})), ElementsAre(one, trace));
  EXPECT_THAT(FindTraces({folder.path(), one})->captures, ElementsAre(all));
  const std::string below = folder.At("a/graph_capture_profile");
  EXPECT_THAT(Displays(FindTraces({below, trace})), ElementsAre(all, trace));
  EXPECT_THAT(Displays(FindTraces({below})), ElementsAre(all));
}

TEST(FindTraces, AGivenFolderOfThatNameHoldsTraces) {
  FolderForTest folder;
  const std::string trace = folder.Write("capture_traces/serving.json", kEmptyTrace);
  const std::string one = folder.Write("capture_traces/bs_8_rank0.json", kEmptyTrace);
  const auto found = FindTraces({folder.At("capture_traces")});
  EXPECT_THAT(Displays(found), ElementsAre(trace));
  EXPECT_THAT(found->captures, ElementsAre(one));
}

TEST(FindTraces, FindsEveryTraceBelowAFolderByContent) {
  FolderForTest folder;
  folder.Write("b.json", kEmptyTrace);
  folder.Write("a/deep/er/rank0.pt.trace.json.gz", Gzipped(kEmptyTrace));
  folder.Write("a/no-suffix", Zstded(kEmptyTrace));
  folder.Write("a/cut.json.tmp", "{\n  \"schemaVersion\": 1,\n  \"devi");
  folder.Write(".hidden/.trace", kEmptyTrace);
  folder.Write("cut.json.gz", Gzipped(kEmptyTrace).substr(0, 40));
  folder.Write("result.json", R"({"throughput": 1})");
  folder.Write("profiler_out.txt", "Name   Self CPU\n");
  folder.Write("image.png", "\x89PNG\r\n\x1a\n\0\0"s);
  const auto found = FindTraces({folder.path()});
  EXPECT_THAT(Displays(found),
              ElementsAre(folder.At(".hidden/.trace"), folder.At("a/cut.json.tmp"),
                          folder.At("a/deep/er/rank0.pt.trace.json.gz"), folder.At("a/no-suffix"),
                          folder.At("b.json"), folder.At("cut.json.gz")));
  EXPECT_THAT(found->skipped, ElementsAre());
  EXPECT_EQ(found->traces[4].stored_bytes, kEmptyTrace.size());
}

TEST(FindTraces, AFolderGivesResultsOnlyWithoutTraces) {
  const FolderForTest folder;
  const std::string results = R"({"schema": 1, "tacho": {"version": "1"}, "traces": []})";
  const std::string a = folder.Write("a.json", results), b = folder.Write("more/b.json", results);
  auto found = FindTraces({folder.path()});
  ASSERT_THAT(Displays(found), ElementsAre(a, b));
  EXPECT_TRUE(std::ranges::all_of(found->traces, &TraceSource::is_results));
  EXPECT_THAT(found->skipped, IsEmpty());

  const std::string trace = folder.Write("trace.json", R"({"traceEvents": []})");
  found = FindTraces({folder.path()});
  EXPECT_THAT(Displays(found), ElementsAre(trace));
  EXPECT_THAT(found->skipped, ElementsAre(AllOf(HasSubstr(a), HasSubstr("name the file")),
                                          AllOf(HasSubstr(b), HasSubstr("name the file"))));
  EXPECT_THAT(Displays(FindTraces({folder.path(), a})), ElementsAre(a, trace));
}

// A recording of a cluster has results where others have traces, and perhaps some of the traces.
TEST(FindTraces, ARecordingGivesTheResultsThatStandForItsTraces) {
  const FolderForTest folder;
  const std::string results = R"({"schema": 1, "tacho": {"version": "1"}, "traces": []})";
  const std::string node = folder.Write("traces/node-1.json", results);
  const std::string fetched = folder.Write("fetched/node-1/t.json", R"({"traceEvents": []})");
  EXPECT_THAT(Displays(FindTraces({folder.path()})), ElementsAre(fetched)) << "no recording";
  folder.Write("run.json", R"({"schema": 1, "workers": []})");
  folder.Write("other.json", results);
  EXPECT_THAT(Displays(FindTraces({folder.path()})), ElementsAre(fetched, node));
}

TEST(FindTraces, SkipsInAFolderWithAReasonWhatMightBeMissed) {
  FolderForTest folder;
  folder.Write("t.json", kEmptyTrace);
  folder.Write("empty.lock", "");
  folder.Write("p.pftrace", "\x0a\x04\x40\x01\x50\x02");
  folder.Write("r.nsys-rep", kReport);
  folder.Write("r.sqlite", kSqlite);
  folder.Write("r2.nsys-rep", kReport);
  folder.Write("k.ncu-rep", "NVR\0...."s);
  folder.Write("t.json.xz",
               "\xfd"
               "7zXZ\0"s);
  folder.Write("broken.gz", "\x1f\x8b\x08\xff...........");
  ASSERT_EQ(mkfifo(folder.At("fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink(folder.At("nowhere"), folder.At("link"));
  const auto found = FindTraces({folder.path()});
  EXPECT_THAT(Displays(found), ElementsAre(folder.At("r.sqlite"), folder.At("t.json")));
  EXPECT_EQ(found->traces[0].kind, ContentKind::kNsysSqlite);
  EXPECT_THAT(found->skipped, ElementsAre(HasSubstr("/broken.gz: byte 4: the gzip header"),
                                          HasSubstr("/empty.lock: is empty"),
                                          HasSubstr("/k.ncu-rep: is an Nsight Compute report"),
                                          HasSubstr("/link: the link leads nowhere"),
                                          HasSubstr("/p.pftrace: is a Perfetto"),
                                          HasSubstr("/r2.nsys-rep: is an Nsight Systems report"),
                                          HasSubstr("/t.json.xz: is packed")));
}

TEST(FindTraces, TakesReportsOfNsysThatAreGivenAndThoseOfFoldersWithoutTraces) {
  const FolderForTest folder;
  const std::string stream =
      folder.Write("a.qdstrm", "U3w[END]NVIDIA Nsight Systems Stream 2022.4");
  const std::string report = folder.Write("r.nsys-rep", kReport);
  auto found = FindTraces({folder.path()});
  EXPECT_THAT(Displays(found), ElementsAre(stream, report));
  EXPECT_EQ(found->traces[0].kind, ContentKind::kNsysStream);
  EXPECT_EQ(found->traces[1].kind, ContentKind::kNsysReport);
  const std::string trace = folder.Write("t.json", kEmptyTrace);
  EXPECT_THAT(Displays(FindTraces({folder.path()})), ElementsAre(trace));
  EXPECT_THAT(Displays(FindTraces({folder.path(), report})), ElementsAre(report, trace));
}

TEST(FindTraces, FailsForAGivenFileOfAnotherProfilerWithTheRemedy) {
  FolderForTest folder;
  const std::string trace = folder.Write("t.json", kEmptyTrace);
  const std::string perfetto = folder.Write("p.pftrace", "\x0a\x04\x40\x01\x50\x02");
  EXPECT_THAT(ErrorOf({trace, perfetto}),
              AllOf(HasSubstr(perfetto + ": is a Perfetto"), HasSubstr("torch.profiler")));
  const std::string packed = folder.Write("q.pftrace", Gzipped("\x0a\x04\x40\x01\x50\x02"));
  EXPECT_THAT(ErrorOf({packed}),
              AllOf(HasSubstr(packed + ": is a Perfetto"), HasSubstr("let it write .json.gz")));
  EXPECT_THAT(ErrorOf({folder.Write("t.xz",
                                    "\xfd"
                                    "7zXZ\0"s)}),
              HasSubstr("unpack it first"));
}

TEST(FindTraces, TakesAGivenFileThatDoesNotLookLikeATrace) {
  FolderForTest folder;
  for (const std::string& bytes : {"text"s, "{\"a\": 1}"s, ""s,
                                   "\x7f"
                                   "ELF\0"s}) {
    const std::string path = folder.Write("f", bytes);
    EXPECT_THAT(Displays(FindTraces({path})), ElementsAre(path));
  }
}

TEST(FindTraces, FailsForWhatCannotBeRead) {
  FolderForTest folder;
  const std::string trace = folder.Write("t.json", kEmptyTrace);
  EXPECT_EQ(ErrorOf({trace, folder.At("missing")}),
            folder.At("missing") + ": does not exist: check the path");
  EXPECT_THAT(ErrorOf({"/dev/zero"}), HasSubstr("is a character device"));
  EXPECT_THAT(ErrorOf({"/proc/self/mem"}), HasSubstr("reading failed: Input/output error"));
}

TEST(FindTraces, FailsForAFolderWithoutPermissionAndNamesOneBelow) {
  FolderForTest folder;
  const std::string trace = folder.Write("t.json", kEmptyTrace);
  folder.Write("secret/t.json", kEmptyTrace);
  const std::string file = folder.Write("secret.json", kEmptyTrace);
  ASSERT_EQ(chmod(folder.At("secret").c_str(), 0), 0);
  ASSERT_EQ(chmod(file.c_str(), 0), 0);
  const WithoutRoot user;
  if (!user.works()) GTEST_SKIP() << "root cannot become another user here";
  EXPECT_THAT(ErrorOf({folder.At("secret")}), HasSubstr("secret: the folder cannot be read: Perm"));
  EXPECT_THAT(ErrorOf({file}), HasSubstr("secret.json: no permission"));
  const auto found = FindTraces({folder.path()});
  EXPECT_THAT(Displays(found), ElementsAre(trace));
  EXPECT_THAT(found->skipped, ElementsAre());
  ASSERT_EQ(found->failures.size(), 2u);
  EXPECT_THAT(found->failures[0].message, HasSubstr("secret.json: no permission"));
  EXPECT_THAT(found->failures[1].message, HasSubstr("secret: the folder cannot be read: Perm"));
}

TEST(FindTraces, OneFileGivenByTwoNamesIsTakenOnce) {
  FolderForTest folder;
  const std::string trace = folder.Write("t.json", kEmptyTrace);
  const std::string other = folder.path() + "/./t.json";
  const auto found = FindTraces({trace, other});
  EXPECT_THAT(Displays(found), ElementsAre(trace));
  EXPECT_THAT(found->skipped, ElementsAre(other + ": is the same file as " + trace));
}

TEST(FindTraces, CountsATraceOfWhichNothingIsThere) {
  FolderForTest folder;
  folder.Write("rank0.json", kEmptyTrace);
  for (const char* name : {"rank1.json", "rank2.pt.trace.json.gz", "rank3.json.gz.tmp"}) {
    folder.Write(name, "");
  }
  const auto found = FindTraces({folder.path()});
  EXPECT_THAT(Displays(found), ElementsAre(folder.At("rank0.json")));
  EXPECT_THAT(found->skipped, ElementsAre());
  ASSERT_EQ(found->failures.size(), 3u);
  EXPECT_THAT(found->failures[0].message, HasSubstr("/rank1.json: is empty (0 bytes)"));
}

TEST(FindTraces, PassesOverWhatIsNoFileInAFolder) {
  FolderForTest folder;
  const std::string trace = folder.Write("t.json", kEmptyTrace);
  ASSERT_EQ(mkfifo(folder.At("fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/null", folder.At("null"));
  const auto found = FindTraces({folder.path()});
  EXPECT_THAT(Displays(found), ElementsAre(trace));
  EXPECT_THAT(found->skipped, ElementsAre());
}

TEST(FindTraces, FailsWhenNothingIsFoundAndSaysWhatWasSkipped) {
  FolderForTest folder;
  folder.Write("notes.txt", "text");
  EXPECT_THAT(ErrorOf({folder.path()}),
              AllOf(HasSubstr(folder.path() + ": no trace found"), Not(HasSubstr("skipped"))));
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) folder.Write(name, "NVR\0...."s);
  EXPECT_THAT(
      ErrorOf({folder.path()}),
      AllOf(HasSubstr("skipped: " + folder.At("a") + ": is an Nsight"), HasSubstr("and 2 more")));
  EXPECT_THAT(ErrorOf({}), HasSubstr("no trace found"));
}

TEST(FindTraces, GoesRoundLinksOnce) {
  FolderForTest folder;
  const std::string trace = folder.Write("run/rank0.json", kEmptyTrace);
  std::filesystem::create_directory_symlink("..", folder.At("run/up"));
  std::filesystem::create_directory_symlink(".", folder.At("run/self"));
  std::filesystem::create_symlink("rank0.json", folder.At("run/latest.json"));
  std::filesystem::create_hard_link(trace, folder.At("run/zhard.json"));
  const auto found = FindTraces({folder.path()});
  EXPECT_THAT(Displays(found), ElementsAre(trace));
  EXPECT_THAT(found->skipped,
              ElementsAre(HasSubstr("run/latest.json: is the same file as " + trace),
                          HasSubstr("run/self: is the same folder as " + folder.At("run")),
                          HasSubstr("run/up: is the same folder as " + folder.path()),
                          HasSubstr("run/zhard.json: is the same file as " + trace)));
}

TEST(FindTraces, FollowsLinksThatLeadOutOfTheFolder) {
  FolderForTest folder;
  FolderForTest elsewhere;
  elsewhere.Write("far/t.json", kEmptyTrace);
  std::filesystem::create_directory_symlink(elsewhere.path(), folder.At("out"));
  EXPECT_THAT(Displays(FindTraces({folder.path()})), ElementsAre(folder.At("out/far/t.json")));
}

TEST(FindTraces, TakesAGivenFileOnceAlsoBelowAGivenFolder) {
  FolderForTest folder;
  const std::string a = folder.Write("a.json", kEmptyTrace);
  const std::string b = folder.Write("b.json", kEmptyTrace);
  EXPECT_THAT(Displays(FindTraces({folder.path(), a, a, folder.path() + "/"})), ElementsAre(a, b));
  EXPECT_THAT(Displays(FindTraces({b, a})), ElementsAre(a, b));
}

TEST(FindTraces, TakesStandardInputAndAFifoUnseen) {
  FolderForTest folder;
  const std::string fifo = folder.At("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(Displays(FindTraces({"-", fifo})), ElementsAre("-", fifo));
}

TEST(FindTraces, TakesAProcessOfARecording) {
  FolderForTest folder;
  const std::string file = folder.Write("a.sqlite", kSqlite);
  const auto found = FindTraces({file + "#pid=7", file + "#pid=12,machine=3"});
  EXPECT_THAT(Displays(found), ElementsAre(file + "#pid=12,machine=3", file + "#pid=7"));
  EXPECT_EQ(found->traces[1].path, file);
  EXPECT_EQ(found->traces[1].part, "pid=7");
  EXPECT_THAT(Displays(FindTraces({file + "#pid=7", folder.path()})), ElementsAre(file + "#pid=7"))
      << "nor whole from its folder";
  EXPECT_THAT(ErrorOf({file + "#pid=x"}), HasSubstr("#pid=x"));
  EXPECT_THAT(ErrorOf({folder.path() + "/none.sqlite#pid=7"}), HasSubstr("none.sqlite"));
  const std::string named = folder.Write("b.json#pid=7", kEmptyTrace);
  EXPECT_THAT(Displays(FindTraces({named})), ElementsAre(named)) << "a file of that name";
  const auto wrong = FindTraces({folder.Write("c.json", kEmptyTrace) + "#pid=7"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace tacho
