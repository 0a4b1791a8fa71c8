#pragma once

#include <ooc/device.hpp>
#include <ooc/io/source.hpp>
#include <ooc/operation.hpp>
#include <ooc/options.hpp>
#include <ooc/pass_options.hpp>
#include <ooc/stats.hpp>

#include <cstddef>

namespace ooc {

/// What Coordinator::run() would say of a pass, as far as that is known before: the ways of reading
/// and writing, sizes, and reasons. `device_bytes` are those of the streams' buffers, to which
/// operators add. Reads no data, writes none (a file that is tried out will do for `output`), and
/// starts no device. Throws what the pass would throw for its options.
Stats dry_run_pass(const Options& options, DeviceKind device, const Source& source,
                   std::size_t element_bytes, const Output* output = nullptr,
                   const PassOptions& wanted = {});

}  // namespace ooc
