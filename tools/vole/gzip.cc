#include "gzip.h"

#ifdef VOLE_HAVE_ZLIB
#include <zlib.h>
#endif

namespace vole_command {

std::string gzipped([[maybe_unused]] const std::string& in) {
  std::string out;
#ifdef VOLE_HAVE_ZLIB
  z_stream z = {};
  constexpr int kGzip = 15 + 16;
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return out;
  }
  out.resize(deflateBound(&z, in.size()));
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  z.avail_in = static_cast<uInt>(in.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  const bool done = deflate(&z, Z_FINISH) == Z_STREAM_END;
  out.resize(done ? z.total_out : 0);
  deflateEnd(&z);
#endif
  return out;
}

}  // namespace vole_command
