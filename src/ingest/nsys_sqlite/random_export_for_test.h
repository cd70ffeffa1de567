#pragma once

#include <string>

#include "base/random.h"
#include "ingest/nsys_sqlite/export_for_test.h"

namespace tacho::nsys {

// An integer as SQL; seldom NULL or an unusable value.
inline std::string RandomValue(Random& random, int64_t low, int64_t high) {
  const uint64_t odd = random.Below(100);
  if (odd == 0) return "NULL";
  if (odd == 1) return "'text'";
  if (odd == 2) return "-9000000000000000000";
  return std::to_string(random.Between(low, high));
}

// SQL for rows of several processes with several names; some rows are defective.
inline std::string RandomExport(Random& random, int64_t rows, int64_t most_processes) {
  std::string sql = kVersion;
  for (int64_t i = 3; i < 20; ++i) {
    sql += "INSERT INTO StringIds VALUES (" + std::to_string(i) + ", 'call" + std::to_string(i) +
           (i % 3 == 0 ? "_v3020" : "") + (i == 7 ? "' || x'ff');" : "');");
  }
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t start = random.Between(0, 1'000'000);
    const std::string times =
        RandomValue(random, start, start) + ", " + RandomValue(random, start - 5, start + 300);
    const std::string of = random.Below(50) == 0
                               ? "NULL"
                               : Global(random.Between(1, most_processes), random.Between(0, 9));
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + times + ", 0, " + of + ", 1, " +
           RandomValue(random, 1, 24) + ", 0);";
    const std::string gpu = times + ", " + RandomValue(random, 0, 3) + ", 1, " +
                            RandomValue(random, 7, 9) + ", 5, " + of + ", ";
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + gpu + RandomValue(random, 1, 22) +
           ", 2, NULL, " + std::to_string(random.Between(1, 3)) + ", 2, 1, 128, 1, 1, 32, NULL);";
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (" + gpu + RandomValue(random, 0, 99) +
           ", " + RandomValue(random, 0, 14) + ", " + RandomValue(random, 0, 8) + ", " +
           RandomValue(random, -1, 8) + ");";
    sql += "INSERT INTO OSRT_API VALUES (" + times + ", " + RandomValue(random, 27, 28) + ", " +
           of + ", " + RandomValue(random, 1, 24) + ", 0, 0);";
    sql += "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (" + gpu + "0, " +
           RandomValue(random, 0, 99) + ", " + RandomValue(random, 0, 8) + ");";
  }
  const SqliteDatabase database = MakeExport(sql);
  return *database.Bytes();
}

}  // namespace tacho::nsys
