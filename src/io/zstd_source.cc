#include "io/zstd_source.h"

#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <new>

namespace tacho {
namespace {

constexpr size_t kMagicSize = 4;
constexpr std::string_view kFrameMagic = "\x28\xb5\x2f\xfd";

}  // namespace

bool StartsZstdFrame(std::string_view bytes) {
  if (bytes.size() < kMagicSize) return false;
  uint32_t magic = 0;
  for (size_t i = 0; i < kMagicSize; ++i) {
    magic |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return magic == ZSTD_MAGICNUMBER ||
         (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

ZstdSource::ZstdSource(std::unique_ptr<ByteSource> stored)
    : input_(std::move(stored)), context_(ZSTD_createDCtx()) {
  static_assert(kMagicSize <= StoredInput::kMaxPutBack);
  if (context_ == nullptr) throw std::bad_alloc();
}

ZstdSource::~ZstdSource() { ZSTD_freeDCtx(context_); }

size_t ZstdSource::Read(char* to, size_t room) {
  size_t written = 0;
  while (written < room && !ended_) {
    if (in_frame_) {
      written += ReadFrame(to + written, room - written);
    } else {
      FindNextFrame();
    }
  }
  return written;
}

size_t ZstdSource::ReadFrame(char* to, size_t room) {
  const bool more_input = input_.Fill();
  ZSTD_inBuffer in = {input_.data(), input_.size(), 0};
  ZSTD_outBuffer out = {to, room, 0};
  const size_t status = ZSTD_decompressStream(context_, &out, &in);
  input_.Take(in.pos);
  if (ZSTD_isError(status) != 0) {
    const ZSTD_ErrorCode code = ZSTD_getErrorCode(status);
    if (code == ZSTD_error_memory_allocation) throw std::bad_alloc();
    if (code == ZSTD_error_frameParameter_windowTooLarge) {
      EndWith(
          StreamDefect::kCorrupt,
          "the zstd frame needs a window of more than 128 MB: unpack it with zstd -d --long=31");
    } else {
      EndWith(StreamDefect::kCorrupt,
              fmt::format("the zstd data is corrupt ({}): nothing after it is read",
                          ZSTD_getErrorName(status)));
    }
  } else if (status == 0) {
    in_frame_ = false;
  } else if (!more_input && out.pos == 0) {
    EndTruncated();
  }
  return out.pos;
}

void ZstdSource::FindNextFrame() {
  int byte = 0;
  while (byte == 0) byte = input_.NextByte();
  const uint64_t start = input_.position() - 1;
  std::string magic;
  while (byte >= 0 && magic.size() < kMagicSize) {
    magic.push_back(static_cast<char>(byte));
    if (magic.size() < kMagicSize) byte = input_.NextByte();
  }
  if (magic.empty() && !first_) {
    ended_ = true;
    end_ = input_.source().end();
  } else if (StartsZstdFrame(magic)) {
    input_.PutBack(magic);
    in_frame_ = true;
    first_ = false;
  } else if (magic.size() < kMagicSize && (first_ || kFrameMagic.starts_with(magic))) {
    EndTruncated();
  } else {
    ended_ = true;
    end_ = {
        StreamDefect::kTrailingJunk,
        fmt::format("byte {}: what follows the zstd data is not a zstd frame: not read", start)};
  }
}

void ZstdSource::EndTruncated() {
  EndWith(StreamDefect::kTruncated, "the zstd data ends in the middle: the rest of it is missing");
}

void ZstdSource::EndWith(StreamDefect defect, const std::string& text) {
  ended_ = true;
  if (defect == StreamDefect::kTruncated && input_.source().end().defect != StreamDefect::kNone) {
    end_ = input_.source().end();
    return;
  }
  end_ = {defect, fmt::format("byte {}: {}", input_.position(), text)};
}

}  // namespace tacho
