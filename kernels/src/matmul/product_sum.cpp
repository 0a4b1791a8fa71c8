#include "matmul/product_sum.hpp"

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/detail/ranks/together.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ooc::detail::product {

namespace {

/// Calls `call` with each number of a product that ranks send to each other.
template <class AnyProduct, class Call>
void for_each_number(AnyProduct& product, const Call& call) {
  auto& plan = product.plan;
  for (auto* const number :
       {&plan.tile_rows, &plan.tile_columns, &plan.tile_inner, &plan.passes, &plan.device_bytes,
        &plan.cache_bytes, &plan.link_bytes, &plan.bytes_read, &plan.bytes_written,
        &product.link_bytes, &product.bytes_read, &product.bytes_written}) {
    call(*number);
  }
  call(plan.direct);
  call(plan.flops);
}

std::vector<std::byte> packed(const MatrixProduct& product) {
  std::vector<std::byte> out;
  append_text(out, product.library);
  append_text(out, product.plan.resident);
  for_each_number(product, [&out](const auto& number) { append_bytes(out, number); });
  append_bytes(out, product.plan.multiplying_seconds.value_or(-1));
  return out;
}

MatrixProduct unpacked(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  MatrixProduct product;
  product.library = take_text(in);
  product.plan.resident = take_text(in);
  for_each_number(product, [&in]<class T>(T& number) { number = in.take<T>(); });
  if (const auto seconds = in.take<double>(); seconds >= 0) {
    product.plan.multiplying_seconds = seconds;
  }
  return product;
}

}  // namespace

void add(MatrixProduct& sum, const MatrixProduct& part) {
  MatmulPlan& plan = sum.plan;
  plan.passes = std::max(plan.passes, part.plan.passes);
  plan.device_bytes = std::max(plan.device_bytes, part.plan.device_bytes);
  plan.cache_bytes = std::max(plan.cache_bytes, part.plan.cache_bytes);
  plan.link_bytes += part.plan.link_bytes;
  plan.bytes_read += part.plan.bytes_read;
  plan.bytes_written += part.plan.bytes_written;
  plan.flops += part.plan.flops;
  sum.link_bytes += part.link_bytes;
  sum.bytes_read += part.bytes_read;
  sum.bytes_written += part.bytes_written;
  for (const Reason& reason : part.plan.reasons) {
    if (std::ranges::find(plan.reasons, reason) == plan.reasons.end()) {
      plan.reasons.push_back(reason);
    }
  }
}

MatrixProduct sum_of(std::span<const MatrixProduct> parts) {
  MatrixProduct sum;
  for (const MatrixProduct& part : parts) {
    if (part.library.empty()) continue;
    if (sum.library.empty()) {
      sum = part;
      continue;
    }
    add(sum, part);
    if (sum.plan.multiplying_seconds && part.plan.multiplying_seconds) {
      sum.plan.multiplying_seconds =
          std::max(*sum.plan.multiplying_seconds, *part.plan.multiplying_seconds);
    }
  }
  return sum;
}

MatrixProduct sum_of_ranks(Ranks* ranks, const MatrixProduct& part) {
  if (ranks == nullptr) return part;
  std::vector<MatrixProduct> parts;
  for (const auto& bytes : exchange(ranks, packed(part))) parts.push_back(unpacked(bytes));
  MatrixProduct sum = sum_of(parts);
  sum.plan.reasons = part.plan.reasons;
  sum.plan.page_cache_fraction = part.plan.page_cache_fraction;
  return sum;
}

}  // namespace ooc::detail::product
