#pragma once

#include <ooc/device.hpp>
#include <ooc/io/api.hpp>
#include <ooc/io/source.hpp>
#include <ooc/operation.hpp>
#include <ooc/options.hpp>
#include <ooc/pass_input.hpp>
#include <ooc/pass_options.hpp>
#include <ooc/stats.hpp>

#include <span>

namespace ooc {

/// Predicts the Stats of a pass: how it reads and writes, its sizes, and the reasons for choices.
/// They are those of an operation on one source with partitions of 65,536 records and no margin, as
/// the built-in ones have.
/// Times are not set. `LayoutStats::device_bytes` counts the buffers of the streams, without what
/// operators allocate. Reads and writes no data and starts no device; the files of `outputs` may be
/// opened with Purpose::dry_run. Throws the Error that Coordinator::run() would throw for these
/// options.
OOC_API Stats dry_run_pass(const Options& options, DeviceKind device, const Source& source,
                           RecordShape record, std::span<const Output> outputs = {},
                           const PassOptions& wanted = {});

}  // namespace ooc
