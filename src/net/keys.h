#pragma once

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/http.h"
#include "net/url.h"

namespace tacho {

// Whether a header of this name (Content-Type, Accept and the like) may be shown. The value of any
// other header may be a key.
bool IsPlainHeader(std::string_view name);

// The headers with keys, and the bearer key if there is one. A client sends them to all servers, or
// only to those that its user named; a server is known by its origin (scheme, host and port).
// Thread-safe.
class Keys {
 public:
  Keys(std::vector<HttpHeader> headers, const std::string& bearer_key, bool to_all);

  // kUsage: a header that cannot be sent. The message holds no value.
  Result<void> Check() const;
  void Name(const Url& url);
  KeyUse UseFor(const Url& url) const;
  // Adds the headers to `headers` if they may go to that server. Never replaces a header.
  void PutInto(const Url& url, std::vector<HttpHeader>& headers) const;
  // Returns `text`, written by others, with "***" in place of each secret: a header's value or a
  // part of it (a word, a cookie's value). Also finds secrets escaped as in JSON or a URL, and the
  // beginning of a secret at the end of the text. Call it before the text is cut. Cost: one pass
  // over the text per secret.
  std::string Hidden(std::string text) const;

 private:
  std::vector<HttpHeader> headers_;
  std::vector<std::string> secrets_;
  const bool to_all_;
  mutable std::mutex mutex_;
  std::set<std::string> origins_;
};

}  // namespace tacho
