#include "ray/static_program.h"

#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>
#include <fstream>

#include "base/temporary_folder.h"
#include "io/zip_file.h"

namespace tacho {
namespace {

// The beginning of a program with parts of these types.
std::string Program(const std::vector<uint32_t>& parts) {
  Elf64_Ehdr head = {};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_type = ET_DYN;
  head.e_phoff = sizeof(head);
  head.e_phentsize = sizeof(Elf64_Phdr);
  head.e_phnum = static_cast<uint16_t>(parts.size());
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof(head));
  for (const uint32_t type : parts) {
    Elf64_Phdr part = {};
    part.p_type = type;
    bytes.append(reinterpret_cast<const char*>(&part), sizeof(part));
  }
  return bytes;
}

TEST(StaticProgram, NamesNoLoader) {
  EXPECT_TRUE(IsStaticProgram(Program({PT_LOAD, PT_DYNAMIC})));
  EXPECT_FALSE(IsStaticProgram(Program({PT_INTERP, PT_LOAD})));
  EXPECT_FALSE(IsStaticProgram(Program({})));
  EXPECT_FALSE(IsStaticProgram("#!/bin/sh\n"));
  const std::string whole = Program({PT_LOAD});
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(IsStaticProgram(whole.substr(0, size))) << size;
}

TEST(StaticProgram, TheGivenOne) {
  const auto folder = TemporaryFolder::Make();
  ASSERT_TRUE(folder);
  std::ofstream(folder->At("static")) << Program({PT_LOAD});
  std::ofstream(folder->At("script")) << "#!/bin/sh\n";
  const auto program = FindStaticProgram(folder->At("static"));
  ASSERT_TRUE(program);
  EXPECT_EQ(program->bytes, Program({PT_LOAD}));
  EXPECT_EQ(program->hash.size(), 32u);
  const auto script = FindStaticProgram(folder->At("script"));
  ASSERT_FALSE(script);
  EXPECT_THAT(script.error().message, testing::HasSubstr("not a static program"));
  EXPECT_FALSE(FindStaticProgram(folder->At("none")));
}

TEST(StaticProgram, TheZipHoldsItAndIsAlwaysTheSame) {
  const auto zip = ZipProgram("tacho", "bytes");
  ASSERT_TRUE(zip);
  EXPECT_THAT(*zip, testing::StartsWith("PK"));
  EXPECT_EQ(*zip, *ZipProgram("tacho", "bytes"));
  EXPECT_NE(*zip, *ZipProgram("tacho", "other"));
}

}  // namespace
}  // namespace tacho
