#include "simulate/trace/kineto_text.h"

namespace tacho::simulate {
namespace {

constexpr KinetoLayout kManyKeys = {
    .complete = "\n  {\n    \"ph\": \"X\", \"cat\": \"",
    .name = "\", \"name\": \"",
    .pid = "\", \"pid\": ",
    .tid = ", \"tid\": ",
    .ts = ",\n    \"ts\": ",
    .dur = ", \"dur\": ",
    .args = ",\n    \"args\": {\n      ",
    .flow_start = "\n  {\n    \"ph\": \"s\", \"id\": ",
    .flow_end = "\n  {\n    \"ph\": \"f\", \"id\": ",
    .flow_pid = ", \"pid\": ",
    .flow_tid = ", \"tid\": ",
    .flow_ts = ", \"ts\": ",
    .flow_start_close = ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  },",
    .flow_end_close = ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  },",
    .metadata = "\n  {\n    \"name\": \"",
    .metadata_ts = "\", \"ph\": \"M\", \"ts\": ",
    .metadata_pid = ", \"pid\": ",
    .metadata_tid = ", \"tid\": ",
    .metadata_args = ",\n    \"args\": {\n      \"",
    .close = "\n    }\n  },",
    .metadata_first = false,
};

constexpr KinetoLayout kOneKey = {
    .complete = "\n  {\n    \"ph\": \"X\",\n    \"cat\": \"",
    .name = "\",\n    \"name\": \"",
    .pid = "\",\n    \"pid\": ",
    .tid = ",\n    \"tid\": ",
    .ts = ",\n    \"ts\": ",
    .dur = ",\n    \"dur\": ",
    .args = "\n    ,\n    \"args\": {\n      ",
    .flow_start = "\n  {\n    \"ph\": \"s\",\n    \"id\": ",
    .flow_end = "\n  {\n    \"ph\": \"f\",\n    \"id\": ",
    .flow_pid = ",\n    \"pid\": ",
    .flow_tid = ",\n    \"tid\": ",
    .flow_ts = ",\n    \"ts\": ",
    .flow_start_close = ",\n    \"cat\": \"ac2g\",\n    \"name\": \"ac2g\"\n    \n  },",
    .flow_end_close =
        ",\n    \"cat\": \"ac2g\",\n    \"name\": \"ac2g\"\n    , \"bp\": \"e\"\n  },",
    .metadata = "\n  {\n    \"ph\": \"M\",\n    \"name\": \"",
    .metadata_ts = "\",\n    \"ts\": ",
    .metadata_pid = ",\n    \"pid\": ",
    .metadata_tid = ",\n    \"tid\": ",
    .metadata_args = ",\n    \"args\": {\n      \"",
    .close = "\n    }\n  },",
    .metadata_first = true,
};

}  // namespace

const KinetoLayout& LayoutOf(KinetoDialect dialect) {
  return dialect == KinetoDialect::kOneKeyALine ? kOneKey : kManyKeys;
}

}  // namespace tacho::simulate
