#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ingest/nsys_sqlite/nsys_reader.h"
#include "ingest/nsys_sqlite/table_scan.h"
#include "model/trace_builder.h"

namespace tacho::nsys {

// nsys's global ids of a thread, and of a process (tid 0).
inline int64_t GlobalTid(int64_t pid, int64_t tid) { return int64_t{1} << 48 | pid << 24 | tid; }
inline std::string Global(int64_t pid, int64_t tid = 0) {
  return std::to_string(GlobalTid(pid, tid));
}

// A database in memory with the tables of an export in schema 3.25, without those in `without`.
// `rows`: SQL that fills the tables.
inline SqliteDatabase MakeExport(const std::string& rows,
                                 const std::vector<std::string>& without = {}) {
  static const std::vector<std::pair<std::string, std::string>> kTables{
      {"META_DATA_EXPORT", "name TEXT, value TEXT"},
      {"StringIds", "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL"},
      {"TARGET_INFO_SESSION_START_TIME", "utcEpochNs INTEGER"},
      {"CUPTI_ACTIVITY_KIND_KERNEL",
       "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
       "correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, "
       "mangledName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY "
       "INTEGER, blockZ INTEGER, registersPerThread INTEGER, graphNodeId INTEGER"},
      {"CUPTI_ACTIVITY_KIND_MEMCPY",
       "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
       "correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind "
       "INTEGER, "
       "dstKind INTEGER"},
      {"CUPTI_ACTIVITY_KIND_MEMSET",
       "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
       "correlationId INTEGER, globalPid INTEGER, value INTEGER, bytes INTEGER, memKind INTEGER"},
      {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
       "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
       "correlationId INTEGER, globalPid INTEGER, graphId INTEGER, graphExecId INTEGER"},
      {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
       "start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
       "correlationId INTEGER, globalPid INTEGER, syncType INTEGER, eventId INTEGER"},
      {"CUPTI_ACTIVITY_KIND_RUNTIME",
       "start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, "
       "nameId INTEGER, returnValue INTEGER"},
      {"NVTX_EVENTS",
       "start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, text TEXT, globalTid "
       "INTEGER, "
       "endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER"},
      {"OSRT_API",
       "start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER, "
       "returnValue INTEGER, nestingLevel INTEGER"},
      {"PROCESSES", "globalPid INTEGER, pid INTEGER, name TEXT"},
      {"ThreadNames", "nameId INTEGER, priority INTEGER, globalTid INTEGER"},
      {"TARGET_INFO_GPU",
       "id INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER, computeMajor INTEGER, "
       "computeMinor INTEGER, cuDevice INTEGER"},
      {"TARGET_INFO_CUDA_DEVICE", "gpuId INTEGER, cudaId INTEGER, pid INTEGER"},
      {"DIAGNOSTIC_EVENT", "severity INTEGER, text TEXT, globalPid INTEGER"},
      {"PROFILER_OVERHEAD",
       "start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER, returnValue INTEGER"},
      {"ANALYSIS_DETAILS", "duration INTEGER"}};
  SqliteDatabase made = *SqliteDatabase::InMemory();
  std::string sql;
  for (const auto& [table, columns] : kTables) {
    if (std::find(without.begin(), without.end(), table) == without.end())
      sql += "CREATE TABLE " + table + "(" + columns + ");";
  }
  const Result<void> run = made.Run(sql + rows);
  EXPECT_TRUE(run) << run.error().message;
  return *SqliteDatabase::OfBytes(*made.Bytes());
}

// The bytes of `database`, except that the first page with rows of `table` has an invalid type.
inline std::string DamagedExport(const SqliteDatabase& database, const std::string& table) {
  std::string bytes = *database.Bytes();
  SqliteDatabase copy = *SqliteDatabase::OfBytes(bytes);
  constexpr size_t kPage = 4096;
  const auto big_endian = [&](size_t at, size_t size) {
    size_t value = 0;
    for (size_t i = 0; i < size; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
    return value;
  };
  size_t page = kPage * (Schema::Read(copy)->Find(table)->root - 1);
  constexpr char kInner = 5;
  if (bytes[page] == kInner) page = kPage * (big_endian(page + big_endian(page + 12, 2), 4) - 1);
  bytes[page] = 0;
  return bytes;
}

// SQL that inserts the version of an export and two names: 1 "gemm<float>", 2
// "cudaLaunchKernel_v7000".
inline constexpr const char* kVersion =
    "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.25.0'), "
    "('EXPORT_SCHEMA_VERSION_MAJOR', '3'), ('EXPORT_SCHEMA_VERSION_MINOR', '25'), "
    "('EXPORT_PARAM_TIME_SHIFT', '0');"
    "INSERT INTO StringIds VALUES (1, 'gemm<float>'), (2, 'cudaLaunchKernel_v7000');";

// The traces of an export, by the name of their part.
inline Result<std::map<std::string, Trace>> ReadAll(SqliteDatabase& database) {
  std::map<std::string, TraceBuilder> builders;
  TACHO_RETURN_IF_ERROR(ReadNsysSqlite(
      database,
      {.next_sink = [&](const std::string& part) -> EventSink& { return builders[part]; }}));
  std::map<std::string, Trace> traces;
  for (auto& [part, builder] : builders) traces.emplace(part, std::move(builder).Finish());
  return traces;
}

}  // namespace tacho::nsys
