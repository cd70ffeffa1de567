#include "analysis/names/demangle.h"

#include <gtest/gtest.h>

#include <chrono>

namespace tacho {
namespace {

std::string Reference(size_t part) {
  static constexpr char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string digits;
  if (part > 0) {
    size_t n = part - 1;
    do {
      digits.insert(digits.begin(), kDigits[n % 36]);
      n /= 36;
    } while (n > 0);
  }
  return "S" + digits + "_";
}

// p<A, A>, p<p<A, A>, p<A, A>>, ...: each type is twice as long as the one before.
std::string Tower(size_t height) {
  std::string name = "_Z1fI1A1pIS0_S0_E";  // parts: f, A, p, p<A, A>
  for (size_t i = 0; i < height; ++i) {
    name += "S1_I" + Reference(3 + i) + Reference(3 + i) + 'E';
  }
  return name + "EvT_";
}

TEST(Demangle, WhatPeopleWrite) {
  EXPECT_EQ(Demangle("_ZN2ns1fIiEEvPT_"), "void ns::f<int>(int*)");
  EXPECT_EQ(Demangle("_ZN1AcvT_IiEEv"), "A::operator int<int>()");
  EXPECT_EQ(Demangle("_Z1fIJiiEEvDpRKT_"), "void f<int, int>(int const&, int const&)");
  EXPECT_EQ(Demangle("_Z1fIJiiEEvDp1pIT_E"), "void f<int, int>(p<int>, p<int>)");
  EXPECT_EQ(Demangle("_Z"), "");
  EXPECT_EQ(Demangle(""), "");
  EXPECT_EQ(Demangle(Tower(1)), "void f<A, p<A, A>, p<p<A, A>, p<A, A> > >(A)");
  // A kernel of ck_tile.
  EXPECT_NE(
      Demangle("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassINS_27R"
               "msnorm2dFwdPipelineProblemIDeDefDeDeDeffNS_19Generic2dBlockShapeINS_8sequenceIJL"
               "i1ELi3072EEEENS5_IJLi1ELi128EEEENS5_IJLi1ELi8EEEEEENS_18Rmsnorm2dFwdTraitsILb1EL"
               "b0ELb0ELb0ELNS_21Rmsnorm2dFusedAddEnumE0ELNS_23Rmsnorm2dFusedQuantEnumE0ELNS_22R"
               "msnorm2dSensitiveEnumE0EEEEENS_33Rmsnorm2dFwdPipelineDefaultPolicyEEENS_17Defaul"
               "t2DEpilogueINS_24Default2DEpilogueProblemIfDeLb0ELb1ELb0EEEvEEEEJNSM_5KargsEEEEv"
               "DpT1_"),
      "");
}

TEST(Demangle, NamesThatGrowWithoutBoundAreRefused) {
  const auto start = std::chrono::steady_clock::now();
  size_t refused = 0;
  for (size_t height = 0; height < 90; ++height) {
    const std::string demangled = Demangle(Tower(height));
    EXPECT_LE(demangled.size(), 1u << 16);
    refused += demangled.empty();
    Demangle("_ZN1AcvT_I" + Tower(height).substr(4) + "v");
    Demangle("_Z1fIJiiiiiiiiiiiiiiiiEEvDp" + Tower(height).substr(4));
  }
  EXPECT_GT(refused, 70u);
  EXPECT_EQ(Demangle("_Z" + std::string(100'000, 'P') + "i"), "");
  EXPECT_EQ(Demangle("_Z1f" + std::string(3'000'000, 'P') + "i"), "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1));
}

}  // namespace
}  // namespace tacho
