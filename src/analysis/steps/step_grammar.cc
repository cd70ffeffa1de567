#include "analysis/steps/step_grammar.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "base/rule_lines.h"

namespace tacho {
namespace embedded {
extern const std::string_view step_rules;
}
namespace {

// One piece of a pattern.
struct Piece {
  enum class Kind : uint8_t { kLiteral, kNumber, kAny } kind = Kind::kLiteral;
  std::string_view literal;
  std::vector<int64_t StepLabel::*> fields;  // the fields that the number is stored in
};

struct Grammar {
  std::string_view engine;
  std::string_view phase;
  std::vector<Piece> pieces;
};

struct Field {
  std::string_view name;
  int64_t StepLabel::*member;
};
constexpr Field kFields[] = {
    {"cr", &StepLabel::context_requests},  {"ct", &StepLabel::context_tokens},
    {"ck", &StepLabel::context_k},         {"cqq", &StepLabel::context_qq},
    {"cqk", &StepLabel::context_qk},       {"gr", &StepLabel::generation_requests},
    {"gt", &StepLabel::generation_tokens}, {"gk", &StepLabel::generation_k},
    {"gqk", &StepLabel::generation_qk},
};

Result<Piece> ReadField(std::string_view names) {
  Piece piece{
      .kind = names == "*" ? Piece::Kind::kAny : Piece::Kind::kNumber, .literal = {}, .fields = {}};
  if (names == "*" || names == "n") return piece;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    const auto* const field = std::ranges::find(kFields, name, &Field::name);
    if (field == std::end(kFields))
      return Fail(ErrorKind::kUsage, fmt::format("no number is called '{}'", name));
    piece.fields.push_back(field->member);
  }
  return piece;
}

Result<Grammar> ReadGrammar(std::string_view line) {
  Grammar grammar;
  grammar.engine = TakeWord(line);
  if (grammar.engine == "-") grammar.engine = "";
  grammar.phase = TakeWord(line);
  constexpr std::string_view kPhases[] = {"counts", "prefill", "decode", "verify", "mixed",
                                          "empty",  "other",   "part",   "draft"};
  const bool known =
      std::find(std::begin(kPhases), std::end(kPhases), grammar.phase) != std::end(kPhases);
  if (!known || line.empty()) return Fail(ErrorKind::kUsage, "expected ENGINE PHASE PATTERN");
  while (!line.empty()) {
    const size_t open = line.find('{');
    if (open > 0) grammar.pieces.push_back({.literal = line.substr(0, open), .fields = {}});
    if (open == std::string_view::npos) break;
    const size_t close = line.find('}', open);
    if (close == std::string_view::npos) return Fail(ErrorKind::kUsage, "expected } after {");
    TACHO_ASSIGN_OR_RETURN(Piece field, ReadField(line.substr(open + 1, close - open - 1)));
    grammar.pieces.push_back(std::move(field));
    line.remove_prefix(close + 1);
  }
  return grammar;
}

const std::vector<Grammar>& Grammars() {
  static const std::vector<Grammar> grammars = [] {
    std::vector<Grammar> read;
    ReadBuiltInRules(embedded::step_rules, "rules/steps.rules", [&](auto line) -> Result<void> {
      TACHO_ASSIGN_OR_RETURN(Grammar grammar, ReadGrammar(line));
      read.push_back(std::move(grammar));
      return {};
    });
    return read;
  }();
  return grammars;
}

// If `piece` matches `text` at `at`: the position after it, else npos.
size_t MatchPiece(const Piece& piece, std::string_view text, size_t at, StepLabel& label) {
  if (piece.kind == Piece::Kind::kLiteral) {
    return text.substr(at).starts_with(piece.literal) ? at + piece.literal.size()
                                                      : std::string_view::npos;
  }
  std::string_view rest = text.substr(at);
  const auto value = TakeNumber<int64_t>(rest);
  // No engine counts this far, and sums of such numbers do not overflow.
  constexpr int64_t kMost = int64_t{1} << 40;
  if (!value || *value < 0 || *value > kMost) return std::string_view::npos;
  for (const auto field : piece.fields) label.*field = *value;
  return text.size() - rest.size();
}

// Whether the pieces match the whole text. After a mismatch the last {*} grows by one byte, and
// earlier ones keep their shortest text. This misses no match, and the cost stays below pattern
// length times text length.
bool Match(const std::vector<Piece>& pieces, std::string_view text, StepLabel& label) {
  size_t piece = 0, at = 0;
  size_t any_piece = std::string_view::npos, any_end = 0;
  while (true) {
    if (piece == pieces.size() && at == text.size()) return true;
    if (piece < pieces.size() && pieces[piece].kind == Piece::Kind::kAny) {
      any_piece = piece++;
      any_end = at;
      continue;
    }
    const size_t next =
        piece < pieces.size() ? MatchPiece(pieces[piece], text, at, label) : std::string_view::npos;
    if (next != std::string_view::npos) {
      at = next;
      ++piece;
      continue;
    }
    if (any_piece == std::string_view::npos || any_end >= text.size()) return false;
    piece = any_piece + 1;
    at = ++any_end;
  }
}

// The first grammar that matches, with what it reads; null if none does.
const Grammar* GrammarOf(std::string_view annotation, StepLabel& label) {
  for (const Grammar& grammar : Grammars()) {
    label = {};
    if (Match(grammar.pieces, annotation, label)) return &grammar;
  }
  return nullptr;
}

Phase PhaseOf(std::string_view rule, const StepLabel& label) {
  if (rule == "prefill") return Phase::kPrefill;
  if (rule == "decode" || rule == "verify") return Phase::kDecode;
  if (rule == "mixed") return Phase::kMixed;
  if (rule == "empty") return Phase::kEmpty;
  if (rule != "counts") return Phase::kOther;
  const bool context = label.context_requests > 0, generation = label.generation_requests > 0;
  if (context && generation) return Phase::kMixed;
  if (context) return Phase::kPrefill;
  return generation ? Phase::kDecode : Phase::kEmpty;
}

}  // namespace

std::string_view PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kPrefill:
      return "prefill";
    case Phase::kDecode:
      return "decode";
    case Phase::kMixed:
      return "mixed";
    case Phase::kEmpty:
      return "empty";
    case Phase::kOther:
      return "other";
  }
  return "";
}

bool IsDraft(std::string_view annotation) {
  StepLabel label;
  const Grammar* grammar = GrammarOf(annotation, label);
  return grammar != nullptr && grammar->phase == "draft";
}

std::optional<ParsedStep> ParseStep(std::string_view annotation) {
  StepLabel label;
  const Grammar* grammar = GrammarOf(annotation, label);
  if (grammar == nullptr || grammar->phase == "draft") return std::nullopt;
  label.phase = PhaseOf(grammar->phase, label);
  const auto none = [](int64_t& value) { value = std::max<int64_t>(value, 0); };
  if (label.phase == Phase::kPrefill || label.phase == Phase::kEmpty) {
    none(label.generation_requests);
    none(label.generation_tokens);
    none(label.generation_k);
    none(label.generation_qk);
  }
  if (label.phase == Phase::kDecode || label.phase == Phase::kEmpty) {
    none(label.context_requests);
    none(label.context_tokens);
    none(label.context_k);
    none(label.context_qq);
    none(label.context_qk);
  }
  const bool verifies =
      grammar->phase == "verify" ||
      (label.generation_requests > 0 && label.generation_tokens > label.generation_requests);
  return ParsedStep{grammar->engine, label, grammar->phase == "part", verifies};
}

}  // namespace tacho
