#pragma once

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/stats.hpp>

#include <cstddef>
#include <vector>

namespace ooc::detail {

/// Write and read the share of a rank in a message.
void save_share(std::vector<std::byte>& out, const RankShare& share);
RankShare take_share(ByteReader& in);

/// Sets the time that each rank was idle at the end, when all shares are there, and sorts them.
void complete(std::vector<RankShare>& shares);

}  // namespace ooc::detail
