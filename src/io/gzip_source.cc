#include "io/gzip_source.h"

#include <fmt/format.h>

#include <array>

namespace tacho {
namespace {

// Bits of the FLG byte (RFC 1952, 2.3.1).
constexpr int kHeaderCrc = 1 << 1;
constexpr int kExtra = 1 << 2;
constexpr int kName = 1 << 3;
constexpr int kComment = 1 << 4;
constexpr int kReserved = 0xe0;

constexpr std::array<int, 3> kMagic = {0x1f, 0x8b, 0x08};

}  // namespace

GzipSource::GzipSource(std::unique_ptr<ByteSource> stored, InflateLibrary library)
    : input_(std::move(stored)), inflater_(MakeInflater(library)) {
  static_assert(Inflater::kMaxUnused <= StoredInput::kMaxPutBack);
}

size_t GzipSource::Read(char* to, size_t room) {
  size_t written = 0;
  while (written < room && state_ != State::kEnd) {
    if (!pending_.empty()) {
      written += GivePending(to + written, room - written);
      continue;
    }
    switch (state_) {
      case State::kHeader:
        ReadHeader();
        break;
      case State::kBody:
        written += ReadBody(to + written, room - written);
        break;
      case State::kTrailer:
        ReadTrailer();
        break;
      case State::kBetween:
        FindNextMember();
        break;
      case State::kEnd:
        break;
    }
  }
  return written;
}

void GzipSource::ReadHeader() {
  member_start_ = input_.position();
  for (const int expected : kMagic) {
    const int byte = input_.NextByte();
    if (byte < 0) return EndTruncated();
    if (byte != expected) return EndWith(StreamDefect::kCorrupt, "is not a gzip header");
  }
  const int flags = input_.NextByte();
  if (flags < 0) return EndTruncated();
  if ((flags & kReserved) != 0) {
    return EndWith(StreamDefect::kCorrupt, "the gzip header has flags that do not exist");
  }
  constexpr int kTimeFlagsAndSystem = 6;
  if (!Skip(kTimeFlagsAndSystem)) return EndTruncated();
  if ((flags & kExtra) != 0) {
    const int low = input_.NextByte();
    const int high = input_.NextByte();
    if (high < 0 || !Skip(low + 256 * high)) return EndTruncated();
  }
  if ((flags & kName) != 0 && !SkipText()) return EndTruncated();
  if ((flags & kComment) != 0 && !SkipText()) return EndTruncated();
  // The header's checksum is not checked: after a damaged header the data may still be good.
  if ((flags & kHeaderCrc) != 0 && !Skip(2)) return EndTruncated();
  inflater_->Reset();
  crc_ = 0;
  size_ = 0;
  state_ = State::kBody;
}

size_t GzipSource::ReadBody(char* to, size_t room) {
  const bool more_input = input_.Fill();
  const bool at_zeros = input_.at_zeros();
  // Before zeros are judged, the inflater must give everything that it holds back.
  const Inflater::Step step =
      inflater_->Inflate(input_.data(), at_zeros ? 0 : input_.size(), to, room);
  input_.Take(step.taken);
  Count(to, step.written);
  if (step.status == Inflater::Status::kDone) {
    EndBody();
  } else if (step.status == Inflater::Status::kCorrupt) {
    EndCorrupt();
  } else if (step.taken == 0 && step.written == 0) {
    // The last branch is reached only by a bug of the library; it ends the stream instead of
    // looping for ever.
    if (!more_input) {
      EndTruncated();
    } else if (at_zeros) {
      TakeZeros();
    } else {
      EndWith(StreamDefect::kCorrupt, "the compressed data cannot be decoded");
    }
  }
  return step.written;
}

// Decodes the first zeros of a run. The rest of the run is decoded only if these gave zeros.
void GzipSource::TakeZeros() {
  constexpr size_t kMostFromOneBit = 258;
  pending_.resize(StoredInput::kLongZeros * 8 * kMostFromOneBit);
  const Inflater::Step step =
      inflater_->Inflate(input_.data(), StoredInput::kLongZeros, pending_.data(), pending_.size());
  pending_.resize(step.written);
  const bool gives_zeros = pending_.find_first_not_of('\0') == std::string::npos;
  const bool is_end = step.status == Inflater::Status::kDone;
  if (!gives_zeros || (!is_end && pending_.empty())) {
    pending_.clear();
    return EndWith(StreamDefect::kTruncated,
                   "zeros stand where compressed data should, as after a crash: nothing from there "
                   "on is read");
  }
  input_.Take(step.taken);
  if (is_end) EndBody();
}

size_t GzipSource::GivePending(char* to, size_t room) {
  const size_t size = pending_.copy(to, room);
  pending_.erase(0, size);
  Count(to, size);
  return size;
}

void GzipSource::Count(const char* given, size_t size) {
  crc_ = inflater_->Crc(crc_, given, size);
  size_ += static_cast<uint32_t>(size);
  is_empty_ = is_empty_ && size == 0;
}

void GzipSource::EndBody() {
  input_.PutBack(inflater_->Unused());
  state_ = State::kTrailer;
}

void GzipSource::ReadTrailer() {
  uint64_t trailer = 0;
  for (int i = 0; i < 8; ++i) {
    const int byte = input_.NextByte();
    if (byte < 0) return EndTruncated();
    trailer |= static_cast<uint64_t>(byte) << (8 * i);
  }
  if (static_cast<uint32_t>(trailer) != crc_) {
    return EndWith(
        StreamDefect::kCorrupt,
        fmt::format("the checksum of the gzip member that starts at byte {} is wrong: its "
                    "data may be damaged, and nothing after it is read",
                    member_start_));
  }
  if (static_cast<uint32_t>(trailer >> 32) != size_) {
    return EndWith(StreamDefect::kCorrupt,
                   fmt::format("the length of the gzip member that starts at byte {} is wrong: "
                               "nothing after it is read",
                               member_start_));
  }
  state_ = State::kBetween;
}

void GzipSource::FindNextMember() {
  int byte = 0;
  while (byte == 0) byte = input_.NextByte();
  if (byte < 0) {
    end_ = input_.source().end();
    state_ = State::kEnd;
    return;
  }
  const uint64_t start = input_.position() - 1;
  std::string seen;
  for (const int expected : kMagic) {
    if (byte < 0) return EndTruncated();
    if (byte != expected) {
      state_ = State::kEnd;
      end_ = {
          StreamDefect::kTrailingJunk,
          fmt::format("byte {}: what follows the gzip data is not a gzip member: not read", start)};
      return;
    }
    seen.push_back(static_cast<char>(byte));
    if (seen.size() < kMagic.size()) byte = input_.NextByte();
  }
  input_.PutBack(seen);
  state_ = State::kHeader;
}

bool GzipSource::SkipText() {
  int byte = 1;
  while (byte > 0) byte = input_.NextByte();
  return byte == 0;
}

bool GzipSource::Skip(int count) {
  for (int i = 0; i < count; ++i) {
    if (input_.NextByte() < 0) return false;
  }
  return true;
}

void GzipSource::EndCorrupt() {
  EndWith(StreamDefect::kCorrupt,
          fmt::format("the gzip stream is damaged{} ({}): {}",
                      is_empty_ ? " from its first block" : "", inflater_->Reason(),
                      is_empty_ ? "several writers of one file? copy it again"
                                : "nothing after it is read"));
}

void GzipSource::EndTruncated() {
  EndWith(StreamDefect::kTruncated, "the gzip data ends in the middle: the rest of it is missing");
}

void GzipSource::EndWith(StreamDefect defect, const std::string& text) {
  state_ = State::kEnd;
  // If the stored bytes themselves ended early, report that, because it is the cause.
  if (defect == StreamDefect::kTruncated && input_.source().end().defect != StreamDefect::kNone) {
    end_ = input_.source().end();
    return;
  }
  end_ = {defect, fmt::format("byte {}: {}", input_.position(), text)};
}

}  // namespace tacho
