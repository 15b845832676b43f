// See file.h.
#include "trace/file.h"

#include <algorithm>

namespace vole_trace {
namespace {

bool starts_with(bytes content, std::string_view word) {
  return content.size() >= word.size() &&
         std::equal(word.begin(), word.end(), content.begin(),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

void check_file_header(bytes content) {
  if (content.empty()) throw damaged("The file is empty.");
  if (starts_with(content, "VOLERNG\n")) {
    throw damaged("This is a flight recorder's ring; `vole trace recover` makes a trace of it.");
  }
  if (!starts_with(content, "VOLETRC\n")) throw damaged("This is not a vole trace.");
  if (content.size() < kFileHeader) throw damaged("The file ends within its header.");
  const auto major = little_endian<std::uint16_t>(content.data() + 8);
  if (major != 1) {
    throw damaged("The trace has format version " + std::to_string(major) +
                  "; this vole reads version 1.");
  }
}

std::vector<frame> read_frames(cursor& c) {
  std::vector<frame> frames;
  for (std::uint64_t k = c.varint(); k > 0; --k) {
    frame f;
    f.function = c.string();
    f.file = c.string();
    f.line = c.varint();
    frames.push_back(f);
  }
  return frames;
}

void read_names(trace_file& file, std::uint16_t kind, cursor c) {
  for (std::uint64_t n = c.varint(); n > 0; --n) {
    if (kind == kReasons) {
      file.reasons.push_back(c.string());
    } else if (kind == kModules) {
      module_info m;
      m.path = c.string();
      m.bias = c.varint();
      m.from = c.varint();
      m.to = c.varint();
      m.build_id = c.string();
      file.modules.push_back(m);
    } else {
      const std::uint64_t pc = c.varint();
      file.symbols[pc] = read_frames(c);
    }
  }
  if (!c.done()) throw damaged("there is more in it than it says");
}

void blame(std::string& trouble, std::string why) {
  if (trouble.empty()) trouble = std::move(why);
}

// A chunk of a generation. What is wrong with it is wrong with the generation.
void read_part(const trace_file& file, generation& g, const chunk& c) {
  const cursor content(file.content.data(), c.payload);
  if (c.thread != 0 && c.kind != kEvents) {
    throw damaged("the chunk at byte " + std::to_string(c.at) + " is of a thread, but not events");
  }
  if (c.kind == kBegin) {
    if (g.begin) throw damaged("it begins twice");
    g.begin = read_begin(content);
  } else if (c.kind == kEnd) {
    if (g.end) throw damaged("it ends twice");
    g.end = read_end(content);
  } else if (c.kind == kListing) {
    if (c.number != g.listings.size()) throw damaged("a part of its listing is missing");
    g.listings.push_back(c);
  } else {
    g.threads[c.thread].push_back(c);
  }
}

void read_chunk(trace_file& file, std::map<std::uint32_t, generation>& found, const chunk& c) {
  if (c.kind < kBegin || c.kind > kReasons) return;
  const bool wrong = crc32(c.payload) != c.checksum;
  const std::string where = "the chunk at byte " + std::to_string(c.at);
  if (c.kind >= kModules) {
    try {
      if (wrong) throw damaged("its checksum is wrong");
      read_names(file, c.kind, cursor(file.content.data(), c.payload));
    } catch (const damaged& why) {
      file.problems.push_back("Names are missing: " + where + " is damaged: " + why.what() + ".");
    }
    return;
  }
  if (c.generation == 0) {
    file.problems.push_back("What " + where + " holds belongs to no generation.");
    return;
  }
  generation& g = found[c.generation];
  g.number = c.generation;
  try {
    if (wrong) throw damaged(where + " has a wrong checksum");
    read_part(file, g, c);
  } catch (const damaged& why) {
    blame(g.trouble, why.what());
  }
}

std::string missing_chunk(std::uint32_t thread, std::size_t number) {
  return "chunk " + std::to_string(number) + " of thread " + std::to_string(thread) + " is missing";
}

// Is all there that `end` promises? Otherwise why not.
std::string incomplete(const generation& g) {
  if (!g.trouble.empty()) return g.trouble;
  if (!g.begin) return "its begin is missing";
  if (!g.end && !g.partial) return "its end is missing";
  if (g.end && g.end->lost != 0) return std::to_string(g.end->lost) + " events were lost";
  for (const auto& [thread, chunks] : g.threads) {
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (chunks[i].number != i) return missing_chunk(thread, i);
      if (chunks[i].before != before) {
        return "thread " + std::to_string(thread) + " has " + std::to_string(before) +
               " events before its chunk " + std::to_string(i) + ", which says " +
               std::to_string(chunks[i].before);
      }
      before += chunks[i].events;
    }
    if (!g.end) continue;
    const auto said = g.end->threads.find(thread);
    const auto [events, number] =
        said == g.end->threads.end() ? std::pair<std::uint64_t, std::uint64_t>() : said->second;
    if (events != before || number != chunks.size()) {
      return "thread " + std::to_string(thread) + " has " + std::to_string(before) + " events in " +
             std::to_string(chunks.size()) + " chunks, its end says " + std::to_string(events) +
             " in " + std::to_string(number);
    }
  }
  if (!g.end) return "";
  for (const auto& [thread, said] : g.end->threads) {
    if (thread > 0xffffffffU || !g.threads.contains(static_cast<std::uint32_t>(thread))) {
      return "the events of thread " + std::to_string(thread) + " are missing";
    }
  }
  return "";
}

void finish(trace_file& file, std::map<std::uint32_t, generation>& found) {
  for (auto& [number, g] : found) file.generations.push_back(std::move(g));
  for (generation& g : file.generations) {
    g.partial = (file.flags & kUnfinished) != 0 && !g.end && &g == &file.generations.back();
    g.trouble = incomplete(g);
  }
  if (file.generations.empty() && file.problems.empty()) {
    file.problems.push_back("The trace has no events.");
  }
}

}  // namespace

chunk read_header(const std::uint8_t* header, std::uint64_t at) {
  chunk c;
  c.at = at;
  c.size = little_endian<std::uint32_t>(header + 4);
  c.generation = little_endian<std::uint32_t>(header + 8);
  c.thread = little_endian<std::uint32_t>(header + 12);
  c.kind = little_endian<std::uint16_t>(header + 16);
  c.number = little_endian<std::uint32_t>(header + 20);
  c.before = little_endian<std::uint64_t>(header + 24);
  c.ticks = little_endian<std::uint64_t>(header + 32);
  c.events = little_endian<std::uint32_t>(header + 40);
  c.checksum = little_endian<std::uint32_t>(header + 44);
  return c;
}

begin_info read_begin(cursor c) {
  begin_info b{};
  for (std::uint64_t* field : {&b.ticks, &b.mono, &b.wall, &b.per_second, &b.ps, &b.pid}) {
    *field = c.varint();
  }
  return b;
}

end_info read_end(cursor c) {
  end_info e;
  e.ticks = c.varint();
  e.mono = c.varint();
  e.lost = c.varint();
  for (std::uint64_t n = c.varint(); n > 0; --n) {
    const std::uint64_t thread = c.varint(), events = c.varint(), chunks = c.varint();
    if (!e.threads.emplace(thread, std::pair(events, chunks)).second) {
      throw damaged("its end names thread " + std::to_string(thread) + " twice");
    }
  }
  return e;
}

trace_file read_file(bytes content) {
  check_file_header(content);
  trace_file file;
  file.content = content;
  file.flags = little_endian<std::uint32_t>(content.data() + 12);
  std::map<std::uint32_t, generation> found;
  std::size_t at = kFileHeader;
  while (at < content.size()) {
    const std::size_t left = content.size() - at;
    const std::string place = std::to_string(at);
    if (left >= 4 && !starts_with(content.subspan(at), "CHNK")) {
      file.problems.push_back("There is no chunk at byte " + place + "; the rest is left out.");
      break;
    }
    chunk c;
    if (left >= kChunkHeader) c = read_header(content.data() + at, at);
    if (left < kChunkHeader || c.size > left - kChunkHeader) {
      file.problems.push_back("The file is cut off within the chunk at byte " + place + ".");
      break;
    }
    c.payload = content.subspan(at + kChunkHeader, c.size);
    read_chunk(file, found, c);
    at += kChunkHeader + c.size;
  }
  finish(file, found);
  return file;
}

}  // namespace vole_trace
