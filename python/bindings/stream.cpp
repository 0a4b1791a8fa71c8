#include <atomic>
#include <ooc/error.hpp>
#include <stdexcept>
#include <utility>

#include "loop.hpp"
#include "run.hpp"
#include "watched.hpp"

namespace ooc_python {
namespace {

/// A loop over chunks: the `_ooc.Stream` of Python, which one thread at a time may use.
class Stream {
 public:
  Stream(std::vector<Input> inputs, const Machine& machine, std::size_t rows,
         std::optional<std::uint64_t> shuffle, std::size_t shard, std::size_t shards,
         std::size_t skip, std::shared_ptr<Kept> kept, bool synchronous, nb::object owner) {
    const ooc::ChunksOptions options{
        .rows = rows, .shuffle_seed = shuffle, .shard = shard, .shards = shards, .skip = skip};
    loop_ = without_gil([&] {
      return std::make_shared<Loop>(std::move(inputs), machine, options, std::move(kept),
                                    synchronous);
    });
    loop_->keep(owner_of(std::move(owner)));
  }

  ~Stream() {
    if (!loop_->process().is_this()) {
      new std::shared_ptr(std::move(loop_));
      return;
    }
    try {
      without_gil([&] {
        loop_->close();
        loop_.reset();
      });
    } catch (const ooc::Error&) {  // the interpreter is ending; the member ends with the GIL
    }
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Returns the next chunks, of each source; None at the end.
  nb::object next() {
    const Turn turn(*this);
    while (!without_gil([&] { return loop_->wait(); })) {
      if (PyErr_CheckSignals() == 0) continue;
      without_gil([&] { loop_->close(); });
      nb::raise_python_error();
    }
    const std::shared_ptr<Rows> rows = without_gil([&] { return loop_->next(); });
    return rows ? chunks_of(rows) : nb::none();
  }

  std::optional<std::size_t> size() {
    const Turn turn(*this);
    return without_gil([&] { return loop_->size(); });
  }

  /// Stops the pass. If another thread waits in next(), that ends.
  void close() {
    if (!loop_->process().is_this()) return;
    loop_->stop();
    if (is_used_.test()) return;
    const Turn turn(*this);
    without_gil([&] { loop_->close(); });
  }

  std::optional<RunStats> stats() {
    const Turn turn(*this);
    if (!loop_->stats()) return std::nullopt;
    return RunStats{*loop_->stats()};
  }

 private:
  /// The use by one thread.
  class Turn {
   public:
    explicit Turn(Stream& stream) : stream_(stream) {
      stream_.loop_->process().require_this("the stream");
      if (!stream_.is_used_.test_and_set()) return;
      throw std::runtime_error("another thread uses this stream");
    }
    ~Turn() { stream_.is_used_.clear(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Stream& stream_;
  };

  std::shared_ptr<Loop> loop_;
  std::atomic_flag is_used_{};
};

/// Keeps the inputs on the device.
std::shared_ptr<Kept> keep(std::vector<Input> inputs, const Machine& machine, std::uint64_t bytes) {
  return without_gil([&] {
    std::shared_ptr<ooc::Coordinator> coordinator = machine.coordinator();
    const ooc::ResidentOptions options{.device_bytes = bytes};
    ooc::Resident resident = visit_sources(
        inputs, [&](const auto& from) { return ooc::Resident(*coordinator, from, options); });
    return std::make_shared<Kept>(
        Kept{std::move(inputs), std::move(coordinator), std::move(resident)});
  });
}

}  // namespace

void bind_stream(nb::module_& module) {
  module.attr("most_zipped") = most_zipped;
  nb::class_<Kept>(module, "Kept").def_prop_ro("nbytes", [](const Kept& kept) {
    return kept.resident.resident_bytes();
  });
  module.def("keep", keep, nb::arg("inputs"), nb::arg("machine"), nb::arg("nbytes"));
  nb::class_<Stream>(module, "Stream")
      .def(nb::init<std::vector<Input>, const Machine&, std::size_t, std::optional<std::uint64_t>,
                    std::size_t, std::size_t, std::size_t, std::shared_ptr<Kept>, bool,
                    nb::object>(),
           nb::arg("inputs"), nb::arg("machine"), nb::arg("rows"), nb::arg("shuffle").none(),
           nb::arg("shard"), nb::arg("shards"), nb::arg("skip"), nb::arg("kept").none(),
           nb::arg("synchronous"), nb::arg("owner").none())
      .def("next", &Stream::next, nb::sig("def next(self) -> tuple[Chunk, ...] | None"))
      .def("size", &Stream::size)
      .def("stats", &Stream::stats)
      .def("close", &Stream::close);
}

}  // namespace ooc_python
