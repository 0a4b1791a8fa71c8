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

namespace ooc::bench {

nlohmann::ordered_json spread(std::vector<double> figures) {
  return measure::describe(measure::spread_of(std::move(figures)));
}

namespace {

namespace po = boost::program_options;

int run(int argc, char** argv) {
  std::string what;
  std::size_t mib = 512;
  std::size_t buffers = 0;
  PassOptions pass_options;
  ooc::Options& coordinator = pass_options.coordinator;
  int runs = 5;
  bool copying = false;
  std::string to = "f2";
  std::uint64_t length = 8192;
  std::string compute = "f32";
  po::options_description options(
      "ooc-bench disk FILE | link | null | file FILE | read FILE | write FILE | convert | gemm");
  auto add = options.add_options();
  add("help", "");
  add("what", po::value(&what));
  add("file", po::value(&pass_options.file));
  add("mib", po::value(&mib)->default_value(mib), "bytes of a run, in MiB (null, write)");
  add("runs", po::value(&runs)->default_value(runs), "repetitions; medians are reported");
  add("cuda", po::bool_switch(&pass_options.cuda), "on the GPU");
  add("copying", po::bool_switch(&copying), "while other memory is copied to the device (read)");
  add("to", po::value(&to), "(convert)");
  add("n", po::value(&length), "rows and columns (gemm)");
  add("compute", po::value(&compute), "f32, tf32, bf16 or f64 (gemm)");
  add("operation", po::value(&pass_options.operation), "histogram or reduce (null, file)");
  add("dtype", po::value(&pass_options.dtype), "(null, file, convert)");
  add("chunk", po::value(&coordinator.chunk_bytes), "bytes (null, file)");
  add("delay", po::value(&pass_options.delay_milliseconds), "milliseconds a read takes (null)");
  add("streams", po::value(&coordinator.streams), "(null, file)");
  add("threads", po::value(&coordinator.threads), "(null, file)");
  add("block", po::value(&coordinator.block_bytes), "bytes of one read (disk, file)");
  add("depth", po::value(&coordinator.queue_depth), "reads in flight (disk, file)");
  add("buffers", po::value(&buffers), "blocks that reads go to in turn (disk)");
  po::positional_options_description places;
  places.add("what", 1).add("file", 1);
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(options).positional(places).run(), values);
  po::notify(values);

  nlohmann::ordered_json result;
  pass_options.runs = runs;
  if (what == "disk" && !pass_options.file.empty()) {
    result = disk_sweep(pass_options.file,
                        {coordinator.block_bytes, coordinator.queue_depth, buffers}, runs);
  } else if (what == "read" && !pass_options.file.empty()) {
    result = read_alone(pass_options.file, pass_options.cuda, copying, runs);
  } else if (what == "write" && !pass_options.file.empty()) {
    result = write_alone(pass_options.file, mib * MiB, pass_options.cuda, runs);
  } else if (what == "convert") {
    result = convert_alone(pass_options.dtype, to, pass_options.cuda, runs);
  } else if (what == "gemm") {
    result = gemm_in_core(length, compute, pass_options.cuda, runs);
  } else if (what == "link") {
    result = link(pass_options.cuda, runs);
  } else if (what == "file" && !pass_options.file.empty()) {
    result = pass(pass_options);
  } else if (what == "null" && pass_options.file.empty()) {
    pass_options.bytes = mib * MiB;
    result = pass(pass_options);
  } else {
    std::cerr << options;
    return 2;
  }
  std::cout << result.dump(2) << '\n';
  return 0;
}

}  // namespace
}  // namespace ooc::bench

int main(int argc, char** argv) {
  try {
    return ooc::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "ooc-bench: error: " << error.what() << '\n';
    return 1;
  }
}
