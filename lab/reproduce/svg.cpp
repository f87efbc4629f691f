// Charts as SVG: a title, a key, panels on a grid, a note.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/reproduce/chart.hpp"
#include "lab/reproduce/scale.hpp"

namespace tamis::lab {
namespace {

constexpr double width = 960;
constexpr double letter = 6.3;  // mean width of a letter at 12 pixels
constexpr double left = 62;     // of a panel: tick labels and, in the first column, the name of the axis
constexpr double gap = 14;      // right of a panel
constexpr double above = 22;    // its title
constexpr double below = 26;    // its tick labels, if they are level
constexpr double key_line = 20;

constexpr std::string_view style = R"(<style>
.tamis { --paper: #fcfcfa; --ink: #1d2327; --soft: #5c666d; --line: #dfe3e6; font: 12px system-ui, sans-serif; background: var(--paper); }
@media (prefers-color-scheme: dark) { .tamis { --paper: #14181b; --ink: #e8ecee; --soft: #9aa5ac; --line: #30383e; } }
.tamis text { fill: var(--soft); } .tamis .title { fill: var(--ink); font-weight: 600; } .tamis .head { font-size: 15px; }
.tamis .grid { stroke: var(--line); } .tamis .frame { fill: none; stroke: var(--soft); stroke-opacity: .5; }
.tamis .curve { fill: none; stroke-width: 1.75; stroke-linejoin: round; } .tamis .model { stroke-dasharray: 5 4; stroke-width: 1.5; }
.tamis .bar { stroke-width: 1.2; } .tamis .hollow { fill: var(--paper); stroke-width: 1.5; }
</style>)";

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return safe;
}

double text_width(std::string_view text) {
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; });
  return letter * static_cast<double>(letters);
}

// One shape for each line of the key, so that lines can be told apart without their colours.
std::string shape(std::size_t which, double x, double y, const std::string& colour, bool hollow) {
  const std::string paint = hollow ? fmt::format(R"(class="hollow" stroke="{}")", colour) : fmt::format(R"(fill="{}")", colour);
  switch (which % 5) {
    case 0: return fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3.1" {}/>)", x, y, paint);
    case 1: return fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="5.6" height="5.6" {}/>)", x - 2.8, y - 2.8, paint);
    case 2: return fmt::format(R"(<path d="M{:.1f} {:.1f}l3.7 6.2h-7.4z" {}/>)", x, y - 3.9, paint);
    case 3: return fmt::format(R"(<path d="M{:.1f} {:.1f}l3.7 -6.2h-7.4z" {}/>)", x, y + 3.9, paint);
    default: return fmt::format(R"(<path d="M{:.1f} {:.1f}l3.8 3.8l-3.8 3.8l-3.8 -3.8z" {}/>)", x, y - 3.8, paint);
  }
}
constexpr std::size_t paper_shape = 4;

class picture {
 public:
  explicit picture(const chart& c) : chart_(c), x_(c.x, values(true)), y_(c.y, values(false)) {
    for (const panel& p : c.panels) {
      for (const line& l : p.lines) {
        const auto same = [&l](const line* known) { return known->label == l.label; };
        if (std::none_of(keys_.begin(), keys_.end(), same)) keys_.push_back(&l);
      }
    }
    const std::size_t count = c.panels.size();
    columns_ = count <= 3 ? std::max<std::size_t>(count, 1) : count == 4 ? 2 : 3;
    panel_width_ = width / static_cast<double>(columns_);
    plot_width_ = panel_width_ - left - gap;
    plot_height_ = count == 1 ? 360 : columns_ == 2 ? 260 : 190;
    double names = 0;
    double longest = 0;
    for (const std::string& name : c.x.names) {
      names += text_width(name) + 8;
      longest = std::max(longest, text_width(name));
    }
    slanted_ = names > plot_width_;
    below_ = slanted_ ? 18 + 0.82 * longest : below;
  }

  std::string draw() {
    double top = 24;
    std::string body = key(top);
    const std::size_t rows = (chart_.panels.size() + columns_ - 1) / columns_;
    for (std::size_t i = 0; i < chart_.panels.size(); ++i) {
      const double x = left + panel_width_ * static_cast<double>(i % columns_);
      const double y = top + above + (plot_height_ + above + below_) * static_cast<double>(i / columns_);
      const bool last = i + columns_ >= chart_.panels.size();
      body += draw_panel(chart_.panels[i], x, y, i % columns_ == 0, last);
    }
    double height = top + (plot_height_ + above + below_) * static_cast<double>(rows) + 20;
    if (!chart_.note.empty()) {
      body += fmt::format(R"(<text x="{}" y="{:.0f}">{}</text>)", 8, height + 6, escaped(chart_.note));
      height += 18;
    }
    return fmt::format(
        R"(<svg class="tamis" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {:.0f} {:.0f}" width="{:.0f}" role="img" aria-label="{}">{})"
        R"(<text class="title head" x="8" y="18">{}</text>{}</svg>)"
        "\n",
        width, height, width, escaped(chart_.title), style, escaped(chart_.title), body);
  }

 private:
  std::vector<double> values(bool x) const {
    std::vector<double> all;
    for (const panel& p : chart_.panels) {
      for (const line& l : p.lines) {
        for (const point& at : l.points) all.push_back(x ? at.x * chart_.x.factor : at.y * chart_.y.factor);
      }
    }
    return all;
  }

  std::size_t shape_of(const line& l) const {
    if (l.as == mark::paper) return paper_shape;
    const auto same = [&l](const line* known) { return known->label == l.label; };
    return static_cast<std::size_t>(std::find_if(keys_.begin(), keys_.end(), same) - keys_.begin()) % 4;
  }

  // The names of the lines, as many to a row as fit.
  std::string key(double& top) const {
    std::string text;
    double x = 8;
    double y = top + 16;
    for (const line* l : keys_) {
      const double needs = 30 + text_width(l->label) + 18;
      if (x + needs > width && x > 8) {
        x = 8;
        y += key_line;
      }
      const std::string colour = colour_of(l->colour);
      if (l->as == mark::line || l->as == mark::dashed) {
        text += fmt::format(R"(<path class="curve{}" d="M{:.1f} {:.1f}h24" stroke="{}"/>)",
                            l->as == mark::dashed ? " model" : "", x, y, colour);
      }
      if (l->as != mark::dashed) text += shape(shape_of(*l), x + 12, y, colour, l->as == mark::paper);
      text += fmt::format(R"(<text x="{:.1f}" y="{:.1f}">{}</text>)", x + 30, y + 4, escaped(l->label));
      x += needs;
    }
    top = y + 14;
    return text;
  }

  std::string draw_panel(const panel& p, double x, double y, bool first, bool last) const {
    std::string text = fmt::format(R"(<text class="title" x="{:.1f}" y="{:.1f}">{}</text>)", x, y - 7, escaped(p.title));
    for (const tick& t : y_.ticks()) {
      const double at = y + plot_height_ * (1 - t.place);
      text += fmt::format(R"(<path class="grid" d="M{:.1f} {:.1f}h{:.1f}"/>)", x, at, plot_width_);
      text += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", x - 6, at + 4, escaped(t.label));
    }
    double free_from = -1e9;  // labels that would cover the one before are left out
    for (const tick& t : x_.ticks()) {
      const double at = x + plot_width_ * t.place;
      text += fmt::format(R"(<path class="grid" d="M{:.1f} {:.1f}v{:.1f}"/>)", at, y, plot_height_);
      if (slanted_) {
        text += fmt::format(R"svg(<text transform="translate({:.1f} {:.1f}) rotate(-55)" text-anchor="end">{}</text>)svg",
                            at + 4, y + plot_height_ + 12, escaped(t.label));
        continue;
      }
      const double half = text_width(t.label) / 2 + 2;
      if (at - half < free_from) continue;
      free_from = at + half;
      text += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", at, y + plot_height_ + 15,
                          escaped(t.label));
    }
    text += fmt::format(R"(<rect class="frame" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)", x, y, plot_width_,
                        plot_height_);
    // What is named first lies on top.
    for (auto l = p.lines.rbegin(); l != p.lines.rend(); ++l) text += draw_line(*l, x, y);
    if (first) {
      text += fmt::format(R"svg(<text transform="translate({:.1f} {:.1f}) rotate(-90)" text-anchor="middle">{}</text>)svg",
                          13.0, y + plot_height_ / 2, escaped(chart_.y.label));
    }
    if (last) {
      text += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", x + plot_width_ / 2,
                          y + plot_height_ + below_ + 6, escaped(chart_.x.label));
    }
    return text;
  }

  std::string draw_line(const line& l, double x, double y) const {
    const std::string colour = colour_of(l.colour);
    std::string curve;
    std::string marks;
    for (const point& p : l.points) {
      if (!std::isfinite(p.x) || !std::isfinite(p.y)) continue;
      const double at_x = x + plot_width_ * x_.place(p.x * chart_.x.factor);
      const auto height_of = [&](double value) {
        return y + plot_height_ * (1 - std::min(1.0, y_.place(value * chart_.y.factor)));
      };
      const double at_y = height_of(p.y);
      curve += fmt::format("{}{:.1f} {:.1f}", curve.empty() ? "M" : "L", at_x, at_y);
      if (p.error > 0) {
        const double high = height_of(p.y + p.error);
        const double low = height_of(p.y - p.error);
        if (low - high > 3) {
          marks += fmt::format(R"(<path class="bar" d="M{0:.1f} {1:.1f}h6m-3 0V{2:.1f}m-3 0h6" stroke="{3}" fill="none"/>)",
                               at_x - 3, high, low, colour);
        }
      }
      const bool hollow = l.as == mark::paper || !y_.shows(p.y);
      if (l.as != mark::dashed && (l.as == mark::dots || l.points.size() < 60))
        marks += shape(shape_of(l), at_x, at_y, colour, hollow);
    }
    if (l.as == mark::dots || l.as == mark::paper || curve.empty()) return marks;
    return fmt::format(R"(<path class="curve{}" d="{}" stroke="{}"/>)", l.as == mark::dashed ? " model" : "", curve, colour) +
           marks;
  }

  const chart& chart_;
  axis_scale x_;
  axis_scale y_;
  std::vector<const line*> keys_;
  std::size_t columns_ = 1;
  double panel_width_ = 0;
  double plot_width_ = 0;
  double plot_height_ = 0;
  bool slanted_ = false;  // names of x that would not fit side by side
  double below_ = below;
};

}  // namespace

std::vector<point> points_of(const row_list& rows, std::string_view x, std::string_view column) {
  std::vector<point> points;
  for (const table::row& r : rows) points.push_back({r.number(x), r.value(column), r.error(column)});
  return points;
}

std::string svg(const chart& c) { return picture(c).draw(); }

}  // namespace tamis::lab
