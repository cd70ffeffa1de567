#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/block_stream.h"
#include "io/byte_source.h"

// Helpers of this folder's tests: they pack bytes, and read a stream to its end.
namespace tacho::packed {

// Text of `size` bytes that can be compressed, but not to almost nothing.
inline std::string SampleText(size_t size) {
  std::string text;
  uint64_t state = 88172645463325252u;
  while (text.size() < size) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    text += "{\"ph\": \"X\", \"name\": \"kernel_" + std::to_string(state % 97) +
            "\", \"ts\": " + std::to_string(state % 1000003) + "},\n";
  }
  text.resize(size);
  return text;
}

inline std::string Deflated(std::string_view bytes, int window_bits, int level,
                            gz_header* header = nullptr) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  if (header != nullptr) deflateSetHeader(&stream, header);
  std::string out(deflateBound(&stream, bytes.size()) + 1024, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string Gzipped(std::string_view bytes, int level = 6) {
  return Deflated(bytes, MAX_WBITS + 16, level);
}

// Compresses with zstd; with a checksum, as the zstd program does, unless `checksum` is false.
inline std::string Zstded(std::string_view bytes, int level = 3, bool checksum = true) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum ? 1 : 0);
  const size_t size = ZSTD_compress2(context, out.data(), out.size(), bytes.data(), bytes.size());
  ZSTD_freeCCtx(context);
  EXPECT_FALSE(ZSTD_isError(size));
  out.resize(size);
  return out;
}

struct PackedFile {
  std::string name;
  std::string bytes;
};

enum class ArchiveFormat { kTar, kZip, kEncryptedZip };

inline std::string Archived(const std::vector<PackedFile>& files, ArchiveFormat format) {
  archive* writer = archive_write_new();
  if (format == ArchiveFormat::kTar) {
    archive_write_set_format_pax_restricted(writer);
  } else {
    archive_write_set_format_zip(writer);
  }
  if (format == ArchiveFormat::kEncryptedZip) {
    EXPECT_EQ(archive_write_set_options(writer, "zip:encryption=zipcrypt"), ARCHIVE_OK);
    archive_write_set_passphrase(writer, "secret");
  }
  archive_write_set_bytes_per_block(writer, 0);
  std::string out;
  const auto append = [](archive*, void* to, const void* data, size_t size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), size);
    return static_cast<la_ssize_t>(size);
  };
  EXPECT_EQ(archive_write_open(writer, &out, nullptr, append, nullptr), ARCHIVE_OK);
  for (const PackedFile& file : files) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, file.name.c_str());
    archive_entry_set_filetype(entry, file.name.ends_with('/') ? AE_IFDIR : AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, static_cast<la_int64_t>(file.bytes.size()));
    // A name that is not UTF-8 causes a warning.
    EXPECT_GE(archive_write_header(writer, entry), ARCHIVE_WARN) << archive_error_string(writer);
    archive_write_data(writer, file.bytes.data(), file.bytes.size());
    archive_entry_free(entry);
  }
  EXPECT_EQ(archive_write_close(writer), ARCHIVE_OK);
  archive_write_free(writer);
  return out;
}

struct Delivered {
  std::string bytes;
  StreamDefect defect = StreamDefect::kNone;
  std::string text;
};

inline Delivered ReadAll(BlockStream& stream) {
  Delivered delivered;
  while (true) {
    const Block block = stream.Next();
    if (block.size == 0) break;
    delivered.bytes.append(block.data, block.size);
  }
  delivered.defect = stream.defect();
  delivered.text = stream.defect_text();
  return delivered;
}

inline Delivered ReadAll(ByteSource& source, size_t room = 1 << 16) {
  Delivered delivered;
  std::string buffer(room, '\0');
  while (const size_t size = source.Read(buffer.data(), room)) {
    delivered.bytes.append(buffer.data(), size);
  }
  delivered.defect = source.end().defect;
  delivered.text = source.end().text;
  return delivered;
}

}  // namespace tacho::packed
