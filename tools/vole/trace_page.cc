// The page and the trace are put together here; see trace_page.h.
#include "trace_page.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "gzip.h"
#include "refusal.h"

namespace vole_command {
namespace {

constexpr char kMark[] = "<!--TRACE-->";

std::string slurp(const std::string& path) {
  struct stat about = {};
  if (stat(path.c_str(), &about) != 0) {
    throw refusal(path + ": " + std::generic_category().message(errno));
  }
  if (!S_ISREG(about.st_mode)) throw refusal(path + " is not a file");
  std::ifstream in(path, std::ios::binary);
  std::string bytes(static_cast<size_t>(about.st_size), '\0');
  if (!in.read(bytes.data(), about.st_size)) throw refusal(path + " cannot be read");
  return bytes;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '&' || c == '<' || c == '>' || c == '"' || code < ' ') {
      out += "&#" + std::to_string(code) + ";";
    } else {
      out += c;
    }
  }
  return out;
}

std::string base64(const std::string& in) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((in.size() + 2) / 3 * 4);
  for (size_t i = 0; i < in.size(); i += 3) {
    const size_t left = in.size() - i;
    const auto at = [&](size_t k) -> unsigned {
      return k < left ? static_cast<unsigned char>(in[i + k]) : 0;
    };
    const unsigned bits = at(0) << 16 | at(1) << 8 | at(2);
    out += kDigits[bits >> 18];
    out += kDigits[bits >> 12 & 63];
    out += left > 1 ? kDigits[bits >> 6 & 63] : '=';
    out += left > 2 ? kDigits[bits & 63] : '=';
  }
  return out;
}

std::string inserted(const std::string& page, const std::string& attributes,
                     const std::string& content) {
  const size_t at = page.find(kMark);
  if (at == std::string::npos) throw refusal("the viewer's page has no place for a trace");
  return page.substr(0, at) + "<script type=\"text/plain\" id=\"trace\" " + attributes + ">" +
         content + "</script>" + page.substr(at + sizeof kMark - 1);
}

}  // namespace

std::string base_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string read_trace(const std::string& path) {
  std::string bytes = slurp(path);
  if (bytes.compare(0, 8, "VOLERNG\n") == 0) {
    throw refusal(path + " is a flight recorder's ring; `vole trace recover` makes a trace of it");
  }
  if (bytes.compare(0, 8, "VOLETRC\n") != 0) throw refusal(path + " is not a vole trace");
  if (bytes.size() > size_t{2} << 30) throw refusal(path + " is too large: more than 2 GiB");
  return bytes;
}

std::string read_page() {
  if (const char* const own = std::getenv("VOLE_VIEWER")) return slurp(own);
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  const auto page = self.parent_path().parent_path() / "share/vole/viewer.html";
  if (failed || !std::filesystem::exists(page, failed)) {
    throw refusal("not in this vole: the viewer was not built (it needs Node and npm)");
  }
  return slurp(page.string());
}

std::string page_that_fetches(const std::string& page, const std::string& name,
                              const std::string& at) {
  return inserted(page, "data-name=\"" + escaped(name) + "\" data-at=\"" + at + "\"", "");
}

std::string page_with(const std::string& page, const std::string& name, const std::string& trace) {
  const std::string small = gzipped(trace);
  const std::string encoding = small.empty() ? "" : " data-encoding=\"gzip\"";
  return inserted(page, "data-name=\"" + escaped(name) + "\"" + encoding,
                  base64(small.empty() ? trace : small));
}

}  // namespace vole_command
