#include "export/export_format.h"

#include <gtest/gtest.h>

#include "export/gpu_csv.h"
#include "export/kineto_json.h"
#include "io/content_kind.h"

namespace tacho {
namespace {

TEST(ExportFormats, ByTheNameOfTheFile) {
  EXPECT_EQ(FormatOfFile("a/b.json"), ExportFormat::kKineto);
  EXPECT_EQ(FormatOfFile("b.pt.trace.json.gz"), ExportFormat::kKineto);
  EXPECT_EQ(FormatOfFile("b.speedscope.json"), ExportFormat::kSpeedscope);
  EXPECT_EQ(FormatOfFile("b.pftrace.gz"), ExportFormat::kPerfetto);
  EXPECT_EQ(FormatOfFile("b.folded"), ExportFormat::kFolded);
  EXPECT_EQ(FormatOfFile("b.stacks"), ExportFormat::kStacks);
  EXPECT_EQ(FormatOfFile("b.csv"), ExportFormat::kCsv);
  EXPECT_EQ(FormatOfFile("b.csv.gz"), ExportFormat::kCsv);
  EXPECT_EQ(FormatOfFile("b.sqlite3"), ExportFormat::kSqlite);
  EXPECT_EQ(FormatOfFile("b.db"), ExportFormat::kSqlite);
  EXPECT_EQ(FormatOfFile("b.txt"), std::nullopt);
  EXPECT_EQ(FormatOfFile("json"), std::nullopt);
  EXPECT_EQ(FormatOfFile(""), std::nullopt);
  EXPECT_TRUE(IsGzipName("b.csv.gz"));
  EXPECT_FALSE(IsGzipName("b.csv"));
}

TEST(ExportFormats, ByTheirOwnNames) {
  for (const std::string& name : FormatNames()) EXPECT_TRUE(FormatOfName(name)) << name;
  EXPECT_EQ(FormatOfName("chrome"), std::nullopt);
}

TEST(ExportFormats, AnEarlierExportIsKnownByItsBeginning) {
  EXPECT_TRUE(LooksExported(ExportFormat::kKineto, std::string(kKinetoExportBegin) + ",\"a\":1}"));
  EXPECT_TRUE(LooksExported(ExportFormat::kCsv, std::string(kGpuCsvBegin) + ",x\n"));
  for (const std::string& name : FormatNames()) {
    const ExportFormat format = *FormatOfName(name);
    // What people have under these names: a trace, a table, an export of Nsight Systems, notes.
    for (const std::string& other :
         {std::string("{\"schemaVersion\": 1, \"traceEvents\": []}"),
          std::string("name,count\na,1\n"), "SQLite format 3" + std::string(100, '\0'),
          std::string("a;b of mine\n"), std::string()}) {
      EXPECT_FALSE(LooksExported(format, other)) << name << ": " << other;
    }
  }
}

}  // namespace
}  // namespace tacho
