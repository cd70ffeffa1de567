#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"
#include "cli/analyze/analyze_command.h"
#include "cli/screen/read_on_cluster.h"
#include "text/visible_text.h"

namespace tacho {

std::vector<WholeTable> AnalyzeOptions::Tables() const {
  std::vector<WholeTable> tables;
  for (size_t i = 0; i < kWholeTables; ++i) {
    if (whole.at(i)) tables.push_back(static_cast<WholeTable>(i));
  }
  return tables;
}

namespace {

OptionGroup TablesAlone(AnalyzeOptions& o) {
  OptionGroup group{"one table with all its rows", {}};
  for (const WholeTableFlag& of : kWholeTableFlags)
    group.options.push_back({of.flag, "", of.shows, &o.whole.at(static_cast<size_t>(of.table))});
  group.options.push_back(
      {"--sort", "COLUMN[:asc|desc]",
       "of these tables, by a column as CSV names it (docs/csv.md): total_ns, count:asc", &o.sort});
  group.options.push_back(
      {"--filter", "TEXT|COLUMN>VALUE",
       "of these tables only rows with TEXT in a name, or whose value compares so (> >= < <= = "
       "!=): gemm, 'p99_ns>100us', 'share>=5%', category=norm; '\"a<1\"' is a TEXT",
       &o.filter});
  return group;
}

}  // namespace

// Long: a row for each option.
CommandSpec AnalyzeSpec(AnalyzeOptions& o) {
  CommandSpec spec;
  spec.name = "analyze";
  spec.summary = "where the time goes in one trace or in all ranks of a run";
  spec.usage = "PATH... [options]";
  spec.description =
      "PATH is a trace of PyTorch's profiler (.json, .json.gz, .json.zst), a folder of them (all "
      "ranks of a "
      "run), an archive (.tar, .tar.gz, .zip), or - for standard input. Files are told by their "
      "content, "
      "not by their names.";
  spec.positionals = &o.traces.paths;
  const std::vector<OptionRow> how = o.How();
  spec.groups = {
      {"what to print (default: the first screen)",
       {{"--json", "", "all figures as JSON, schema 1 (docs/json.md)", &o.json},
        {"--digests", "",
         "with --json: also what analyses over ranks need, so that results of single ranks give, "
         "read together, the results of all",
         &o.digests},
        {"--markdown", "", "the report as GitHub Markdown, below 60 kB", &o.markdown},
        {"--csv", "DIR",
         "also write every table as a CSV file into DIR, which is made if it is missing",
         &o.csv_folder},
        {"--summary", "", "totals only; memory grows with the number of distinct names",
         &o.summary},
        {"--stacks-from", "TRACE",
         "a recording of the same engine with Python stacks and without graphs: its frames name "
         "the code that launches each kernel (docs/metrics.md#sources)",
         &o.stacks_from},
        {"--top", "N", "rows of each table (default: 10 on the first screen, else all)", &o.top, 1},
        o.traces.KeepSecrets()}},
      TablesAlone(o),
      o.WhatToLookAt(),
      o.TheModel(),
      {"how",
       {{"-w,--wide", "", "full names, lines of any length", &o.wide},
        OptionRow{"--color", "WHEN",
                  "auto (a terminal only), always or never; NO_COLOR is respected", &o.color}
            .OneOf({"auto", "always", "never"}),
        how[0],
        how[1]}},
      o.OnACluster(),
      {"the flags of tools/analyze_profile.py (vime, slime), for its twelve sections",
       {{"--profile-dir", "DIR", "print the sections for the first worker's trace below DIR",
         &o.profile_dir},
        {"--all-ranks", "", "with --profile-dir: for every rank, and compare them", &o.all_ranks},
        {"--top-n", "N", "with --profile-dir: kernels to show (default 20)", &o.top, 1}}},
      o.fetch.Rows(),
  };
  spec.examples = {
      {"tacho analyze vllm_profile/",
       "every rank below a folder: verdict, ranks, idle causes, kernels"},
      {"tacho analyze rank0.pt.trace.json.gz --kernels -w", "all kernels with their whole names"},
      {"tacho analyze trace.json --kernels --filter gemm --sort p99_ns",
       "kernels with \"gemm\" in their names, those with the longest tail first"},
      {"tacho analyze trace.json --window 1.2s:1.5s --gaps",
       "why the device was idle in 300 ms of the trace"},
      {"tacho analyze rank0.json rank1.json",
       "what --json --digests wrote on two machines, as one run"},
      {"tacho analyze run/ --json | jq '.traces[].idle'", "figures for programs"},
      {"tacho analyze --ray http://head:8265 /tmp/profile",
       "the traces on all nodes of a Ray cluster, as one run"},
      {"tacho analyze --profile-dir DIR --all-ranks",
       "the sections of analyze_profile.py, with correct figures"},
  };
  return spec;
}

std::vector<CommandSpec> AnalyzeSpecs() {
  AnalyzeOptions options;
  return {AnalyzeSpec(options)};
}

Result<void> CheckAnalyzeOptions(const AnalyzeOptions& o) {
  const auto fail = [](std::string problem) {
    return Fail(ErrorKind::kUsage, std::move(problem) + "; see 'tacho analyze --help'");
  };
  if (o.traces.paths.empty() && !o.profile_dir) return fail("no trace given");
  if (!o.traces.paths.empty() && o.profile_dir) return fail("give either PATH or --profile-dir");
  std::vector<std::string> forms;
  if (o.json) forms.emplace_back("--json");
  if (o.markdown) forms.emplace_back("--markdown");
  // --markdown and a table may be given together: the table is then printed as Markdown.
  if (!o.Tables().empty() && !o.markdown) forms.emplace_back("a table");
  if (o.profile_dir) forms.emplace_back("--profile-dir");
  if (forms.size() > 1)
    return fail(fmt::format("{} and {} do not go together", forms[0], forms[1]));
  if (o.digests && !o.json) return fail("--digests needs --json");
  TACHO_RETURN_IF_ERROR(o.fetch.Check(o.ray.has_value()));
  if ((o.sort || o.filter) && o.Tables().empty()) {
    return fail(fmt::format("{} needs one of the tables, such as --kernels",
                            o.sort ? "--sort" : "--filter"));
  }
  TACHO_RETURN_IF_ERROR(CheckRayOptions(o, o.traces.paths));
  if (o.ray && (o.summary || o.profile_dir)) {
    return fail(
        fmt::format("--ray and {} do not go together", o.summary ? "--summary" : "--profile-dir"));
  }
  if (o.summary) {
    if (forms.size() == 1 && !o.json)
      return fail(fmt::format("--summary and {} do not go together", forms[0]));
    const char* needs_model = o.csv_folder             ? "--csv"
                              : !o.traces.rank.empty() ? "--rank"
                              : !o.device.empty()      ? "--device"
                              : o.traces.session       ? "--session"
                              : o.window               ? "--window"
                              : o.rules_file           ? "--rules"
                                                       : nullptr;
    if (needs_model != nullptr) {
      return fail(
          fmt::format("--summary reads without a model, so {} does not go with it", needs_model));
    }
  }
  return {};
}

}  // namespace tacho
