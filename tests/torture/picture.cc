// What the torture has measured after each phase, as a picture: memory, threads and open files by
// time, a colour for each number of Ps.

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>

#include "torture.h"

namespace torture {
namespace {

constexpr double kLeft = 60, kWidth = 720, kTop = 70, kHeight = 110, kGap = 36;
constexpr std::array kColours = {"#1594c4", "#e0762b", "#8250df", "#2da44e", "#8a8f98"};

constexpr const char* kHead =
    R"(<svg xmlns="http://www.w3.org/2000/svg" width="800" height="530" viewBox="0 0 800 530" role="img">
<title>What is left after each phase of the torture</title>
<style>
text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 12px; fill: #1f2328 }
.ground { fill: #ffffff } .faint { fill: #59636e; font-size: 11px } .title { font-size: 15px; font-weight: 600 }
.axis { stroke: #59636e } .end { text-anchor: end }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .ground { fill: #0d1117 } .faint { fill: #9198a1 } .axis { stroke: #9198a1 } }
</style>
<rect class="ground" width="100%" height="100%"/>
<text x="16" y="26" class="title">Left after each phase of the torture</text>
)";

struct panel {
  const char* title;
  double (*value)(const sample&);
};
constexpr std::array<panel, 3> kPanels = {{
    {"resident memory, MiB",
     [](const sample& s) { return static_cast<double>(s.resident_kb) / 1024; }},
    {"threads", [](const sample& s) { return static_cast<double>(s.threads); }},
    {"open files", [](const sample& s) { return static_cast<double>(s.files); }},
}};

std::vector<int> kinds_of(const std::vector<sample>& all) {
  std::vector<int> kinds;
  for (const sample& s : all) kinds.push_back(s.procs);
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  return kinds;
}

const char* colour_of(const std::vector<int>& kinds, int procs) {
  const auto at = std::find(kinds.begin(), kinds.end(), procs) - kinds.begin();
  return kColours[static_cast<std::size_t>(at) % kColours.size()];
}

void draw_panel(std::FILE* f, const panel& p, double top, const std::vector<sample>& all) {
  const std::vector<int> kinds = kinds_of(all);
  double most = 1;
  for (const sample& s : all) most = std::max(most, p.value(s));
  most *= 1.2;  // from zero: what grows is seen to grow
  const double end = all.back().seconds;
  const double bottom = top + kHeight;
  std::fprintf(f, "<text x=\"%g\" y=\"%g\">%s</text>\n", kLeft, top - 6, p.title);
  std::fprintf(f, "<path d=\"M%g %gV%gH%g\" fill=\"none\" class=\"axis\"/>\n", kLeft, top, bottom,
               kLeft + kWidth);
  const double highest = most / 1.2;
  const double y = bottom - highest / most * kHeight;
  std::fprintf(f, "<text x=\"%g\" y=\"%g\" class=\"faint end\">%.*f</text>\n", kLeft - 6, y + 4,
               highest < 10 ? 0 : 1, highest);
  std::fprintf(f, "<text x=\"%g\" y=\"%g\" class=\"faint end\">0</text>\n", kLeft - 6, bottom + 4);
  for (const sample& s : all)
    std::fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.7\" fill=\"%s\"/>\n",
                 kLeft + s.seconds / end * kWidth, bottom - p.value(s) / most * kHeight,
                 colour_of(kinds, s.procs));
}

}  // namespace

bool draw(const char* path, std::uint64_t seed, const std::vector<sample>& all) {
  if (all.empty()) return false;
  std::FILE* const f = std::fopen(path, "w");
  if (f == nullptr) return false;
  std::fputs(kHead, f);
  std::fprintf(f,
               "<text x=\"16\" y=\"44\" class=\"faint\">%zu phases in %.0f minutes, seed %" PRIu64,
               all.size(), all.back().seconds / 60, seed);
  std::fputs("; in colours, the number of Ps:</text>\n", f);
  double x = 480;
  for (const int procs : kinds_of(all)) {
    std::fprintf(
        f, "<circle cx=\"%g\" cy=\"40\" r=\"4\" fill=\"%s\"/><text x=\"%g\" y=\"44\">%d</text>\n",
        x, colour_of(kinds_of(all), procs), x + 8, procs);
    x += 44;
  }
  double top = kTop;
  for (const panel& p : kPanels) {
    draw_panel(f, p, top, all);
    top += kHeight + kGap;
  }
  std::fprintf(f, "<text x=\"%g\" y=\"%g\" class=\"faint end\">%.0f minutes</text>\n</svg>\n",
               kLeft + kWidth, top - kGap + 16, all.back().seconds / 60);
  return std::fclose(f) == 0;
}

}  // namespace torture
