#include "base/system_error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace tacho {
namespace {

TEST(SystemErrorText, SaysWhatToDoWhereSomethingCanBeDone) {
  EXPECT_EQ(SystemErrorText(ENOSPC),
            "No space left on device: make room there, or name another place");
  EXPECT_EQ(SystemErrorText(EPIPE), "Broken pipe");
}

}  // namespace
}  // namespace tacho
