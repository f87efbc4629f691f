#include "integrations/c/boundary.hpp"

#include <algorithm>

namespace tamis::c {

int code_of(error_code code) noexcept {
  switch (code) {
    case error_code::invalid_argument: return TAMIS_INVALID;
    case error_code::out_of_range: return TAMIS_RANGE;
    case error_code::not_found: return TAMIS_NOT_FOUND;
    case error_code::damaged: return TAMIS_DAMAGED;
    case error_code::newer_version: return TAMIS_NEWER;
    case error_code::wrong_hash: return TAMIS_HASH;
    case error_code::mismatch: return TAMIS_MISMATCH;
    case error_code::unsupported: return TAMIS_UNSUPPORTED;
    case error_code::full: return TAMIS_FULL;
    case error_code::io: return TAMIS_IO;
    case error_code::no_memory: return TAMIS_MEMORY;
    case error_code::in_use: return TAMIS_IN_USE;
  }
  return TAMIS_INTERNAL;
}

int report(tamis_error* error, int code, std::string_view message) noexcept {
  if (error == nullptr) return code;
  error->code = code;
  std::size_t size = std::min(message.size(), sizeof error->message - 1);
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; };
  while (size > 0 && size < message.size() && continues(message[size])) --size;
  std::memcpy(error->message, message.data(), size);
  error->message[size] = '\0';
  return code;
}

int report_current(tamis_error* error) noexcept {
  try {
    throw;
  } catch (const callback_failed& failed) {
    return report(error, TAMIS_CALLBACK, failed.what());
  } catch (const std::bad_alloc& refused) {
    // memory_refused says how much; the standard's own text says nothing.
    const std::string_view text = refused.what();
    return report(error, TAMIS_MEMORY, text == "std::bad_alloc" ? "out of memory" : text);
  } catch (const result_error& wrong) {
    return report(error, code_of(wrong.code()), wrong.what());
  } catch (const std::length_error&) {
    return report(error, TAMIS_MEMORY, "out of memory");
  } catch (const std::exception& unexpected) {
    return report(error, TAMIS_INTERNAL, unexpected.what());
  } catch (...) {
    return report(error, TAMIS_INTERNAL, "unknown exception");
  }
}

status sent(std::string_view text, tamis_sink sink, void* context) {
  if (sink(context, text.data(), text.size()) < 0) throw callback_failed("the sink failed");
  return {};
}

}  // namespace tamis::c
