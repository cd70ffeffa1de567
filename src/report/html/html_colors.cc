#include "report/html/html_colors.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "base/words.h"

namespace tacho {
namespace {

using Colors = std::span<const std::string_view>;

struct PaletteColors {
  std::string_view prefix;
  Colors light, dark;
};

// Colours outside the palettes: background, text, lines.
constexpr std::string_view kVariables[] = {"bg",    "panel",  "ink", "dim", "line",
                                           "hover", "accent", "bad", "warn"};
constexpr std::string_view kNamedLight[] = {"#fbfbfa", "#ffffff", "#1b1d20", "#5c636b", "#e3e5e8",
                                            "#f1f3f5", "#0b62c4", "#b3372f", "#8a5a00"};
constexpr std::string_view kNamedDark[] = {"#121416", "#181b1e", "#e6e8ea", "#9aa3ab", "#2a2f34",
                                           "#20252a", "#6cb2ff", "#f0827a", "#e0a83c"};

constexpr std::string_view kWorkLight[] = {"#00519b", "#6a64cb", "#6a9f84", "#f2b65a",
                                           "#b78aec", "#45d6eb", "#812a65", "#a07c04",
                                           "#727475", "#bf9b15", "#883d00", "#c4b7a8"};
constexpr std::string_view kWorkDark[] = {"#4989b9", "#7277f5", "#60ac8f", "#e59544",
                                          "#b395e2", "#57d9e5", "#a43e88", "#b27c00",
                                          "#8d7c82", "#d1c825", "#a05a1e", "#c4beae"};
constexpr std::string_view kPhasesLight[] = {"#6a64cb", "#00519b", "#6a9f84", "#c9ced4", "#9aa3ab"};
constexpr std::string_view kPhasesDark[] = {"#7277f5", "#4989b9", "#60ac8f", "#4a5158", "#6d757d"};
constexpr std::string_view kIdleLight[] = {"#c2413a", "#e08a80", "#cdb9a8", "#9db2bf",
                                           "#8fa3b5", "#7d6f9c", "#a8763e", "#d4a017",
                                           "#b9c0c7", "#c9ced4", "#d8d4cd", "#a9aeb4"};
constexpr std::string_view kIdleDark[] = {"#e0645c", "#a85a53", "#cdb9a8", "#9db2bf",
                                          "#6f8596", "#8e80b3", "#b98548", "#c99a22",
                                          "#4a5158", "#5b636b", "#68655f", "#7b8188"};
constexpr std::string_view kExposureLight[] = {"#3f6f9f", "#f8dcae", "#f2b65a"};
constexpr std::string_view kExposureDark[] = {"#4989b9", "#7a5f3f", "#e59544"};
constexpr std::string_view kHostLight[] = {"#b9c4cf", "#6f9a8d", "#7b91a8", "#dcc48b",
                                           "#c9908a", "#bf9b15", "#aeb6be"};
constexpr std::string_view kHostDark[] = {"#3a444e", "#3f6b60", "#34506c", "#86713f",
                                          "#8a4f4a", "#7d7722", "#4c555e"};
// Colours that only the report uses: kParts for the parts of a window; kPlain for a bar without a
// category, and for what is left over.
constexpr std::string_view kPartsLight[] = {"#00519b", "#f2b65a", "#bf9b15", "#d5d9dd"};
constexpr std::string_view kPartsDark[] = {"#4989b9", "#e59544", "#d1c825", "#3a4046"};
constexpr std::string_view kPlainLight[] = {"#7b91a8", "#eceef0"};
constexpr std::string_view kPlainDark[] = {"#5b7894", "#22272c"};

constexpr PaletteColors kPalettes[] = {
    {"w", kWorkLight, kWorkDark},  {"p", kPhasesLight, kPhasesDark},
    {"i", kIdleLight, kIdleDark},  {"e", kExposureLight, kExposureDark},
    {"h", kHostLight, kHostDark},  {"s", kPartsLight, kPartsDark},
    {"n", kPlainLight, kPlainDark}};

// WCAG's relative luminance of "#rrggbb", 0..1.
double Luminance(std::string_view color) {
  constexpr double kWeights[] = {0.2126, 0.7152, 0.0722};
  double luminance = 0;
  for (size_t i = 0; i < 3; ++i) {
    const double part = (HexDigit(color[1 + 2 * i]) * 16 + HexDigit(color[2 + 2 * i])) / 255.0;
    luminance +=
        kWeights[i] * (part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
  }
  return luminance;
}

// White or black, whichever is more readable.
std::string_view InkOn(std::string_view color) {
  return Luminance(color) > 0.18 ? "#14171a" : "#fff";
}

std::string Variables(Colors named, Colors PaletteColors::*theme) {
  std::string out = ":root{";
  for (size_t i = 0; i < named.size(); ++i) out += fmt::format("--{}:{};", kVariables[i], named[i]);
  for (const PaletteColors& palette : kPalettes) {
    const Colors colors = palette.*theme;
    for (size_t i = 0; i < colors.size(); ++i)
      out += fmt::format("--{0}{1}:{2};--on-{0}{1}:{3};", palette.prefix, i, colors[i],
                         InkOn(colors[i]));
  }
  return out + "}";
}

}  // namespace

std::string HtmlColors() {
  std::string out = Variables(kNamedLight, &PaletteColors::light) +
                    "@media screen and (prefers-color-scheme:dark){" +
                    Variables(kNamedDark, &PaletteColors::dark) + "}";
  for (const PaletteColors& palette : kPalettes) {
    for (size_t i = 0; i < palette.light.size(); ++i) {
      const std::string name = fmt::format("{}{}", palette.prefix, i);
      out += fmt::format(
          ".{0}{{fill:var(--{0});background:var(--{0})}}.on-{0}{{fill:var(--on-{0})}}"
          ".{0}.needle,.{0}.curve{{stroke:var(--{0})}}",
          name);
    }
  }
  return out;
}

}  // namespace tacho
