#include "html.hpp"

namespace tamis::cli {
namespace {

constexpr std::string_view shared_style = R"(
:root { color-scheme: light dark; --paper: #fcfcfa; --ink: #1d2327; --soft: #5c666d; --line: #dfe3e6;
        --bad: #c8374b; --good: #0b7285; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181b; --ink: #e8ecee; --soft: #9aa5ac; --line: #30383e; --bad: #f0707f; --good: #53c7d9; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 3rem; max-width: 68rem; background: var(--paper); color: var(--ink);
       font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .75rem; }
h2 { font-size: 1.1rem; margin: 2.25rem 0 .25rem; }
p { margin: .5rem 0; max-width: 48rem; }
.soft, figcaption { color: var(--soft); font-size: .875rem; }
figure { margin: 0; }
figcaption { margin-bottom: .75rem; }
svg { display: block; width: 100%; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { text-align: right; padding: .3rem .75rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
th { font-weight: 600; color: var(--soft); vertical-align: bottom; }
)";

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::string page_start(std::string_view title, std::string_view heading, std::string_view more_style) {
  std::string page = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>";
  page += escaped(title);
  page += "</title>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>";
  page += shared_style;
  page += more_style;
  page += "</style></head><body>\n<h1>";
  page += escaped(heading);
  return page + "</h1>\n";
}

}  // namespace tamis::cli
