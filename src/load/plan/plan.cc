#include "load/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "load/plan/mix_choice.h"

namespace tacho {
namespace {

// Numbers of independent random streams that start from one seed.
constexpr uint64_t kRequestStream = uint64_t{1} << 32;
constexpr uint64_t kThinkStream = uint64_t{1} << 48;
constexpr uint64_t kPrefixStream = uint64_t{1} << 49;
constexpr uint64_t kModelStream = uint64_t{1} << 50;
constexpr uint64_t kShuffleStream = 2;
constexpr uint64_t kBlockSeed = 0x626c6f636b000000;
constexpr uint64_t kPrefixSeed = 0x7072656669780000;

// These determine how many requests are planned if their number is not given. kOpenEndSeconds: the
// duration to plan for if none is given. kLeastUncounted and kMostUncounted: the bounds of the
// result for a fixed number of users.
constexpr double kOpenEndSeconds = 3600;
constexpr double kRequestsPerSlotSecond = 20;
constexpr double kLeastUncounted = 20'000, kMostUncounted = 500'000;
constexpr int64_t kUnknownOutput = 256;  // as in vLLM's client

class Planner {
 public:
  Planner(const PlanOptions& options, MixChoice mix, Dataset dataset)
      : options_(options),
        mix_(std::move(mix)),
        dataset_(std::move(dataset)),
        arrivals_(TimesOf(options), options.seed) {
    if (!dataset_.rows.empty() && options.shuffle && !options.replay_speed) {
      ShuffleRows(dataset_, options.seed);
    }
    plan_.options = options;
    if (!dataset_.rows.empty()) {
      plan_.dataset = PlannedDataset{dataset_.path, dataset_.kind, dataset_.rows.size()};
    }
    plan_.salt = options.salt.value_or(FreshSalt());
  }

  LoadPlan Make() && {
    const uint64_t most = Most();
    while (plan_.requests.size() < most && !past_end_) AddGroup();
    if (plan_.requests.size() > most) plan_.requests.resize(most);
    return std::move(plan_);
  }

 private:
  static ArrivalOptions TimesOf(const PlanOptions& o) {
    ArrivalOptions times{o.rate.value_or(1), o.burstiness, o.ramp};
    if (times.ramp && times.ramp->over_s <= 0) {
      Ramp& ramp = *times.ramp;
      const double seconds = static_cast<double>(o.duration_ns.value_or(0)) / 1e9;
      ramp.over_s = o.duration_ns ? seconds
                    : o.requests  ? RampSeconds(ramp.shape, ramp.from_rate, ramp.to_rate,
                                                static_cast<double>(*o.requests))
                                  : kOpenEndSeconds;
    }
    return times;
  }

  uint64_t Most() const {
    const uint64_t rows = dataset_.rows.size();
    // By default a replay goes through the dataset once.
    const bool once = rows > 0 && (!options_.oversample || options_.replay_speed);
    if (once) return std::min<uint64_t>(options_.requests.value_or(rows), rows);
    if (options_.requests) return *options_.requests;
    // The duration ends an open loop; this only bounds its memory.
    if (options_.OpenLoop()) return kMostRequests;
    const double seconds =
        options_.duration_ns ? static_cast<double>(*options_.duration_ns) / 1e9 : kOpenEndSeconds;
    const double needed = std::ceil(static_cast<double>(options_.concurrency) *
                                    (1 + seconds * kRequestsPerSlotSecond));
    return static_cast<uint64_t>(std::clamp(needed, kLeastUncounted, kMostUncounted));
  }

  // Adds requests that belong together: a single request, the turns of a session, or the samples of
  // a prompt.
  void AddGroup() {
    NextArrival();
    if (past_end_) return;
    if (!dataset_.rows.empty()) return AddRow(dataset_.rows[group_++ % dataset_.rows.size()]);
    Random random(options_.seed, kRequestStream + group_);
    const Scenario& scenario = mix_.At(random.Uniform());
    const bool fixed = options_.FixedLengths();
    if (fixed || (scenario.turns.empty() && scenario.samples == 1)) {
      AddOne(fixed ? "fixed" : scenario.name, FixLengths(scenario.Draw(random), random), {},
             random.Next());
    } else if (scenario.turns.empty()) {
      AddSamples(scenario, random);
    } else {
      AddSession(scenario, random);
    }
    ++group_;
  }

  void AddRow(const DatasetRow& row) {
    Random random(options_.seed, kRequestStream + group_);
    Scenario::Lengths lengths{row.prompt_tokens,
                              row.output_tokens > 0 ? row.output_tokens : kUnknownOutput};
    lengths = FixLengths(lengths, random);
    std::vector<PromptPiece> shared;
    int64_t left = lengths.prompt;
    for (const int64_t id : row.hash_ids) {
      const int64_t tokens = std::min(left, dataset_.units.block_tokens);
      if (tokens <= 0) break;
      shared.push_back({MixBits(kBlockSeed + static_cast<uint64_t>(id)), tokens});
      left -= tokens;
    }
    AddOne(std::string(DatasetName(dataset_.kind)), lengths, std::move(shared), random.Next(),
           row.text);
    plan_.requests.back().text_is_messages = dataset_.kind == DatasetKind::kMessages;
  }

  Scenario::Lengths FixLengths(Scenario::Lengths lengths, Random& random) const {
    // Lengths go from floor(n (1-s)) to ceil(n (1+s)), both inclusive, as in vLLM's client.
    const auto vary = [&](int64_t tokens, double share) {
      const double n = static_cast<double>(tokens);
      const auto low = std::max<int64_t>(1, static_cast<int64_t>(std::floor(n * (1 - share))));
      const auto high = static_cast<int64_t>(std::ceil(n * (1 + share)));
      if (share == 0 || high <= low) return tokens;
      return low + static_cast<int64_t>(random.Below(static_cast<uint64_t>(high - low + 1)));
    };
    if (options_.prompt_tokens) {
      lengths.prompt = vary(*options_.prompt_tokens, options_.spread.prompt);
    }
    if (options_.output_tokens) {
      lengths.output = vary(*options_.output_tokens, options_.spread.output);
    }
    return lengths;
  }

  // Adds requests that all have the same prompt.
  void AddSamples(const Scenario& scenario, Random& random) {
    const int64_t prompt = FixLengths(scenario.Draw(random), random).prompt;
    const uint64_t seed = random.Next();
    for (int64_t i = 0; i < scenario.samples; ++i) {
      const int64_t output = FixLengths(scenario.Draw(random), random).output;
      AddOne(scenario.name, {prompt, output}, {{seed, prompt}}, seed);
    }
  }

  void AddSession(const Scenario& scenario, Random& random) {
    const auto turns =
        static_cast<uint32_t>(std::max(1.0, std::round(scenario.turns.At(random.Uniform()))));
    std::vector<PromptPiece> said;
    int64_t tokens_said = 0;
    const auto say = [&](uint64_t seed, int64_t tokens) {
      if (tokens <= 0) return;
      said.push_back({seed, tokens});
      tokens_said += tokens;
    };
    say(HashText(scenario.name), scenario.prefix_tokens);
    const uint64_t session = group_;
    for (uint32_t turn = 0; turn < turns; ++turn) {
      const Scenario::Lengths own = FixLengths(scenario.Draw(random), random);
      const uint64_t seed = random.Next();
      const double think_ms =
          scenario.think_ms.empty() ? 0 : scenario.think_ms.At(random.Uniform());
      AddOne(scenario.name, {tokens_said + own.prompt, own.output}, said, seed);
      PlannedRequest& request = plan_.requests.back();
      request.session = session;
      request.turn = turn;
      if (turn > 0) request.think_ns += std::llround(think_ms * 1e6);
      say(seed, own.prompt);
      // Random tokens in place of the answer, which is not known yet.
      say(random.Next(), own.output);
    }
  }

  void AddOne(std::string name, Scenario::Lengths lengths, std::vector<PromptPiece> shared,
              uint64_t seed, std::string text = {}) {
    PlannedRequest request;
    request.text = std::move(text);
    request.index = plan_.requests.size();
    request.scenario = std::move(name);
    request.session = group_;
    request.prompt_tokens = std::max<int64_t>(1, lengths.prompt);
    request.output_tokens = lengths.output;
    request.seed = seed;
    request.shared = std::move(shared);
    if (options_.prefix_tokens > 0) {
      Random random(options_.seed, kPrefixStream + group_);
      const uint64_t which = random.Below(options_.prefixes);
      request.shared.insert(request.shared.begin(),
                            {MixBits(kPrefixSeed + which), options_.prefix_tokens});
      request.prompt_tokens += options_.prefix_tokens;
    }
    if (options_.shared_prefix > 0 && request.shared.empty()) {
      const auto tokens =
          static_cast<int64_t>(static_cast<double>(request.prompt_tokens) * options_.shared_prefix);
      if (tokens > 0) request.shared.push_back({kPrefixSeed, tokens});
    }
    if (!options_.models.empty()) {
      Random random(options_.seed, kModelStream + group_);
      const uint64_t count = options_.models.size();
      request.model =
          options_.models[options_.models_in_turn ? group_ % count : random.Below(count)];
    }
    CutToModel(request);
    request.at_ns = at_ns_;
    if (options_.think_ns > 0) {
      Random random(options_.seed, kThinkStream + request.index);
      request.think_ns =
          std::llround(random.Exponential() * static_cast<double>(options_.think_ns));
    }
    plan_.requests.push_back(std::move(request));
  }

  // Shortens a request to the model's context length. The output causes the most steps, so it keeps
  // its length as long as it takes at most half of the room. A text from a dataset is sent
  // unchanged.
  void CutToModel(PlannedRequest& request) {
    if (!options_.most_total_tokens) return;
    const int64_t most = *options_.most_total_tokens;
    if (request.prompt_tokens + request.output_tokens <= most) return;
    ++plan_.cut_to_model;
    request.cut = true;
    const int64_t least = request.text.empty() ? most / 2 : 1;
    request.output_tokens =
        std::min(request.output_tokens, std::max(least, most - request.prompt_tokens));
    request.prompt_tokens = std::min(request.prompt_tokens, most - request.output_tokens);
    int64_t room = request.prompt_tokens;
    for (PromptPiece& piece : request.shared) {
      piece.tokens = std::min(piece.tokens, room);
      room -= piece.tokens;
    }
    std::erase_if(request.shared, [](const PromptPiece& piece) { return piece.tokens == 0; });
  }

  // Sets the arrival time of the next group. It is the time of the group's first turn; later turns
  // have none, because they follow the turns before them.
  void NextArrival() {
    if (!options_.OpenLoop()) return;
    if (options_.replay_speed) {
      const int64_t at = dataset_.rows[group_ % dataset_.rows.size()].at_ns.value_or(0);
      at_ns_ = std::llround(std::min(static_cast<double>(at) / *options_.replay_speed, kLatestNs));
    } else {
      at_ns_ = arrivals_.NextNs();
    }
    const int64_t end = options_.duration_ns.value_or(options_.requests ? INT64_MAX : kOpenEndNs);
    past_end_ = at_ns_ > end;
  }

  static constexpr double kLatestNs = 9e18;
  static constexpr int64_t kOpenEndNs = static_cast<int64_t>(kOpenEndSeconds) * 1'000'000'000;

  const PlanOptions& options_;
  const MixChoice mix_;
  Dataset dataset_;
  Arrivals arrivals_;
  LoadPlan plan_;
  uint64_t group_ = 0;
  int64_t at_ns_ = 0;
  bool past_end_ = false;
};

}  // namespace

void ShuffleRows(Dataset& dataset, uint64_t seed) {
  Random random(seed, kShuffleStream);
  for (size_t i = dataset.rows.size(); i > 1; --i) {
    std::swap(dataset.rows[i - 1], dataset.rows[random.Below(i)]);
  }
}

uint64_t FreshSalt() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

Result<LoadPlan> MakePlan(const PlanOptions& options) {
  if (options.replay_speed) return Fail(ErrorKind::kUsage, "a replay needs a dataset with times");
  return MakePlan(options, {});
}

Result<LoadPlan> MakePlan(const PlanOptions& options, Dataset dataset) {
  TACHO_RETURN_IF_ERROR(CheckPlan(options));
  const auto timed = std::count_if(dataset.rows.begin(), dataset.rows.end(),
                                   [](const DatasetRow& row) { return row.at_ns.has_value(); });
  if (options.replay_speed && (timed == 0 || static_cast<size_t>(timed) < dataset.rows.size())) {
    return Fail(
        ErrorKind::kUsage,
        timed == 0
            ? "a replay needs a dataset with times, and this one has none"
            : fmt::format("a replay needs a time with each request: {} of {} have none",
                          dataset.rows.size() - static_cast<size_t>(timed), dataset.rows.size()));
  }
  return Planner(options, *MixChoice::Create(options.mix), std::move(dataset)).Make();
}

}  // namespace tacho
