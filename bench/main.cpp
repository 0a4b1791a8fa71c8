// ooc-bench prints the rates of single stages as JSON. bench/README.md explains how to combine
// them.

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <boost/program_options.hpp>

#include <exception>
#include <iostream>
#include <string>
#include <utility>

#include "bench.hpp"

namespace ooc::detail::bench {

nlohmann::ordered_json spread(std::vector<double> figures) {
  return measure::describe(measure::spread_of(std::move(figures)));
}

namespace {

namespace po = boost::program_options;

/// The arguments of the command line.
struct Words {
  std::string what;
  std::size_t mib = 512;
  std::size_t buffers = 0;
  PassOptions pass{};
  bool copying = false;
  std::string to = "f2";
  std::uint64_t length = 8192;
  std::string compute = "f32";
  std::uint64_t piece_kib = 1024;

  po::options_description options() {
    po::options_description all(
        "ooc-bench disk FILE | link | null | file FILE | read FILE | write FILE | convert | gemm | "
        "decode");
    ooc::Options& coordinator = pass.coordinator;
    auto add = all.add_options();
    add("help", "");
    add("what", po::value(&what));
    add("file", po::value(&pass.file));
    add("mib", po::value(&mib)->default_value(mib), "bytes of a run, in MiB (null, write, decode)");
    add("runs", po::value(&pass.runs)->default_value(5), "repetitions; medians are reported");
    add("cuda", po::bool_switch(&pass.cuda), "on the GPU");
    add("copying", po::bool_switch(&copying), "while other memory is copied to the device (read)");
    add("to", po::value(&to), "(convert)");
    add("n", po::value(&length), "rows and columns (gemm)");
    add("compute", po::value(&compute), "f32, tf32, bf16 or f64 (gemm)");
    add("piece", po::value(&piece_kib)->default_value(piece_kib), "KiB of a frame (decode)");
    add("operation", po::value(&pass.operation), "histogram or reduce (null, file, decode)");
    add("dtype", po::value(&pass.dtype), "(null, file, convert)");
    add("chunk", po::value(&coordinator.chunk_bytes), "bytes (null, file)");
    add("pieces", po::value(&pass.pieces)->default_value(1),
        "read the file as that many, groups of 64 of which are stored backwards (file)");
    add("delay", po::value(&pass.delay_milliseconds), "milliseconds a read takes (null)");
    add("streams", po::value(&coordinator.streams), "(null, file)");
    add("threads", po::value(&coordinator.threads), "(null, file)");
    add("block", po::value(&coordinator.block_bytes), "bytes of one read (disk, file)");
    add("depth", po::value(&coordinator.queue_depth), "reads in flight (disk, file)");
    add("buffers", po::value(&buffers), "blocks that reads go to in turn (disk)");
    return all;
  }
};

/// Returns the figures; null if the arguments request none.
nlohmann::ordered_json measure_what(Words& words) {
  const std::string& what = words.what;
  PassOptions& pass_options = words.pass;
  const int runs = pass_options.runs;
  const bool has_file = !pass_options.file.empty();
  if (what == "disk" && has_file) {
    const ooc::Options& given = pass_options.coordinator;
    return disk_sweep(pass_options.file, {given.block_bytes, given.queue_depth, words.buffers},
                      runs);
  }
  if (what == "read" && has_file) {
    return read_alone(pass_options.file, pass_options.cuda, words.copying, runs);
  }
  if (what == "write" && has_file) {
    return write_alone(pass_options.file, words.mib * MiB, pass_options.cuda, runs);
  }
  if (what == "convert") {
    return convert_alone(pass_options.dtype, words.to, pass_options.cuda, runs);
  }
  if (what == "gemm") return gemm_in_core(words.length, words.compute, pass_options.cuda, runs);
  if (what == "link") return link(pass_options.cuda, runs);
  if (what == "decode") return decode(words.mib * MiB, words.piece_kib * KiB, pass_options);
  if (what == "null" && !has_file) pass_options.bytes = words.mib * MiB;
  if ((what == "file" && has_file) || (what == "null" && !has_file)) return pass(pass_options);
  return nullptr;
}

int run(int argc, char** argv) {
  Words words;
  const po::options_description options = words.options();
  po::positional_options_description places;
  places.add("what", 1).add("file", 1);
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(options).positional(places).run(), values);
  po::notify(values);
  const nlohmann::ordered_json result = measure_what(words);
  if (result.is_null()) {
    std::cerr << options;
    return 2;
  }
  std::cout << result.dump(2) << '\n';
  return 0;
}

}  // namespace
}  // namespace ooc::detail::bench

int main(int argc, char** argv) {
  try {
    return ooc::detail::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "ooc-bench: error: " << error.what() << '\n';
    return 1;
  }
}
