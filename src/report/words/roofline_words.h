#pragma once

#include <string>
#include <string_view>

#include "analysis/analyze.h"

namespace tacho {

// What is missing for a roofline, and the option that gives it: "no mean length of a request is
// known (--context-length)".
std::string_view WhatIsMissing(RooflineLack lack);
// All that is missing, in one sentence; "" if nothing is.
std::string MissingText(const Roofline& roofline);
// Why there is no row: what is missing, or that no model was given.
std::string WhyNoRoofline(const Roofline& roofline);
// How much of the time of GEMM kernels the table by shape has, or why it is empty.
std::string GemmsText(const TraceAnalysis& trace);
// The model, its ranks and the peaks: "qwen3 of 36 layers on 1 rank; h100-sxm: 989 TFLOP/s, 3.35
// TB/s".
std::string RooflineText(const Roofline& roofline);

}  // namespace tacho
